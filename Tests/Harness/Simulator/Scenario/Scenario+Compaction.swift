import Journal
import MergeModel
import Sync

/// Compaction, and replicas that lack what the others have compacted.
extension Scenario {
    /// Keeps what the journal of a machine holds before a compaction can remove it.
    func collect(_ machine: SimulatedMachine) throws {
        guard plan.kinds.contains(.compaction), let daemon = machine.daemon, !machine.isDead else { return }
        let removed = try archive.collect(machine.index, daemon)
        guard removed > 0 else { return }
        counts.note(FaultKind.compaction)
        counts.note(.compacted, removed)
        note("compaction removed \(removed) entries of machine \(machine.index)")
    }

    func forget(_ other: SimulatedMachine, at machine: SimulatedMachine) throws {
        guard let origin = try FileView(machine: other).origin else { return }
        counts.note(FaultKind.forget)
        let now = machine.clock.wallMilliseconds()
        do {
            let isDone: Void? = try machine.inDaemon { daemon in
                let horizon = try daemon.replicator.inbox.stableHorizon()
                try daemon.replica.write { db in
                    try Forgetting.forget(origin, horizon, now: now, isForced: true, db)
                }
            }
            guard isDone != nil else { return }
            counts.note(.forgotten)
            note("machine \(machine.index) forgets machine \(other.index)")
        } catch {
            note("machine \(machine.index) does not forget: \(SyncError(wrapping: error).code)")
        }
        if machine.isDead { try crash(machine) }
    }

    /// True when all that is settled becomes stable within the time that this harness waits.
    func settles() throws -> Bool {
        guard plan.kinds.contains(.compaction), !plan.kinds.contains(.byzantinePeer), plan.schema.additions.isEmpty
        else { return false }
        if hasShortLease { return true }
        // An identity that no file has any more holds everything back until its lease ends. A machine leaves one when
        // it returns with changes that its host had not seen, and when its disk has lost what others had got. A store
        // that lost an archive leaves the archive's.
        let finished = try machines.flatMap { try FileView(machine: $0).finished() }
        return plan.kinds.isDisjoint(with: FaultKind.ofIdentity) && counts.marks[.clonedAnew] == nil
            && counts.marks[.rekeyRolledBack] == nil && counts.marks[.rekeyOutrun] == nil
            && shared.allSatisfy { $0.store.made <= 1 }
            && leftAtReturns.allSatisfy(finished.contains)
    }

    /// True when leases end while this harness waits.
    var hasShortLease: Bool { plan.limits.leaseMilliseconds <= 120_000 }

    /// When nobody writes, every change becomes stable on every machine within bounded time (P16), and may then be
    /// compacted.
    func becomeStable() throws {
        guard try settles() else { return }
        let end = scheduler.now + 3_600_000
        while let machine = try machines.first(where: { try !isStable($0) }) {
            guard scheduler.now < end else { throw try unstable(machine, "after an hour without a write") }
            setClocksRight()
            try scheduler.run(until: scheduler.now + 10_000)
        }
        counts.note(.allStable)
        try becomeSmall()
        for machine in machines { try checkDeeply(machine) }
    }

    func unstable(_ machine: SimulatedMachine, _ when: String) throws -> Violation {
        let horizon = try machine.daemon?.replicator.inbox.stableHorizon()
        let said = try machines.compactMap { machine -> String? in
            guard let daemon = machine.daemon else { return nil }
            let own = try daemon.replica.read { try daemon.replicator.inbox.acknowledgements.all($0) }.first
            return own.map { "  machine \(machine.index) is \($0.origin.short), and says \($0.vector)" }
        }
        return Violation(
            "P16",
            """
            \(when), not everything is stable on machine \(machine.index): it knows \(try FileView(machine: machine).vector()), \
            and \(horizon?.vector ?? VersionVector()) is stable: \
            \(horizon?.holders.map { "\($0.origin.short) \($0.standing) lacks \($0.unconfirmed)" } ?? [])
            \(said.joined(separator: "\n"))
            """)
    }

    /// What settled changes leave in the journals goes within bounded time: a compaction finds nothing more (P16).
    private func becomeSmall() throws {
        let end = scheduler.now + 3_600_000
        while let machine = try machines.first(where: { try removable($0) > 0 }) {
            guard scheduler.now < end else {
                throw Violation(
                    "P16",
                    "an hour after everything was stable, machine \(machine.index) still has \(try removable(machine)) entries that can go"
                )
            }
            setClocksRight()
            try scheduler.run(until: scheduler.now + 10_000)
        }
    }

