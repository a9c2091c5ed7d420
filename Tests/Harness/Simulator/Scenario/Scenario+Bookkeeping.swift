import Journal
import SimulatedDisk
import Sync
import TestSupport

/// Checks of the daemon's view of its file, after each event that changed the file.
extension Scenario {
    /// Checks that the vector of production code equals the sum of the journal's entries, and that nothing
    /// staged is forgotten (P20).
    func checkBookkeeping(_ machine: SimulatedMachine, _ known: VersionVector) throws {
        guard let daemon = machine.daemon, !machine.isDead else { return }
        let said = try daemon.replicator.inbox.vector()
        guard said == known else {
            throw Violation("P20", "machine \(machine.index) says that it knows \(said); its journal holds \(known)")
        }
        let whole = try known.merged(with: FileView(machine: machine).staged())
        let have = try daemon.replicator.inbox.have()
        guard have.covers(whole) else {
            throw Violation("P20", "machine \(machine.index) says that it has \(have); its file holds \(whole)")
        }
    }

    /// Delivers something known again, in three of ten cases; nothing may be written (P6).
    func redeliver(to machine: SimulatedMachine, _ known: VersionVector) throws {
        guard redelivery.chance(30), let daemon = machine.daemon, !machine.isDead else { return }
        let covered = arrivals[machine.index].filter { batch in
            batch.runs.allSatisfy { known[$0.origin] >= $0.lastVersion }
        }
        guard !covered.isEmpty else { return }
        let before = machine.disk.count(.writes)
        let report = try daemon.replicator.inbox.receive(redelivery.pick(covered))
        counts.redeliveries += 1
        guard report.applied == 0, report.staged == 0, machine.disk.count(.writes) == before else {
            throw Violation("P6", "machine \(machine.index) changed when it got what it had: \(report)")
        }
    }
}

extension SimulatedDisk.Operations {
    fileprivate static let writes: Self = [.write, .truncate, .sync, .delete]
}
