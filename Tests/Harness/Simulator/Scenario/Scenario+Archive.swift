import Sync
import TestSupport

/// The archive that machines share.
extension Scenario {
    func makeStore() -> ArchiveStore? {
        guard let archivePlan = plan.archive else { return nil }
        counts.note(FaultKind.archive)
        let store = ArchiveStore(
            scheduler, plan: archivePlan, network: plan.network, limits: plan.limits, start: latestTime,
            seed: streams.stream(.archives, 4))
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

    /// Makes the transport of a machine that follows the archive, by its hub or itself.
    ///
    /// - Returns: nil for another machine.
    func archiveTransport(_ machine: SimulatedMachine, _ process: Daemon.Process) -> (any Transport)? {
        guard let store, archived.contains(machine.index) else { return nil }
        if let hub = hubOf[machine.index] { return transport(from: machine.index, toHub: hub) }
        return ArchiveTransport(
            ArchiveClient(store: store, machine: machine.index), replica: process.replica, limits: plan.limits,
            clock: machine.clock, entropy: process.entropy)
    }

    func performAtStore(_ action: ScenarioPlan.Action) {
        guard let store else { return }
        switch action {
        case .storeDown(let time):
            counts.note(FaultKind.storeDown)
            store.goDown(for: time)
            note("the store is down for \(time) ms")
        case .backUpStore: store.backUp()
        case .restoreStore:
            guard store.restore() else { return }
            counts.note(FaultKind.storeRestored)
            note("the store is restored")
        case .damageStore(let seed):
            var random = SplitMix(seed: seed)
            guard let key = store.damage(&random) else { return }
            counts.note(FaultKind.storeDamage)
            note("\(key) is damaged in the store")
        default: break
        }
    }

    /// No pack was written in another one's place, and so nobody read two contents of one (P14).
    func checkStore() throws {
        guard let pack = store?.overwritten.first(where: { $0.hasPrefix(ArchiveStore.packs) }) else { return }
        throw Violation("P14", "two packs were written to \(pack)")
    }
}
