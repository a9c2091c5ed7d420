import Journal
import Sync

/// Restored files, copied files and new identities.
extension Scenario {
    func restore(_ machine: SimulatedMachine, isInPlace: Bool, keepsRecord: Bool) throws {
        guard let backup = backups[machine.index] else { return }
        counts.note(isInPlace ? FaultKind.restoreInPlace : .restore)
        counts.livesWithCopies = 1
        if machine.isUp { try crash(machine, downFor: 1_000) }
        unlock(machine)
        let before = try transactions(of: machine)
        try machine.restore(backup, isInPlace: isInPlace, withRecord: !keepsRecord)
        unsettled.insert(machine.index)
        if isInPlace, !keepsRecord { try forgetTraces(of: machine) }
        forgetUnpublished(of: machine)
        note("machine \(machine.index) is restored\(isInPlace ? " in place" : "")")
        // What no other machine holds is lost for ever, unless it is on its way.
        var gone = before.subtracting(try transactions(of: machine))
        for other in machines where other !== machine { gone.subtract(try transactions(of: other)) }
        mayBeLost.formUnion(gone)
        watches[machine.index].forget()
    }

    /// Allows versions to be used again that nobody else has seen.
    func forgetUnpublished(of machine: SimulatedMachine) {
        for origin in knowledge.origins
        where !machines.contains(where: { $0 !== machine && watches[$0.index].origin == origin }) {
            knowledge.forget(origin, beyond: publications.latest(of: origin))
        }
    }

    /// Nothing at the file shows that it is older. Changes that it sent and nobody got may be sent again with
    /// another content.
    func forgetTraces(of machine: SimulatedMachine) throws {
        let name = try FileView(machine: machine).origin
        unproven[machine.index] = name
        guard let name else { return }
        let held = try machines.filter { $0 !== machine }.map { other in
            let view = FileView(machine: other)
            let durable = try view.vector().merged(with: view.staged())
            return max(durable[name], try other.daemon?.replicator.inbox.have()[name] ?? 0)
        }
        publications.forget(name, beyond: held.max() ?? 0)
    }

    func transactions(of machine: SimulatedMachine) throws -> Set<Int> {
        Set(
            try machine.rows("SELECT DISTINCT txn FROM token").compactMap { row in
                if case .integer(let number) = row[0] { Int(number) } else { nil }
            })
    }

    func clone(_ source: SimulatedMachine, keepsRecord: Bool) throws {
        guard machines.count < 8, locks[source.index] == nil else { return }
        counts.note(FaultKind.clone)
        counts.livesWithCopies = 1
        let index = machines.count
        let clock = MachineClock(scheduler, start: source.clock.wallMilliseconds() - scheduler.now, drift: 0)
        archive.replace(index, by: source.index)
        let machine = try SimulatedMachine(
            index, copyOf: source, withRecord: keepsRecord, clock: clock, scheduler: scheduler,
            entropy: streams.stream(.entropy, index))
        note("machine \(index) is a copy of machine \(source.index)")
        add(machine)
        unsettled.insert(index)
        // The copy talks to the original and to another machine.
        follow(archivesOf: source.index, by: index)
        follows.append(Array(Set([source.index, (source.index + 1) % index])).sorted())
        start(machine)
    }

    func rekey(_ machine: SimulatedMachine) throws {
        guard machine.isUp else { return }
        counts.note(FaultKind.rekey)
        do {
            if let outcome = try machine.inDaemon({ try $0.replicator.inbox.rekey() }) ?? nil {
                rekeyed(machine, outcome)
            }
        } catch {
            note("machine \(machine.index) takes no new identity: \(SyncError(wrapping: error).code)")
        }
        if machine.isDead { try crash(machine) }
    }
}
