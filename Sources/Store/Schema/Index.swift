import Journal

/// An index that a model declares, kept by an automatic schema.
///
/// ```swift
/// @Model
/// final class Person {
///     var id: Int64
///     var email: String = ""
///     var lastName: String = ""
///     var firstName: String = ""
///
///     static let indexes = [Index("email", unique: true), Index("lastName", "firstName")]
/// }
/// ```
///
/// An index is known by its table, its columns and what else is declared here; its name, which is made of them, is the schema's
/// affair, and one that is declared twice is one index. An automatic schema drops an index that the model no longer declares only
/// when it made it.
public struct Index: Hashable, Codable, Sendable {
    /// Names of properties, or of columns.
    public let columns: [String]
    /// True when no two rows may hold the same values; NULL is the same as nothing, not even NULL.
    public let isUnique: Bool
    /// The SQL condition of a partial index; nil for all rows.
    public let condition: String?

    /// - Parameters:
    ///   - columns: Names of properties, or of columns: one or more, the one that queries ask for most first. Opening
    ///     throws ``StoreError/Code/invalidSchema`` for none, ``StoreError/Code/missingColumn`` for one that the model
    ///     does not have.
    ///   - unique: True to refuse rows with equal values. Opening throws ``StoreError/Code/unique`` when there are such
    ///     rows.
    ///   - condition: Which rows are indexed, as SQL over the table's columns (https://sqlite.org/partialindex.html);
    ///     nil for all.
    public init(_ columns: String..., unique: Bool = false, where condition: String? = nil) {
        self.columns = columns
        isUnique = unique
        self.condition = condition
    }

    /// The start of the names of all indexes that automatic schemas make.
    static let prefix = "model_"

    /// The usual name for an index on these columns of a table.
    func name(table: String, columns: [String]) -> String {
        var name = "\(Index.prefix)\(table)_\(columns.joined(separator: "_"))"
        if isUnique { name += "_unique" }
        // Another condition is another index.
        if let condition { name += "_\(FNV.hash(condition.utf8))" }
        return name
    }

    /// The statement that makes it.
    func sql(_ name: String, table: String, columns: [String]) -> String {
        Index.sql(name, table: table, columns: columns, isUnique: isUnique) + (condition.map { " WHERE \($0)" } ?? "")
    }

    /// The statement for an index of all rows, in the one form in which automatic schemas write it.
    private static func sql(_ name: String, table: String, columns: [String], isUnique: Bool) -> String {
        let names = columns.map { SQLText.quote(identifier: $0) }.joined(separator: ", ")
        return "CREATE \(isUnique ? "UNIQUE " : "")INDEX \(SQLText.quote(identifier: name)) "
            + "ON \(SQLText.quote(identifier: table)) (\(names))"
    }

    /// True for an index that an automatic schema has made: its name begins as theirs do, and its statement is word by word the one
    /// that they write. SQLite keeps the statement, and puts new names of table and columns in the place of the old.
    static func isOurs(_ sql: String, name: String, table: String, columns: [String], isUnique: Bool) -> Bool {
        guard name.hasPrefix(prefix) else { return false }
        let statement = SQLText.foldedName(Index.sql(name, table: table, columns: columns, isUnique: isUnique))
        let found = SQLText.foldedName(sql)
        return found == statement || found.hasPrefix(statement + " where ")
    }
}

/// The hash of Fowler, Noll and Vo in its 1a form of 64 bits (http://www.isthe.com/chongo/tech/comp/fnv/): the same in every
/// process, unlike Swift's.
enum FNV {
    static func hash(_ bytes: some Sequence<UInt8>) -> String {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        return String(hash, radix: 36)
    }
}
