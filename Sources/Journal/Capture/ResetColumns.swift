import GRDB

/// Finds the columns that were dropped and added again under the same name, between two contacts with the
/// file.
///
/// Neither the table's schema nor the triggers show it when the columns are the last of their table, but the
/// rows do: each has the column's default, and no entry says so.
struct ResetColumns {
    /// How many entries that the last contact saw are looked at, for all tables together.
    private static let budget: Int64 = 200_000

    private let table: TableInspection
    private let entry: ShapeRegistry.Entry
    private let shapes: [ShapeRegistry.Entry]
    private let sealed: Int64
    /// Entries up to this position are not looked at.
    private let floor: Int64
    private let db: Database

    /// - Parameters:
    ///   - entry: The shape of the table now, with the key of the last contact.
    ///   - sealed: `sealed_seq` at the last contact.
    init(
        _ table: TableInspection, entry: ShapeRegistry.Entry, _ registry: ShapeRegistry, after sealed: Int64,
        _ db: Database
    ) {
        self.table = table
        self.entry = entry
        self.sealed = sealed
        self.db = db
        let tables = Int64(registry.entries.values.count { $0.isTracked })
        floor = sealed - max(10_000, Self.budget / max(1, tables))
        shapes = registry.entries.values.filter { $0.table == entry.table && $0.shape.hasKey(of: entry.shape) }
    }

    /// Returns the reset columns, as indices of ``TableInspection/stored``. Only the last ones can be, and
    /// those before new ones: ADD COLUMN appends
    /// (https://sqlite.org/lang_altertable.html#alter_table_add_column).
    ///
    /// - Parameter fresh: The columns that the last contact did not see at their place.
    /// - Throws: Errors of SQLite.
    func find(besides fresh: Set<Int>) throws -> Set<Int> {
        var found: Set<Int> = []
        for index in table.stored.indices.dropFirst(table.keyCount).reversed() where !fresh.contains(index) {
            guard try isReset(index) else { break }
            found.insert(index)
        }
        return found
    }

    /// True when rows have the default where the newest entry of their column has another value, and no row
    /// still has the value of an entry that the last contact saw.
    private func isReset(_ index: Int) throws -> Bool {
        let column = table.stored[index]
        // ADD COLUMN refuses other defaults in a table that has rows.
        guard column.hasLiteralDefault else { return false }
        var seen: Set<[DatabaseValue]> = []
        var isAnyGone = false
        let rows = try Row.fetchCursor(db, sql: sql(for: index, column))
        while let row = try rows.next() {
            let position: Int64 = row[0]
            let isSealed = position <= sealed
            guard seen.insert(Array(row.databaseValues.dropFirst(3))).inserted else { continue }
            let isSame: Bool = row[1]
            let isDefault: Bool = row[2]
            if isDefault { isAnyGone = isAnyGone || !isSame }
            if isSealed, isSame, !isDefault { return false }
        }
        return isAnyGone
    }

    /// The entries that carry the column, newest first: position, whether the row has the entry's value,
    /// whether it has the default, and the key.
    private func sql(for index: Int, _ column: TableInspection.Column) -> String {
        let name = SQLText.foldedName(column.name)
        var values = ""
        var carries: [String] = []
        for shape in shapes {
            guard let place = shape.shape.columns.firstIndex(where: { SQLText.foldedName($0) == name }) else {
                continue
            }
            let mask = JournalSchema.maskColumn(place / ColumnMask.bitsPerWord)
            let bit = Int64(1) << Int64(place % ColumnMask.bitsPerWord)
            values += " WHEN \(shape.id) THEN j.v\(place)"
            carries.append(
                "j.shape = \(shape.id) AND (j.op = \(Operation.insert.rawValue) OR j.op = \(Operation.update.rawValue) AND j.\(mask) & \(bit))"
            )
        }
        guard !carries.isEmpty else { return "SELECT 0 WHERE 0" }
        let row = "t.\(SQLText.quote(identifier: column.name))"
        let keys = (0..<table.keyCount).map { "j.v\($0)" }
        let sameKey = zip(keys, table.stored).map { "t.\(SQLText.quote(identifier: $1.name)) = \($0)" }
        return """
            SELECT j.seq, \(row) IS (CASE j.shape\(values) END) COLLATE BINARY, \(row) COLLATE BINARY IS (\(column.defaultExpression ?? "NULL")),
              \(keys.joined(separator: ", "))
            FROM _journal AS j CROSS JOIN \(SQLText.quote(identifier: table.name)) AS t ON \(sameKey.joined(separator: " AND "))
            WHERE j.seq > \(floor) AND (\(carries.map { "(\($0))" }.joined(separator: " OR "))) ORDER BY j.seq DESC
            """
    }
}
