import Journal
import MergeModel
import Sync

/// The costly checks of one machine whose daemon runs.
struct ModelCheck {
    let machine: SimulatedMachine
    let daemon: Daemon
    let archive: ChangeArchive

    /// - Returns: The number of changes in the journal, of those by migrations, and of held rows, and the conflicts.
    func run(settles: Bool) throws -> (changes: Int, migrated: Int, held: Int, conflicts: [ReferenceConflict]) {
        let name = "machine \(machine.index)"
        machine.setTime()
        if settles { try daemon.replicator.inbox.bringBackHeldRows() }
        let known = try KnownChanges(daemon, of: machine.index, archive)
        let model = ReferenceModel(known.writes, schema: machine.schema)
        let content = try HistoryContent(schema: machine.schema, rows: machine.rows, entries: { known.ledger })
        let difference = HistoryContent.difference(HistoryContent(model), content)
        guard difference.isEmpty else {
            throw Violation(
                "P2",
                """
                \(name) differs from the model (- by the model, + in the file):
                \(difference.joined(separator: "\n"))
                what it knows:
                \(known.writes.map { "  \($0)" }.joined(separator: "\n"))
                """)
        }
        if let broken = model.brokenRules.first { throw Violation("P10", "\(name): \(broken)") }
        try checkIntegrity(name)
        try redeliver(known.batches, name)
        let migrated = known.writes.count { $0.migration != nil }
        return (known.writes.count, migrated, model.held.count, model.conflicts)
    }

    /// Delivers batches that are known. Nothing may change (P6).
    private func redeliver(_ batches: [ChangeBatch], _ name: String) throws {
        let view = FileView(machine: machine)
        let before = (try view.digest(), try view.number("SELECT max(seq) FROM _journal"))
        for batch in batches {
            let report = try daemon.replicator.inbox.receive(batch)
            guard report.applied == 0, report.staged == 0 else {
                throw Violation("P6", "\(name) applied changes again that it had: \(report)")
            }
        }
        let after = (try view.digest(), try view.number("SELECT max(seq) FROM _journal"))
        guard before == after else { throw Violation("P6", "\(name) changed when it got what it had") }
    }

    private func checkIntegrity(_ name: String) throws {
        let problems =
            try machine.rows("PRAGMA integrity_check").filter { $0.first != .text("ok") }
            + machine.rows("PRAGMA foreign_key_check")
        guard problems.isEmpty else {
            throw Violation(
                "P17",
                "\(name): SQLite finds \(problems.map { $0.map(\.plain).joined(separator: " ") }.joined(separator: ", "))"
            )
        }
    }
}
