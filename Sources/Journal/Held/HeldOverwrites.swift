import Foundation
import GRDB

/// Drops the held state of rows that local programs have rewritten.
///
/// A program does not see a held row, so it can insert a row with the same key. It can also change or delete
/// a row that shows substitutes. Such a change comes after the held state in the journal, so it is later than
/// all of it. The table alone does not show whether a program wrote the row: the program may have deleted it
/// again, or written the substitute itself. The journal shows it, and ``DerivedState`` visits each local
/// entry once.
///
/// A key change is written as a delete and an insert of the row as its table shows it, with the substitutes.
/// So the values that these stand for follow as a change of this machine: ``finish(_:)``.
///
/// An insert whose key SQLite chose makes a row besides the held one (``CoveringInserts``). The held row
/// comes back under another key when the claims on the key are settled.
///
/// Other held rows may have given way to such a row. What the file notes in `_journal_replica.checked_held`
/// is cleared, so that the next merge evaluates all held rows.
final class HeldOverwrites {
    private let db: Database
    private let selection: RawStatement
    /// The substituted row whose key the last visited entry changed; the next entry is its insert.
    private var leaving: (seq: Int64, row: Substituted)?
    private var arrived: [(key: Key, entry: ShapeRegistry.Entry, seq: Int64, row: Substituted)] = []

    /// What the file holds of a row with substitutes.
    private struct Substituted {
        let id: Int64
        let reason: String
        let detail: String
        let image: RowImage
    }

    /// - Returns: nil when nothing is held.
    init?(_ db: Database) throws {
        guard try Bool.fetchOne(db, sql: "SELECT EXISTS (SELECT 1 FROM _journal_held)") == true else { return nil }
        self.db = db
        selection = try RawStatement(
            db, "SELECT id, shown, image, reason, detail FROM _journal_held WHERE tbl = ? AND key = ?")
    }

    /// Drops the held state that the cursor's entry overwrites.
    ///
    /// - Parameter cursor: A cursor on a local entry above `sealed_seq`.
    func note(_ cursor: JournalCursor) throws {
        let key = cursor.key
        if let leaving, cursor.operation == .insert, cursor.seq == leaving.seq + 1 {
            arrived.append((key, cursor.entry, cursor.seq, leaving.row))
        }
        leaving = nil
        guard let held = try row(table: cursor.entry.table, key: key) else { return }
        if cursor.isCovering {
            try CoveringInserts.note(cursor.seq, db)
            try MintedClaims.State.renew(db)
        }
        // The first local entry of a row that its table does not show is an insert, which carries every
        // column.
        guard held.isShown, cursor.operation == .update || cursor.isKeyChange else { return try release(held.row.id) }
        if cursor.isKeyChange {
            leaving = (cursor.seq, held.row)
            return try release(held.row.id)
        }
        var image = held.row.image
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
        if image.columns.keys.allSatisfy({ keys.contains(SQLText.foldedName($0)) }) {
            return try release(held.row.id)
        }
        try db.execute(
            sql: "UPDATE _journal_held SET image = ? WHERE id = ?", arguments: [Data(image.encoded()), held.row.id])
        try clearCheck()
    }

    /// Journals what the substitutes of rows with a new key stand for.
    ///
    /// - Parameter fold: Folds the entries that this has appended. Only then are the rows held again, because
    ///   the entries would count as changes of the rows by a program.
    func finish(_ fold: () throws -> Void) throws {
        var moved: [(entry: ShapeRegistry.Entry, key: Key, row: Substituted, image: RowImage)] = []
        for (key, entry, seq, row) in arrived {
            guard try self.row(table: entry.table, key: key) == nil,
                let (values, columns) = try substituted(row, in: entry, at: seq)
            else { continue }
            var image = RowImage()
            for column in Array(0..<entry.shape.keyCount) + columns {
                image.columns[entry.shape.columns[column]] = values[column]
            }
            try LocalEntry.update(values, columns: columns, entry).append(db)
            moved.append((entry, key, row, image))
        }
        guard !moved.isEmpty else { return }
        try fold()
        for (entry, key, row, image) in moved {
            try db.execute(
                sql: "INSERT INTO _journal_held (tbl, key, reason, detail, image, shown) VALUES (?, ?, ?, ?, ?, 1)",
                arguments: [entry.table, Data(key.bytes), row.reason, row.detail, Data(image.encoded())])
        }
    }

    /// The values of the row that an insert at `seq` made of a substituted one, and the columns that still
    /// have their substitutes.
    ///
    /// - Returns: nil when there are none, and when the row has been changed or deleted again.
    private func substituted(
        _ row: Substituted, in entry: ShapeRegistry.Entry, at seq: Int64
    ) throws -> (values: [Value], columns: [Int])? {
        let shape = entry.shape
        let written = try RawStatement(
            db, "SELECT \(shape.columns.indices.map { "v\($0)" }.joined(separator: ", ")) FROM _journal WHERE seq = ?")
        try written.bind(seq, at: 1)
        guard try written.step() else { return nil }
        var values = shape.columns.indices.map { written.column(Int32($0)) }
        guard let table = try TableInspection.named(shape.table, db), table.shape == shape else { return nil }
        // The present row: the program may have written it again.
        let present = try RawStatement(
            db,
            "SELECT \(shape.columns.map { SQLText.quote(identifier: $0) }.joined(separator: ", ")) FROM "
                + "\(SQLText.quote(identifier: shape.table)) WHERE \(table.keyCondition("IS ?"))")
        for column in 0..<shape.keyCount { try present.bind(values[column], at: Int32(column + 1)) }
        guard try present.step() else { return nil }
        var columns: [Int] = []
        for column in shape.columns.indices.dropFirst(shape.keyCount) {
            let name = SQLText.foldedName(shape.columns[column])
            guard let value = row.image.columns.first(where: { SQLText.foldedName($0.key) == name })?.value,
                present.column(Int32(column)) == values[column],
                try values[column] == .null || values[column] == table.stored[column].defaultValue(db)
            else { continue }
            values[column] = value
            columns.append(column)
        }
        return columns.isEmpty ? nil : (values, columns)
    }

    private func row(table: Int64, key: Key) throws -> (row: Substituted, isShown: Bool)? {
        try selection.bind(table, at: 1)
        try selection.bind(.blob(key.bytes[...]), at: 2)
        defer { selection.reset() }
        guard try selection.step() else { return nil }
        guard let image = RowImage(encoded: Array(selection.bytes(2))[...]) else {
            throw JournalError(.corrupt, "A row of _journal_held cannot be read")
        }
        return (
            Substituted(
                id: selection.int64(0), reason: selection.string(3), detail: selection.string(4), image: image),
            selection.int64(1) == 1
        )
    }

    private func release(_ id: Int64) throws {
        try db.execute(sql: "DELETE FROM _journal_held WHERE id = ?", arguments: [id])
        try clearCheck()
    }

    private func clearCheck() throws {
        try db.execute(sql: "UPDATE _journal_replica SET checked_held = NULL WHERE checked_held IS NOT NULL")
    }
}
