import Journal

/// How machines go down.
extension Scenario {
    /// All processes on the machine die, or have died.
    ///
    /// - Parameters:
    ///   - downFor: Until the daemon starts again; nil for as long as the step says that led to the death.
    ///   - seed: Of a loss of power now.
    func crash(_ machine: Machine, downFor: Int64? = nil, losingPower seed: UInt64? = nil) throws {
        let wasUp = machine.isUp
        let hadShownUnsynced = machine.showsUnsynced
        let lock = locks.removeValue(forKey: machine.index)
        var seed = seed
        if let cause = machine.causeOfDeath, cause.kind == .powerLoss {
            if cause.lead == 0 { seed = cause.seed } else { losePower(machine, after: cause) }
        }
        let before = try seed == nil ? nil : DiskView(machine.disk)
        let isOrderly = !machine.mayHoldFailedCommits
        let unsynced = try machine.crash(losingPower: seed)
        if lock != nil { note("the lock of machine \(machine.index) ends with the crash") }
        network.disconnect(machine.index)
        if let unsynced, let before {
            note("machine \(machine.index) has lost its power, with \(unsynced) B that were not synced")
            if unsynced > 0 { counts.note(.powerTookWrites) }
            try checkLoss(on: machine, before, isOrderly: isOrderly, hadShownUnsynced: hadShownUnsynced)
        } else {
            note("machine \(machine.index) is dead")
            if machine.showsUnsynced, !hadShownUnsynced { watches[machine.index].remember() }
        }
        if try !FileView(machine: machine).staged().isEmpty { counts.note(.stagedOverCrash) }
        guard wasUp else { return }
        scheduler.after(downFor ?? downTimes[machine.index] ?? 1_000) { [unowned self] in start(machine) }
    }

    /// After a loss of power: what is left is whole, and the beginning of what was there (P3); what may be gone is not asked for any more.
    ///
    /// - Parameters:
    ///   - before: What the disk held.
    ///   - isOrderly: False where a commit had failed. Its writes may come back in the place of those that took theirs.
    private func checkLoss(
        on machine: Machine, _ before: DiskView, isOrderly: Bool, hadShownUnsynced: Bool
    ) throws {
        let after = try DiskView(machine.disk)
        guard !isOrderly || before.transactions.starts(with: after.transactions) else {
            throw Violation(
                "P3",
                """
                the power left machine \(machine.index) the transactions \(after.transactions), \
                which is no beginning of \(before.transactions)
                """)
        }
        if let problem = after.problems.first {
            throw Violation("P17", "after a loss of power SQLite finds on machine \(machine.index): \(problem)")
        }
        let isWeak = machine.durability.isWeak
        guard isWeak || hadShownUnsynced else { return }
        // Gone for good, where nobody else holds it by now.
        var gone = Set(before.transactions).subtracting(after.transactions)
        if isWeak, !gone.isEmpty { counts.note(.normalCommitsLost) }
        for other in machines where other !== machine { gone.subtract(try transactions(of: other)) }
        mayBeLost.formUnion(gone)
        if isWeak {
            counts.note(FaultKind.normalCommits)
            let (kept, all) = (after.transactions.count, before.transactions.count)
            note("machine \(machine.index) keeps \(kept) of \(all) transactions")
            shortened.insert(machine.index)
            // Programs may give versions again that peers have, until a daemon looks at the file.
            unsettled.insert(machine.index)
            watches[machine.index].loseTail(
                hadShownUnsynced: hadShownUnsynced, keepsOthers: machine.durability.daemon == .full)
        } else {
            let view = FileView(machine: machine)
            if try !view.vector().covers(watches[machine.index].vector) { counts.note(.shownLost) }
            watches[machine.index].fallBack()
        }
        forgetUnpublished(of: machine)
    }

    /// The power goes a little after the processes have died.
    private func losePower(_ machine: Machine, after cause: DiskFault) {
        scheduler.after(cause.lead) { [unowned self] in
            guard !network.isHealed else { return }
            attempt { try crash(machine, downFor: cause.time, losingPower: cause.seed) }
        }
    }

    func stop(_ machine: Machine, downFor: Int64) throws {
        guard machine.isUp else { return }
        try machine.stop()
        // Its disk did not let it end in order.
        if machine.isUp || machine.isDead { return try crash(machine, downFor: downFor) }
        network.disconnect(machine.index)
        note("machine \(machine.index) is stopped")
        scheduler.after(downFor) { [unowned self] in start(machine) }
    }

    func crash(
        _ machine: Machine, _ point: ScenarioPlan.CrashPoint, downFor: Int64, recoversBadly: Bool
    ) throws {
        guard machine.isUp else {
            // It dies while it starts.
            if recoversBadly, point != .now { machine.fuse = point }
            return
        }
        downTimes[machine.index] = downFor
        switch point {
        case .now:
            counts.note(FaultKind.crash)
            try crash(machine, downFor: downFor)
            if recoversBadly { machine.fuse = .afterCommit(1) }
        case .beforeCommit:
            counts.note(FaultKind.crashBeforeCommit)
            machine.fuse = point
        case .afterCommit:
            counts.note(FaultKind.crashAfterCommit)
            machine.fuse = point
        }
    }

    func perform(_ fault: DiskFault, on machine: Machine) throws {
        note("\(fault.kind.rawValue) at the disk of machine \(machine.index)")
        if fault.isDeadly { downTimes[machine.index] = fault.isUpInBetween ? 1 : fault.time }
        guard fault.fault != nil else {
            counts.note(fault.kind)
            return try crash(machine, downFor: fault.time, losingPower: fault.seed)
        }
        if fault.isAtStart { try crash(machine, downFor: 100) }
        machine.arm(fault)
        guard !fault.isDeadly else { return }
        scheduler.after(fault.time) { [unowned self] in
            machine.endFaults()
            note("the disk of machine \(machine.index) works")
        }
    }
}
