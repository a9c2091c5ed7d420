import Foundation
import GRDB

/// Drops the held state of rows that local programs have rewritten.
///
/// A program does not see a held row, so it can insert a row with the same key. It can also change or delete
/// a row that shows substitutes. Such a change comes after the held state in the journal, so it is later than
/// all of it. The table alone does not show whether a program wrote the row: the program may have deleted it
/// again, or written the substitute itself. The journal shows it, and ``DerivedState`` visits each local
/// entry once.
struct HeldOverwrites {
    private let db: Database
    private let selection: RawStatement

    /// - Returns: nil when nothing is held.
    init?(_ db: Database) throws {
        guard try Bool.fetchOne(db, sql: "SELECT EXISTS (SELECT 1 FROM _journal_held)") == true else { return nil }
        self.db = db
        selection = try RawStatement(db, "SELECT id, shown, image FROM _journal_held WHERE tbl = ? AND key = ?")
    }

    /// Drops the held state that the cursor's entry overwrites.
    ///
    /// - Parameter cursor: A cursor on a local entry above `sealed_seq`.
    func note(_ cursor: JournalCursor) throws {
        let key = cursor.key
        guard let held = try row(table: cursor.entry.table, key: key) else { return }
        // The first local entry of a row that its table does not show is an insert, which carries every
        // column.
        guard held.isShown, cursor.operation == .update else { return try release(held.id) }
        guard var image = RowImage(encoded: held.image) else {
            throw JournalError(.corrupt, "A row of _journal_held cannot be read")
        }
        let shape = cursor.entry.shape
        let keys = Set(shape.keyColumns.map(SQLText.foldedName))
        var written: Set<String> = []
        try cursor.mask().forEach { written.insert(SQLText.foldedName(shape.columns[$0])) }
        let before = image.columns.count
        image.columns = image.columns.filter { name, _ in
            let name = SQLText.foldedName(name)
            return keys.contains(name) || !written.contains(name)
        }
        guard image.columns.count < before else { return }
        if image.columns.keys.allSatisfy({ keys.contains(SQLText.foldedName($0)) }) { return try release(held.id) }
        try db.execute(
            sql: "UPDATE _journal_held SET image = ? WHERE id = ?", arguments: [Data(image.encoded()), held.id])
    }

    private func row(table: Int64, key: Key) throws -> (id: Int64, isShown: Bool, image: Bytes)? {
        try selection.bind(table, at: 1)
        try selection.bind(.blob(key.bytes[...]), at: 2)
        defer { selection.reset() }
        guard try selection.step() else { return nil }
        return (selection.int64(0), selection.int64(1) == 1, Array(selection.bytes(2))[...])
    }

    private func release(_ id: Int64) throws {
        try db.execute(sql: "DELETE FROM _journal_held WHERE id = ?", arguments: [id])
    }
}
