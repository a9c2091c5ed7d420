import Journal

/// An index that a model declares and an automatic schema maintains.
///
/// ```swift
/// @Model
/// final class Person {
///     var id: Int64
///     var email: String = ""
///     var lastName: String = ""
///     var firstName: String = ""
///
///     static let indexes = [Index(\.email, unique: true), Index("lastName", "firstName")]
/// }
/// ```
///
/// An index is identified by its table, its columns and its other options. The automatic schema derives its
/// name from them. A repeated declaration is one index. When the model declares an index no more, the
/// automatic schema drops it only if it created it.
public struct Index: Hashable, Codable, Sendable {
    /// Names of properties or columns.
    public let columns: [String]
    /// True when no two rows may hold the same values. NULL differs from every value, including NULL.
    public let isUnique: Bool
    /// The SQL condition of a partial index; nil for all rows.
    public let condition: String?

    /// Creates the declaration of an index.
    ///
    /// - Parameters:
    ///   - columns: One or more names of properties or columns, beginning with the one that most queries use.
    ///     Opening throws ``StoreError/Code/invalidSchema`` for an index without columns, and
    ///     ``StoreError/Code/missingColumn`` for a name that the model does not have.
    ///   - unique: True to refuse rows with equal values. Opening throws ``StoreError/Code/unique`` when such
    ///     rows exist.
    ///   - condition: The condition of a partial index, as SQL over the table's columns
    ///     (https://sqlite.org/partialindex.html); nil for all rows.
    public init(_ columns: String..., unique: Bool = false, where condition: String? = nil) {
        self.init(names: columns, unique: unique, where: condition)
    }

    init(names: [String], unique: Bool, where condition: String?) {
        columns = names
        isUnique = unique
        self.condition = condition
    }

    /// Creates the declaration of an index on columns that the compiler checks. In the body of a model,
    /// `Index(\.lastName, \.firstName)` is enough; elsewhere the paths name the model:
    /// `Index(\Person.Columns.lastName)`, with the struct that `@Model` adds to the class.
    ///
    /// - Parameters:
    ///   - columns: One or more columns, beginning with the one that most queries use.
    ///   - unique: True to refuse rows with equal values. Opening throws ``StoreError/Code/unique`` when such
    ///     rows exist.
    ///   - condition: The condition of a partial index, as SQL; nil for all rows.
    public init<M: TableModel, each V>(
        _ columns: repeat ColumnPath<M, each V>, unique: Bool = false, where condition: String? = nil
    ) {
        var names: [String] = []
        for column in repeat each columns { names.append(M.columns[keyPath: column].name) }
        self.init(names: names, unique: unique, where: condition)
    }

    /// The prefix of the names of all indexes that automatic schemas create.
    static let prefix = "model_"

    /// The usual name of an index on these columns of a table.
    func name(table: String, columns: [String]) -> String {
        var name = "\(Index.prefix)\(table)_\(columns.joined(separator: "_"))"
        if isUnique { name += "_unique" }
        // A different condition gives a different index.
        if let condition { name += "_\(Checksum.text(condition.utf8))" }
        return name
    }

    /// The statement that creates the index.
    func sql(_ name: String, table: String, columns: [String]) -> String {
        Index.sql(name, table: table, columns: columns, isUnique: isUnique) + (condition.map { " WHERE \($0)" } ?? "")
    }

    /// The statement for an index of all rows, in the only form in which automatic schemas write it.
    private static func sql(_ name: String, table: String, columns: [String], isUnique: Bool) -> String {
        let names = columns.map { SQLText.quote(identifier: $0) }.joined(separator: ", ")
        return "CREATE \(isUnique ? "UNIQUE " : "")INDEX \(SQLText.quote(identifier: name)) "
            + "ON \(SQLText.quote(identifier: table)) (\(names))"
    }

    /// True for an index that an automatic schema has created: its name has their prefix, and its statement
    /// is exactly the one that they write. SQLite keeps the statement, and updates it when the table or
    /// columns are renamed.
    static func isOurs(_ sql: String, name: String, table: String, columns: [String], isUnique: Bool) -> Bool {
        guard name.hasPrefix(prefix) else { return false }
        let statement = SQLText.foldedName(Index.sql(name, table: table, columns: columns, isUnique: isUnique))
        let found = SQLText.foldedName(sql)
        return found == statement || found.hasPrefix(statement + " where ")
    }
}
