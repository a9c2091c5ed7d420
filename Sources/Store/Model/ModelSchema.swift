import Journal

/// One column of a model.
public struct ColumnDescription: Hashable, Sendable {
    /// The column's name in the table.
    public let name: String
    /// The property's name in the model.
    public let property: String
    /// The property's type as written in the source.
    public let type: String
    /// True when the property is optional; NULL decodes as nil.
    public let isOptional: Bool

    /// Only the macro's code calls this.
    public init(_ name: String, property: String, type: String, isOptional: Bool) {
        self.name = name
        self.property = property
        self.type = type
        self.isOptional = isOptional
    }
}

/// A model's description of its table, at run time: `Person.schema`.
public final class ModelSchema: Sendable {
    /// The table's name, as written in the model.
    public let table: String
    /// The columns in the order of the source. The members with an underscore identify columns by their
    /// position here.
    public let columns: [ColumnDescription]
    /// Positions of the primary key in ``columns``; empty for a struct without one.
    public let key: [Int]

    /// The columns' names as SQL, quoted.
    let quotedColumns: [String]
    /// The table's name as SQL, quoted.
    let quotedTable: String
    /// The key as SQL: one quoted column, or a row value of several columns in parentheses.
    let quotedKey: String
    let select: String
    let selectByKey: String
    let insert: String
    let delete: String
    /// `key1 = ? AND key2 = ?`
    let keyCondition: String

    /// Only the macro's code calls this.
    ///
    /// - Parameters:
    ///   - table: The table's name, unquoted.
    ///   - columns: At least one column. Names must be unique.
    ///   - key: The positions of the key columns in `columns`, in the key's order; empty for a struct.
    public init(table: String, columns: [ColumnDescription], key: [Int]) {
        self.table = table
        self.columns = columns
        self.key = key
        let names = columns.map { SQLText.quote(identifier: $0.name) }
        let keys = key.map { names[$0] }
        let quoted = SQLText.quote(identifier: table)
        quotedColumns = names
        quotedTable = quoted
        quotedKey = keys.count == 1 ? keys[0] : "(\(keys.joined(separator: ", ")))"
        // Names are qualified because SQLite treats an unknown unqualified name in double quotes as a string
        // literal (https://sqlite.org/quirks.html#dblquote): a missing column would read as its own name.
        select = "SELECT \(names.map { "\(quoted).\($0)" }.joined(separator: ", ")) FROM \(quoted)"
        // An explicit ABORT overrides a conflict clause in the schema: REPLACE would delete other rows.
        insert =
            "INSERT OR ABORT INTO \(quoted) (\(names.joined(separator: ", "))) VALUES (\(names.map { _ in "?" }.joined(separator: ", ")))"
        keyCondition = keys.map { "\(quoted).\($0) = ?" }.joined(separator: " AND ")
        selectByKey = "\(select) WHERE \(keyCondition)"
        delete = "DELETE FROM \(quoted) WHERE \(keyCondition)"
    }

    /// The statement that updates these columns of one row; the key's parameters come last.
    func update(_ columns: [Int]) -> String {
        let assignments = columns.map { "\(quotedColumns[$0]) = ?" }
        return "UPDATE OR ABORT \(quotedTable) SET \(assignments.joined(separator: ", ")) WHERE \(keyCondition)"
    }

    /// A column as SQL, qualified by the quoted name of the table or of its alias.
    ///
    /// The qualifier is required: SQLite treats an unknown unqualified name in double quotes as a string
    /// literal.
    func qualified(_ column: Int, by table: String) -> String { "\(table).\(quotedColumns[column])" }

    /// All columns as SQL, for a SELECT of one model's rows.
    func selection(from table: String) -> String {
        columns.indices.map { qualified($0, by: table) }.joined(separator: ", ")
    }

    /// The key as SQL, for `IN` and `ORDER BY`: one column, or several separated by commas.
    func keyList(from table: String) -> String { key.map { qualified($0, by: table) }.joined(separator: ", ") }

    func names(_ columns: ColumnSet) -> [String] { columns.positions.map { self.columns[$0].name } }
}
