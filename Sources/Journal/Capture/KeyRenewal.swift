import Foundation
import GRDB

/// Rewrites stored keys after the collation of a table's key changed. Two spellings that were two keys may
/// then be one key, or the other way round.
struct KeyRenewal {
    let db: Database
    /// The shape of the table in this file, with its new collations.
    let entry: ShapeRegistry.Entry

    private static let conflictsPerPage = 500

    /// Rewrites the keys of lives, conflicts and held rows. Call it when all shapes have their new collations
    /// and derived state is materialized.
    func run() throws {
        let reader = try JournalReader(db)
        try renewLives(reader)
        try renewConflicts(reader)
        try renewHeld()
    }

    /// Sets the life of each key to the greatest life that the journal has of it. A life whose changes are
    /// compacted stays where it is.
    private func renewLives(_ reader: JournalReader) throws {
        // A table without lives has no deleted key, so the journal need not be read.
        let haveDied = try Bool.fetchOne(
            db, sql: "SELECT EXISTS (SELECT 1 FROM _journal_lives WHERE tbl = ?)", arguments: [entry.table])
        guard haveDied == true else { return }
        var space = ColumnSpace(columns: entry.shape.columns, keyCount: entry.shape.keyCount)
        let rows: [TableKey: MergedRow<Void>] = try reader.mergedRows(of: [entry.table]) { change in
            // A key that was never deleted needs no life.
            guard change.life > 1 else { return nil }
            return change.rowChange(in: space.translation(of: change.shape), isWanted: { _ in false }, cell: { _ in })
        }
        if try Horizon(db).isEmpty {
            try db.execute(sql: "DELETE FROM _journal_lives WHERE tbl = ?", arguments: [entry.table])
        }
        try Lives.write(rows.mapValues(\.life), db)
    }

    private func renewConflicts(_ reader: JournalReader) throws {
        var last: Int64 = 0
        while true {
            let rows = try Row.fetchAll(
                db,
                sql: """
                    SELECT id, lost_seq FROM _journal_conflicts WHERE tbl = ? AND id > ? ORDER BY id
                    LIMIT \(KeyRenewal.conflictsPerPage)
                    """, arguments: [entry.table, last])
            guard let end = rows.last else { return }
            last = end["id"]
            // The entries are read together, because each single read would scan all later runs.
            let entries = try reader.entries(at: rows.map { $0["lost_seq"] as Int64 })
            for row in rows {
                guard let lost = entries[row["lost_seq"] as Int64] else { continue }
                try db.execute(
                    sql: "UPDATE _journal_conflicts SET key = ? WHERE id = ?",
                    arguments: [Data(lost.key.bytes), row["id"] as Int64])
            }
        }
    }

    /// Rewrites the keys of held rows. When two held rows become one, one of them stays; the journal has the
    /// merged row, and Sync's backfill shows it.
    private func renewHeld() throws {
        let rows = try Row.fetchAll(
            db, sql: "SELECT id, image FROM _journal_held WHERE tbl = ?", arguments: [entry.table])
        for row in rows {
            guard let image = RowImage(encoded: Array(row["image"] as Data)[...]) else {
                throw JournalError(.corrupt, "A row of _journal_held cannot be read")
            }
            let values = entry.shape.keyColumns.compactMap { image.columns[$0] }
            guard values.count == entry.shape.keyCount else { continue }
            try db.execute(
                sql: "UPDATE OR REPLACE _journal_held SET key = ? WHERE id = ?",
                arguments: [Data(Key(values, collations: entry.collations).bytes), row["id"] as Int64])
        }
    }
}
