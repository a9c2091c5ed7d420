import CSQLiteShim
import GRDB
import GRDBSQLite

/// Brings the tables of a copy to the state of an earlier time, from the journal in the copy.
///
/// Only rows with a later change are touched. A row that a constraint does not allow is left out: on the
/// machines of that time it was held as well.
struct TimeTravel {
    /// What was done.
    struct Outcome {
        /// Rows that differ from the copy.
        var changed: Int64 = 0
        /// Rows that do not fit the constraints.
        var refused: Int64 = 0
    }

    /// The time: later changes are undone.
    let time: Stamp

    /// - Throws: ``JournalError``: `invalid` for a time before the oldest change; `corrupt`; errors of
    ///   SQLite. The transaction must then be rolled back.
    func run(_ db: Database) throws -> Outcome {
        let reader = try JournalReader(db)
        let policies = try MergePolicies(db, names: reader.registry.names)
        var tables: [Int64: (inspection: TableInspection, rows: PastRows, later: [Key: [Value]])] = [:]
        for tracked in reader.registry.entries.values where tracked.isTracked {
            guard let inspection = try TableInspection.named(tracked.shape.table, db) else { continue }
            let rows = PastRows(inspection, policy: policies[inspection.name], own: reader.identity.origin)
            tables[tracked.table] = (inspection, rows, [:])
        }
        var oldest = Stamp(rawValue: .max)
        try reader.forEachEntry { entry in
            oldest = min(oldest, entry.stamp)
            if entry.stamp > time { tables[entry.tableID]?.later[entry.key] = Array(entry.keyValues) }
        }
        try reader.checkReach(of: time, oldest)
        // The second pass keeps in memory only rows that have a later change.
        try reader.forEachEntry { entry in
            guard entry.stamp <= time, tables[entry.tableID]?.later[entry.key] != nil else { return }
            tables[entry.tableID]?.rows.add(entry)
        }
        var outcome = Outcome()
        // All rows go first: one of them may have a UNIQUE value that another one had.
        for (inspection, _, later) in tables.values {
            let statement = try RawStatement(
                db,
                "DELETE FROM \(SQLText.quote(identifier: inspection.name)) WHERE \(inspection.keyCondition())")
            for key in later.values {
                for (index, value) in key.enumerated() { try statement.bind(value, at: Int32(index + 1)) }
                try statement.run()
            }
            outcome.changed += Int64(later.count)
        }
        for (inspection, rows, _) in tables.values {
            for row in rows.all.values where row.isAlive {
                if try !insert(row, into: inspection, db) { outcome.refused += 1 }
            }
        }
        return outcome
    }

    /// - Returns: False when a constraint does not allow the row.
    private func insert(_ row: PastRow, into table: TableInspection, _ db: Database) throws -> Bool {
        let stored = Set(table.stored.map { SQLText.foldedName($0.name) })
        let values =
            row.key
            + row.columns.map { (name: $0.name, value: $0.value) }.filter {
                stored.contains(SQLText.foldedName($0.name))
            }
        let names = values.map { SQLText.quote(identifier: $0.name) }.joined(separator: ", ")
        let marks = values.map { _ in "?" }.joined(separator: ", ")
        let statement = try RawStatement(
            db, "INSERT INTO \(SQLText.quote(identifier: table.name)) (\(names)) VALUES (\(marks))")
        for (index, value) in values.enumerated() { try statement.bind(value.value, at: Int32(index + 1)) }
        do {
            try statement.run()
            return true
        } catch let error as DatabaseError where error.resultCode == .SQLITE_CONSTRAINT {
            return false
        }
    }
}
