import GRDB

/// Which tables of a replica are tracked, and why others are not: what capture last found, read without
/// writing.
package struct TableCoverage: Sendable {
    /// The names of the tables that are captured and can take changes of peers, as this connection sees it.
    package private(set) var tracked: [String] = []
    /// All other tables and views, with the reason.
    package private(set) var untracked: [CaptureReport.Untracked] = []

    /// The tables whose rows do not replicate although nobody decided so.
    package var lost: [CaptureReport.Untracked] { untracked.filter(\.cause.losesRows) }

    /// - Parameter db: Any connection, also a read-only one.
    /// - Throws: ``JournalError/Code/corrupt`` when the journal cannot be read; errors of SQLite.
    package init(_ db: Database) throws {
        let registry = try ShapeRegistry(db)
        let policy = try TrackingPolicy(db)
        let isStale = try Capture.isStale(db)
        let tables = try TableInspection.all(db)
        let refusals = try db.withoutTriggersAndForeignKeys {
            try TableRefusals(tables, policy: policy, names: registry.names, db)
        }
        for table in tables {
            if let refusal = refusals[table.name] {
                untracked.append(.init(table: table.name, refusal))
            } else if let entry = registry.tracked(table: table.name) {
                // The last merge could not write it.
                guard entry.shownColumns == [] else {
                    tracked.append(table.name)
                    continue
                }
                untracked.append(.init(table: table.name, .needsProgram(nil)))
            } else if isStale {
                untracked.append(
                    .init(table: table.name, TableRefusal(.new, "it is new: the next contact with the file tracks it")))
            } else {
                // A read-only connection does not see CHECK constraints; capture did.
                untracked.append(.init(table: table.name, .needsProgram(nil)))
            }
        }
        untracked += try TableInspection.untrackable(db, policy: policy)
    }
}
