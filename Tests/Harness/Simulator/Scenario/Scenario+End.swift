import Journal
import Sync
import TestSupport

extension Scenario {
    /// Ends all faults. All machines must then know and hold the same within bounded time (P21).
    func live() throws {
        note("all faults end")
        network.heal()
        for archive in shared { archive.store.heal() }
        for machine in machines {
            unlock(machine)
            machine.fuse = nil
            machine.refusal = nil
            machine.endFaults()
            latestTime = max(latestTime, machine.clock.wallMilliseconds())
        }
        rightTime = latestTime + 1_000 - scheduler.now
        setClocksRight()
        try becomeLevel()
        // Every machine has met a peer since the faults ended.
        unproven = [:]
        for machine in machines { try checkDeeply(machine) }
        try becomeStable()
        try outlive()
        try bitRot()
        // A machine that gets everything from a machine with a rotten value must get what the journal says. Where files
        // are compacted, it gets a copy of the file.
        if decayed == nil || !plan.kinds.contains(.compaction) { try welcome(to: decayed?.machine) }
        try mend()
        try checkEverywhere()
        try checkStore()
        try checkRegisters()
        counts.note(.redelivered, publications.redelivered)
        counts.note(.relayed, publications.relayed)
        counts.note(.morePull, publications.unfinished)
    }

    /// Sets all clocks right, as machines do from time to time: some run too fast or too slow.
    func setClocksRight() {
        for clock in machines.map(\.clock) + hubs.map(\.clock) { clock.set(wall: rightTime + scheduler.now) }
    }

    /// Runs until all machines know the same.
    ///
    /// A history of hundreds of changes, each of which needs a slow exchange of its own, takes long. The
    /// bound is therefore one of progress: within each 15 minutes, the machines must lack fewer changes than
    /// ever before. A machine that comes back by an archive waits until another one has written all parts of a
    /// snapshot, on a slow network for more than ten minutes: then within an hour.
    func becomeLevel() throws {
        let patience: Int64 = plan.kinds.isSuperset(of: [.archive, .compaction]) ? 3_600_000 : 900_000
        var fewest = Int64.max
        var since = scheduler.now
        while true {
            try scheduler.run(until: scheduler.now + 2_000)
            if try isLevel() { break }
            let missing = try missing()
            if missing < fewest {
                fewest = missing
                since = scheduler.now
            }
            if scheduler.now >= since + 60_000, try cloneAnew() {
                fewest = .max
                since = scheduler.now
            }
            guard scheduler.now < since + patience else { throw try stuck(since: since) }
        }
    }

    /// The number of changes that some machine knows and another does not, once for each machine that lacks
    /// it.
    private func missing() throws -> Int64 {
        let known = try machines.map { try FileView(machine: $0).vector() }
        let all = known.reduce(VersionVector()) { $0.merged(with: $1) }
        return known.reduce(0) { sum, vector in
            all.entries.reduce(sum) { $0 + $1.version - vector[$1.origin] }
        }
    }

    /// Adds a machine that gets everything from one machine, in another order and in other batches than the
    /// others. It must end with the same content (P7).
    ///
    /// - Parameter wanted: The machine that it follows; nil to draw one.
    func welcome(to wanted: SimulatedMachine?) throws {
        var random = streams.stream(.checks)
        let drawn = machines[random.below(machines.count)]
        let host = wanted ?? drawn
        let index = machines.count
        let clock = MachineClock(scheduler, start: host.clock.wallMilliseconds() - scheduler.now, drift: 0)
        let machine = try SimulatedMachine(
            index, schema: plan.schema, hasRegisters: plan.hasRegisters, origin: Scenario.origin(index), clock: clock,
            scheduler: scheduler, entropy: streams.stream(.entropy, index),
            pageBytes: try FileView(machine: host).number("PRAGMA page_size"))
        for addition in host.additions.sorted() { _ = try machine.migrate(addition) }
        note("machine \(index) joins, and follows machine \(host.index)")
        add(machine)
        // An archive may have everything, too.
        if isArchived(host.index), random.chance(50) {
            follow(archivesOf: host.index, by: index)
            follows.append([])
            counts.note(.newcomerByArchive)
        } else {
            follows.append([host.index])
        }
        start(machine)
        try becomeLevel()
        try checkDeeply(machine)
        counts.note(.newcomer)
    }

    func isLevel() throws -> Bool {
        guard machines.allSatisfy(\.isUp) else { return false }
        let first = try FileView(machine: machines[0]).vector()
        let writers = try Set(machines.compactMap { try FileView(machine: $0).origin })
        for machine in machines {
            let view = FileView(machine: machine)
            guard try view.vector() == first else { return false }
            // An archive keeps the beginning of a transaction whose writer is gone, and gives it again to everyone who has
            // dropped it.
            let isFollowing = isArchived(machine.index)
            guard try view.staged().entries.allSatisfy({ isFollowing && !writers.contains($0.origin) }) else {
                return false
            }
        }
        return true
    }

    func stuck(since: Int64) throws -> Violation {
        let lines = try machines.map { machine in
            let view = FileView(machine: machine)
            let peers = machine.daemon?.replicator.status().peers.map { peer in
                "\(peer.name) \(peer.failures) failures, \(peer.lastError?.message ?? "no error")"
            }
            return
                "  machine \(machine.index) \(machine.isUp ? "up" : "down") knows \(try view.vector()), staged \(try view.staged()), horizon \(try view.horizon()), refuses \(try view.refused()); \(peers?.joined(separator: "; ") ?? "")"
        }
        return Violation(
            "P21",
            """
            the machines still differ, and lack no fewer changes than \((scheduler.now - since) / 60_000) minutes ago, without faults:
            \(lines.joined(separator: "\n"))
            """)
    }

    func checkEverywhere() throws {
        let wanted = acknowledged.subtracting(mayBeLost)
        for machine in machines {
            if let lost = wanted.subtracting(try transactions(of: machine)).min() {
                throw Violation(
                    "P3", "transaction \(lost) was acknowledged and is missing on machine \(machine.index)")
            }
        }
        counts.note(.unconfirmedKept, try transactions(of: machines[0]).intersection(unconfirmed).count)
    }

    /// Checks that a write wins over what its writer saw (P11), and that no machine went back to an older
    /// write (P13). All machines know the same here.
    func checkRegisters() throws {
        guard plan.hasRegisters, let daemon = machines[0].daemon else { return }
        let stamps = RegisterTable.stamps(try KnownChanges(daemon, of: 0, archive).writes + archive.all)
        for (write, seen) in overwritten.sorted(by: { $0.key < $1.key }) {
            if let later = stamps[write], let earlier = stamps[seen], later.lowerBound <= earlier.lowerBound {
                throw Violation("P11", "transaction \(write) overwrote \(seen), and loses against it")
            }
        }
        for machine in machines {
            let history = watches[machine.index].registers
            if let step = history.stepBack(stamps) {
                throw Violation(
                    "P13",
                    """
                    machine \(machine.index) showed transaction \(step.before) in register \(step.register), and then \
                    \(step.after), which is older
                    """)
            }
            if history.steps.contains(where: { overwritten[$0.after] != $0.before }) { counts.note(.registerMerged) }
        }
    }
}