    private func removable(_ machine: SimulatedMachine) throws -> Int {
        try machine.inDaemon { daemon in
            try daemon.replicator.inbox.planCompaction(keep: 0, lease: plan.limits.leaseMilliseconds).report.removable
        } ?? 0
    }

    func isStable(_ machine: SimulatedMachine) throws -> Bool {
        guard let daemon = machine.daemon else { return false }
        return try daemon.replicator.inbox.stableHorizon().vector.covers(FileView(machine: machine).vector())
    }

    /// Makes one machine anew from another that has compacted what it lacks, as an operator does with `syncd clone`.
    /// What only that machine had is lost. Only a machine that cannot come back by itself is made anew.
    ///
    /// - Returns: False when no machine needs it.
    func cloneAnew() throws -> Bool {
        guard plan.kinds.contains(.compaction), let (machine, host) = try toMakeAnew() else { return false }
        counts.note(.clonedAnew)
        counts.livesWithCopies = 1
        note("machine \(machine.index) is made anew from machine \(host.index)")
        try crash(machine, downFor: 1_000)
        var gone = try transactions(of: machine)
        try machine.restore(host.files(), isInPlace: false, withRecord: true)
        archive.replace(machine.index, by: host.index)
        unsettled.insert(machine.index)
        forgetUnpublished(of: machine)
        for other in machines { gone.subtract(try transactions(of: other)) }
        mayBeLost.formUnion(gone)
        watches[machine.index].forget()
        return true
    }

    /// What decides whether a machine must be made anew.
    private struct State {
        let machine: SimulatedMachine
        let origin: OriginID
        let vector: VersionVector
        let horizon: VersionVector
        /// The origins whose changes it refuses, because their writers had not seen all that is compacted here.
        let refused: VersionVector
        let profile: ContentProfile?

        init?(_ machine: SimulatedMachine) throws {
            let view = FileView(machine: machine)
            guard let origin = try view.origin else { return nil }
            self.machine = machine
            self.origin = origin
            vector = try view.vector()
            horizon = try view.horizon()
            refused = try view.refused()
            profile = try machine.daemon?.replica.read { try ContentProfile($0) }
        }

        /// True when the machine gets nothing from `host` any more, or not all that `host` has.
        func needs(_ host: State) -> Bool {
            guard vector.covers(host.horizon) else {
                // Of two that lack what the other one compacted, it is that with the smaller origin, as at a return.
                return host.vector.covers(horizon) || origin < host.origin
            }
            return host.vector.covers(horizon) && refused.entries.contains { host.vector[$0.origin] >= $0.version }
        }
    }

    /// A machine that lacks what another one has compacted, or that refuses what another one has, and the other one.
    private func toMakeAnew() throws -> (machine: SimulatedMachine, host: SimulatedMachine)? {
        let states = try machines.compactMap { try State($0) }.sorted { $0.origin < $1.origin }
        // Of two camps of machines, that of the greatest origin grows: the new name of a copy is next to that of its
        // host, so the copy does not go back.
        for host in states.reversed() {
            let needing = states.filter { $0.machine !== host.machine && $0.needs(host) }
            if let state = needing.first(where: { !comesBack($0, to: host) }) {
                return (state.machine, host.machine)
            }
        }
        // What a collection has removed is in a snapshot, and the content of its maker may not fit.
        for state in states where isBehindArchive(state.machine) {
            let others = states.filter { shareArchive(state.machine.index, $0.machine.index) }
            if let host = others.last(where: { $0.profile != state.profile }) { return (state.machine, host.machine) }
        }
        return nil
    }

    /// True for a machine that an archive gives nothing to but a snapshot.
    private func isBehindArchive(_ machine: SimulatedMachine) -> Bool {
        isArchived(machine.index)
            && machine.daemon?.replicator.status().peers.contains { $0.lastError?.code == .behindHorizon } ?? false
    }

    /// True for a machine that gets the other one's content by itself: from it, or from the archive that both follow and
    /// where the other one writes snapshots.
    private func comesBack(_ state: State, to host: State) -> Bool {
        guard let fits = state.profile, fits == host.profile else { return false }
        return pulls(state.machine.index, from: host.machine.index)
            || shareArchive(state.machine.index, host.machine.index)
            // Of two that lack what the other one has compacted, the one comes back that can.
            || !host.vector.covers(state.horizon) && pulls(host.machine.index, from: state.machine.index)
    }
}
