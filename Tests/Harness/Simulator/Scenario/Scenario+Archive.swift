import Sync
import TestSupport

/// An archive of a scenario, and the machines that follow it.
struct SharedArchive {
    let store: ArchiveStore
    var members: Set<Int>
}

/// The archives that machines share.
extension Scenario {
    func makeStore(_ index: Int, _ archive: ArchivePlan) -> ArchiveStore {
        counts.note(index == 0 ? FaultKind.archive : .secondArchive)
        let store = ArchiveStore(
            index, scheduler, plan: archive, network: plan.network, limits: plan.limits, start: latestTime,
            seed: index == 0 ? streams.stream(.archives, 4) : streams.stream(.secondArchive, 3))
        store.isDead = { [unowned self] address in machine(at: address)?.isDead ?? false }
        store.isStopping = { [unowned self] address in machine(at: address)?.isStopping ?? false }
        store.note = { [unowned self] kind in counts.note(kind) }
        store.mark = { [unowned self] mark in counts.note(mark) }
        store.trace = { [unowned self] line in
            counts.requests += 1
            note(line)
        }
        store.onPack = { [unowned self] address, bytes in
            attempt {
                trace.append(bytes)
                _ = try publications.note(Scenario.frames(ofPack: bytes), from: origin(at: address))
            }
        }
        return store
    }

    /// The frames of a pack: what is behind its header and before its digest (docs/ARCHIVE.md, "Packs").
    private static func frames(ofPack bytes: [UInt8]) -> [UInt8] {
        let size = bytes.dropFirst(4).prefix(4).reduce(0) { $0 << 8 | Int($1) }
        return Array(bytes.dropFirst(8 + size).dropLast(32))
    }

    /// Makes the transports of a machine to the archives that it follows, by its hub or itself.
    func archiveTransports(_ machine: SimulatedMachine, _ process: Daemon.Process) -> [any Transport] {
        shared.filter { $0.members.contains(machine.index) }.map { archive in
            if archive.store.index == 0, let hub = hubOf[machine.index] {
                return transport(from: machine.index, toHub: hub)
            }
            return ArchiveTransport(
                ArchiveClient(store: archive.store, machine: machine.index), replica: process.replica,
                limits: plan.limits, clock: machine.clock, entropy: process.entropy)
        }
    }

    /// Adds a machine to the archives of another one, by the same hub.
    func follow(archivesOf other: Int, by machine: Int) {
        for index in shared.indices where shared[index].members.contains(other) {
            shared[index].members.insert(machine)
        }
        hubOf[machine] = hubOf[other]
    }

    func isArchived(_ machine: Int) -> Bool { shared.contains { $0.members.contains(machine) } }

    /// True for two machines that follow one archive, the second one without a hub.
    func shareArchive(_ machine: Int, _ other: Int) -> Bool {
        shared.contains {
            $0.members.isSuperset(of: [machine, other]) && ($0.store.index > 0 || hubOf[other] == nil)
        }
    }

    func perform(_ fault: ScenarioPlan.StoreFault, at index: Int) {
        // Shrinking may have left out the archive.
        guard shared.indices.contains(index) else { return }
        let store = shared[index].store
        switch fault {
        case .down(let time):
            counts.note(FaultKind.storeDown)
            store.goDown(for: time)
            note("the \(store.name) is down for \(time) ms")
        case .backUp: store.backUp()
        case .restore:
            guard store.restore() else { return }
            counts.note(FaultKind.storeRestored)
            note("the \(store.name) is restored")
        case .damage(let seed):
            var random = SplitMix(seed: seed)
            guard let key = store.damage(&random) else { return }
            counts.note(FaultKind.storeDamage)
            note("\(key) is damaged in the \(store.name)")
        }
    }

    /// No pack was written in another one's place, and so nobody read two contents of one (P14).
    func checkStore() throws {
        let overwritten = shared.flatMap(\.store.overwritten)
        guard let pack = overwritten.first(where: { $0.hasPrefix(ArchiveStore.packs) }) else { return }
        throw Violation("P14", "two packs were written to \(pack)")
    }
}
