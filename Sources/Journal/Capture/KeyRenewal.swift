import Foundation
import GRDB

/// Makes what the file remembers by key follow, when the key of a table comes to compare otherwise than before: two spellings that were two
/// keys are one, or the other way round.
struct KeyRenewal {
    let db: Database
    /// The shape of the table here, with its new collations.
    let entry: ShapeRegistry.Entry

    private static let conflictsPerPage = 500

    /// Call it when the shapes have their new collations, and no local entry waits for its seal.
    func run() throws {
        let reader = try JournalReader(db)
        try renewLives(reader)
        try renewConflicts(reader)
        try renewHeld()
    }

    /// A life is the greatest that the journal has of the key.
    private func renewLives(_ reader: JournalReader) throws {
        // Where no key has ever died, the journal need not be read.
        let haveDied = try Bool.fetchOne(
            db, sql: "SELECT EXISTS (SELECT 1 FROM _journal_lives WHERE tbl = ?)", arguments: [entry.table])
        guard haveDied == true else { return }
        var lives: [LocalFold.TableKey: Int64] = [:]
        try reader.scan(tables: [entry.table]) { change in
            guard change.life > 1 else { return }
            let key = LocalFold.TableKey(table: entry.table, key: change.key)
            lives[key] = max(lives[key] ?? 1, change.life)
        }
        try db.execute(sql: "DELETE FROM _journal_lives WHERE tbl = ?", arguments: [entry.table])
        try Lives.write(lives, db)
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
            // One by one, each would look through all runs behind it.
            let entries = try reader.entries(at: rows.map { $0["lost_seq"] as Int64 })
            for row in rows {
                guard let lost = entries[row["lost_seq"] as Int64] else { continue }
                try db.execute(
                    sql: "UPDATE _journal_conflicts SET key = ? WHERE id = ?",
                    arguments: [Data(lost.key.bytes), row["id"] as Int64])
            }
        }
    }

    /// Of two held rows that are one now the journal says what they are together: ``Sync`` joins the table anew.
    private func renewHeld() throws {
        let rows = try Row.fetchAll(
            db, sql: "SELECT id, image FROM _journal_held WHERE tbl = ?", arguments: [entry.table])
        for row in rows {
            guard let image = RowImage(encoded: Array(row["image"] as Data)[...]) else {
                throw JournalError(.corrupt, "a row of _journal_held cannot be read")
            }
            let values = entry.shape.keyColumns.compactMap { image.columns[$0] }
            guard values.count == entry.shape.keyCount else { continue }
            try db.execute(
                sql: "UPDATE OR REPLACE _journal_held SET key = ? WHERE id = ?",
                arguments: [Data(Key(values, collations: entry.collations).bytes), row["id"] as Int64])
        }
    }
}
