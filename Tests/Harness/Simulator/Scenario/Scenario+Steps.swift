import MergeModel
import TestSupport

/// The steps of a plan.
extension Scenario {
    func perform(_ action: ScenarioPlan.Action) throws {
        switch action {
        case .write(let index, let statements, let tokens, let isMarked, let crashes):
            try write(machines[index], statements, tokens: tokens, isMarked: isMarked, dies: crashes)
        case .crash(let index, let point, let downFor, let recoversBadly):
            try crash(machines[index], point, downFor: downFor, recoversBadly: recoversBadly)
        case .disk(let index, let fault):
            try perform(fault, on: machines[index])
        case .point(let index, let point):
            try perform(point, on: machines[index])
        case .stop(let index, let downFor):
            guard machines[index].isUp else { return }
            counts.note(FaultKind.stop)
            try stop(machines[index], downFor: downFor)
        case .lock(let index, let time):
            try lock(machines[index], for: time)
        case .partition(let side, let isOneWay, let time):
            partition(side, isOneWay: isOneWay, for: time)
        case .jump(let index, let milliseconds):
            counts.note(abs(milliseconds) > 86_400_000 ? FaultKind.jumpOfYears : .jump)
            machines[index].clock.jump(by: milliseconds)
            note("the clock of machine \(index) jumps by \(milliseconds) ms")
        case .freeze(let index, let time):
            counts.note(FaultKind.frozenClock)
            machines[index].clock.stop()
            note("the clock of machine \(index) stops")
            scheduler.after(time) { [unowned self] in machines[index].clock.goOn() }
        case .backUp(let index):
            backups[index] = machines[index].files()
            note("machine \(index) is backed up")
        case .restore(let index, let isInPlace, let keepsRecord):
            try restore(machines[index], isInPlace: isInPlace, keepsRecord: keepsRecord)
        case .clone(let index, let keepsRecord):
            try clone(machines[index], keepsRecord: keepsRecord)
        case .rekey(let index):
            try rekey(machines[index])
        case .migrate(let index, let addition):
            let isKnown = try FileView(machine: machines[index]).knows(plan.schema.additions[addition])
            if isKnown { counts.note(.joined) }
            if try machines[index].migrate(addition) { note("machine \(index) has addition \(addition)") }
            if machines[index].isDead { try crash(machines[index]) }
        case .forget(let index, let other):
            try forget(machines[other], at: machines[index])
        case .store(let index, let fault): perform(fault, at: index)
        case .crashHub(let index, let downFor): crashHub(index, downFor: downFor)
        case .check:
            for machine in machines where machine.isUp { try checkDeeply(machine) }
        }
    }

    func write(
        _ machine: SimulatedMachine, _ statements: [String], tokens: Int, isMarked: Bool, dies: Bool
    ) throws {
        let transaction = (written.max() ?? 0) + 1
        written.insert(transaction)
        // The tokens are written in the middle of the transaction.
        var all = statements
        all.insert(TokenTable.insert(txn: transaction, count: tokens), at: statements.count / 2)
        if machine.hasRegisters {
            overwritten[transaction] = try RegisterTable.values(machine)[RegisterTable.register(of: transaction)]
            all.append(RegisterTable.write(txn: transaction))
        }
        latestTime = max(latestTime, machine.clock.wallMilliseconds())
        let outcome = try machine.write(all, isMarked: isMarked, dies: dies)
        counts.statements += all.count
        note("machine \(machine.index) writes \(transaction): \(outcome)")
        switch outcome {
        case .committed:
            counts.transactions += 1
            // A constraint may have refused only this statement.
            let isThere =
                try FileView(machine: machine).number("SELECT count(*) FROM token WHERE txn = \(transaction)") > 0
            guard isThere else { return }
            acknowledged.insert(transaction)
            watches[machine.index].acknowledge(transaction)
        case .failed: break
        case .died: counts.note(FaultKind.writerCrash)
        case .unconfirmed(let code):
            unconfirmed.insert(transaction)
            let isFull = code & 0xFF == SimulatedMachine.codeOfFullDisk
            counts.note(machine.isDead ? .diedWriting : isFull ? .fullRefused : .commitFailed)
        }
        if machine.isDead { try crash(machine) }
    }

    func lock(_ machine: SimulatedMachine, for time: Int64) throws {
        guard locks[machine.index] == nil else { return }
        let holder = try machine.connect()
        guard holder.execute("BEGIN IMMEDIATE") == 0 else { return }
        counts.note(FaultKind.lock)
        locks[machine.index] = holder
        note("machine \(machine.index) is locked")
        scheduler.after(time) { [unowned self] in unlock(machine) }
    }

    func unlock(_ machine: SimulatedMachine) {
        guard let holder = locks.removeValue(forKey: machine.index) else { return }
        _ = holder.execute("ROLLBACK")
        machine.signals.signal()
    }

    func partition(_ side: [Int], isOneWay: Bool, for time: Int64) {
        counts.note(isOneWay ? FaultKind.oneWay : .partition)
        // The stores and their hubs are with the others.
        let others = machines.indices.filter { !side.contains($0) } + hubs.map(\.address)
        note("\(side) \(isOneWay ? "do not reach" : "are apart from") \(others)")
        let links = side.flatMap { a in others.flatMap { b in isOneWay ? [(a, b)] : [(a, b), (b, a)] } }
        for (a, b) in links { network.block(from: a, to: b) }
        for archive in shared { archive.store.block(side) }
        scheduler.after(time) { [unowned self] in
            for (a, b) in links { network.unblock(from: a, to: b) }
            for archive in shared { archive.store.unblock(side) }
        }
    }
}
