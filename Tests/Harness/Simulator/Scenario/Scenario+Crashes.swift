import Journal

/// Crashes and stops of machines.
extension Scenario {
    /// Ends all processes on the machine, which may have died already.
    ///
    /// - Parameters:
    ///   - downFor: The time until the daemon starts again; nil for the time of the step that led to the
    ///     death.
    ///   - seed: The seed of a loss of power at the same time; nil for none.
    func crash(_ machine: SimulatedMachine, downFor: Int64? = nil, losingPower seed: UInt64? = nil) throws {
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
        archive.beginAnew(machine.index)
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

    /// After a loss of power, checks that the rest is whole and a prefix of what was there (P3), and stops
    /// expecting what may be lost.
    ///
    /// - Parameters:
    ///   - before: What the disk held.
    ///   - isOrderly: False when a commit had failed: its writes may reappear instead of the commits that
    ///     overwrote them.
    private func checkLoss(
        on machine: SimulatedMachine, _ before: DiskView, isOrderly: Bool, hadShownUnsynced: Bool
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
        // Lost for ever, unless another machine has it.
        var gone = Set(before.transactions).subtracting(after.transactions)
        if isWeak, !gone.isEmpty { counts.note(.normalCommitsLost) }
        for other in machines where other !== machine { gone.subtract(try transactions(of: other)) }
        mayBeLost.formUnion(gone)
        if isWeak {
            counts.note(FaultKind.normalCommits)
            let (kept, all) = (after.transactions.count, before.transactions.count)
            note("machine \(machine.index) keeps \(kept) of \(all) transactions")
            shortened.insert(machine.index)
            // Until a daemon looks at the file, programs may use versions again that peers have.
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

    /// Lets the power fail a little after the processes died.
    private func losePower(_ machine: SimulatedMachine, after cause: DiskFault) {
        scheduler.after(cause.lead) { [unowned self] in
            guard !network.isHealed else { return }
            attempt { try crash(machine, downFor: cause.time, losingPower: cause.seed) }
        }
    }

    func stop(_ machine: SimulatedMachine, downFor: Int64) throws {
        guard machine.isUp else { return }
        try machine.stop()
        // Its disk did not let it stop in good order.
        if machine.isUp || machine.isDead {
            // A machine that died after its daemon was gone is started by nobody else.
            let isGone = !machine.isUp
            try crash(machine, downFor: downFor)
            if isGone { scheduler.after(downFor) { [unowned self] in start(machine) } }
            return
        }
        network.disconnect(machine.index)
        note("machine \(machine.index) is stopped")
        scheduler.after(downFor) { [unowned self] in start(machine) }
    }

    func crash(
        _ machine: SimulatedMachine, _ point: ScenarioPlan.CrashPoint, downFor: Int64, recoversBadly: Bool
    ) throws {
        guard machine.isUp else {
            // It dies during its start.
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

    func perform(_ fault: DiskFault, on machine: SimulatedMachine) throws {
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
