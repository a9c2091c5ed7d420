import GRDB
import Journal

/// A table as a model declares it.
struct DeclaredTable {
    struct Column {
        let name: String
        let storage: ColumnStorage
        let isOptional: Bool
        /// The property's default value; nil when there is none, or when it differs each time.
        let initialValue: Value?
        /// The default value as an SQL literal. A key column has none.
        let defaultSQL: String?
        /// The REFERENCES clause of the column; nil for none.
        let reference: String?
    }

    let name: String
    let columns: [Column]
    /// Positions in ``columns``.
    let key: [Int]
    let keySource: KeySource

    var keyNames: [String] { key.map { columns[$0].name } }

    init<M: Model>(_ type: M.Type, in db: GRDB.Database) throws {
        // Two instances, because a default value such as UUID() differs each time and cannot be a DEFAULT.
        let (first, second) = (M.Fields(), M.Fields())
        name = M.schema.table
        key = M.schema.key
        keySource = M.Fields._keySource
        let foreignKeys = try DeclaredTable.foreignKeys(of: type)
        columns = try M.schema.columns.indices.map { position in
            let column = M.schema.columns[position]
            var initial: Value?
            if !first._unset.contains(position) {
                let value = try DeclaredTable.encoded(first, position, column, M.schema.table)
                if value != .null, try value == DeclaredTable.encoded(second, position, column, M.schema.table) {
                    initial = value
                }
            }
            let isKey = M.schema.key.contains(position)
            return Column(
                name: column.name, storage: M.Fields._columns[position]._storage, isOptional: column.isOptional,
                initialValue: initial,
                defaultSQL: isKey ? nil : try initial.flatMap { try DeclaredTable.literal($0, db) },
                reference: foreignKeys[position]?.sql)
        }
    }

    /// The declared foreign keys by the positions of their columns.
    private static func foreignKeys<M: Model>(of type: M.Type) throws -> [Int: ForeignKey] {
        try M.foreignKeys.reduce(into: [:]) { keys, key in
            let column = M.schema.columns[key.position]
            if key.action == .setNull, !column.isOptional {
                throw StoreError(
                    .invalidSchema, "Deleting the other row cannot set \(column.property) to nil: it is not optional",
                    hint: "Make the reference optional, or choose another action in `foreignKeys`.",
                    table: M.schema.table, column: column.name)
            }
            keys[key.position] = key
        }
    }

    private static func encoded<F: ModelFields>(
        _ fields: F, _ position: Int, _ column: ColumnDescription, _ table: String
    ) throws -> Value {
        do {
            return try fields._value(position)
        } catch {
            throw StoreError(
                .invalidSchema, "The default value of \(column.property) cannot be stored: \(error)",
                hint: "Give the property another default value, or name a coding with @Column(as:) that can store it.",
                table: table, column: column.name)
        }
    }

    /// The value as an SQL literal, written by SQLite.
    private static func literal(_ value: Value, _ db: GRDB.Database) throws -> String? {
        // SQLite's `quote` ends a text at its first NUL.
        if case .text(let bytes) = value, bytes.contains(0) { return nil }
        return try PreparedStatement(db, "SELECT quote(?)").run { statement in
            try statement.parameters.bind(value: value, at: 0)
            guard try statement.step() else { return nil }
            return try String(column: ColumnCursor(statement: statement.handle, index: 0))
        }
    }

    // MARK: - SQL

    func definition(of column: Column) -> String {
        var sql = "\(SQLText.quote(identifier: column.name)) \(column.storage.rawValue)"
        if isRowidAlias(column) { return sql + " PRIMARY KEY" + (column.reference.map { " \($0)" } ?? "") }
        if !column.isOptional { sql += " NOT NULL" }
        if let literal = column.defaultSQL { sql += " DEFAULT \(literal)" }
        if let reference = column.reference { sql += " \(reference)" }
        return sql
    }

    /// The statement that creates the table.
    func create() -> String {
        var parts = columns.map { definition(of: $0) }
        let isRowid = key.count == 1 && isRowidAlias(columns[key[0]])
        if !isRowid {
            parts.append("PRIMARY KEY (\(keyNames.map { SQLText.quote(identifier: $0) }.joined(separator: ", ")))")
        }
        // STRICT makes SQLite enforce the model's types. WITHOUT ROWID stores a table with a composite key as
        // its own index.
        let options = key.count > 1 ? "STRICT, WITHOUT ROWID" : "STRICT"
        return
            "CREATE TABLE \(SQLText.quote(identifier: name)) (\(parts.joined(separator: ", "))) \(options)"
    }

    private func isRowidAlias(_ column: Column) -> Bool {
        key.count == 1 && columns[key[0]].name == column.name && column.storage == .integer
    }
}

extension ColumnStorage {
    /// True when a column declared with `type` stores values of this class unchanged, and no others where its table is
    /// STRICT
    /// (https://sqlite.org/datatype3.html#determination_of_column_affinity).
    func fits(declaredType type: String) -> Bool {
        let type = type.uppercased()
        if self == .any || type.isEmpty { return true }
        // Another program may write a value of any class there, which the property cannot read.
        if type == "ANY" { return false }
        if type.contains("INT") { return self == .integer }
        if ["CHAR", "CLOB", "TEXT"].contains(where: type.contains) { return self == .text }
        if type.contains("BLOB") { return self == .blob }
        if ["REAL", "FLOA", "DOUB"].contains(where: type.contains) { return self == .real }
        // NUMERIC affinity would convert a text of digits to a number.
        return self == .integer || self == .real
    }
}
