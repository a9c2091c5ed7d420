import Foundation
import GRDB

/// A row of `_journal_held` with its table, as decisions about it need it.
struct HeldRecord {
    let id: Int64
    let key: Data
    let reason: String
    let detail: String
    var image: RowImage
    /// True when the table shows the row with a substitute for a missing parent.
    let isShown: Bool
    let table: TableInspection
    /// The shape that new entries of the table have.
    let shape: ShapeRegistry.Entry

    /// - Throws: ``JournalError``: `unknownHeldRow`; `unknownTable` when the row's table is not tracked any
    ///   more; `corrupt`. Errors of SQLite.
    init(_ id: Int64, _ registry: ShapeRegistry, _ db: Database) throws {
        let row = try Row.fetchOne(
            db, sql: "SELECT tbl, key, reason, detail, image, shown FROM _journal_held WHERE id = ?", arguments: [id])
        guard let row else {
            throw JournalError(.unknownHeldRow, "No held row has the number \(id)", hint: "`syncd held` lists them.")
        }
        let bytes: Data = row["image"]
        guard let image = RowImage(encoded: Array(bytes)[...]) else {
            throw JournalError(.corrupt, "A row of _journal_held cannot be read")
        }
        guard let shape = registry.tracked(tableID: row["tbl"]),
            let table = try TableInspection.named(shape.shape.table, db), table.shape == shape.shape,
            table.key(of: image) != nil
        else {
            throw JournalError(
                .unknownTable, "The table of the held row \(id) is not tracked",
                hint: "`syncd init` tracks it again, or says why not.")
        }
        self.id = id
        key = row["key"]
        reason = row["reason"]
        detail = row["detail"]
        self.image = image
        isShown = row["shown"]
        self.table = table
        self.shape = shape
    }

    /// The values of the primary key.
    var keyValues: [Value] { table.key(of: image) ?? [] }

    /// The values in the order of the table's ``TableInspection/stored``; NULL where the image has none.
    var values: [Value] { table.stored.indices.map { image[table, $0] ?? .null } }

    /// Writes the row to `_journal_held` again, under its number.
    func insert(_ db: Database) throws {
        try db.execute(
            sql: "INSERT INTO _journal_held (id, tbl, key, reason, detail, image, shown) VALUES (?, ?, ?, ?, ?, ?, ?)",
            arguments: [id, shape.table, key, reason, detail, Data(image.encoded()), isShown])
    }

    /// Takes the row out of `_journal_held`.
    func delete(_ db: Database) throws {
        try db.execute(sql: "DELETE FROM _journal_held WHERE id = ?", arguments: [id])
    }
}
