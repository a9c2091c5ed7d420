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
/// An index is known by its name, which is made of table and columns. An automatic schema drops an index that the model no
/// longer declares only when it made it.
public struct Index: Hashable, Codable, Sendable {
    /// Names of properties, or of columns.
    public let columns: [String]
    public let isUnique: Bool
    /// The SQL condition of a partial index; nil for all rows.
    public let condition: String?

    public init(_ columns: String..., unique: Bool = false, where condition: String? = nil) {
        self.columns = columns
        isUnique = unique
        self.condition = condition
    }

    /// The start of the names of all indexes that automatic schemas make.
    static let prefix = "model_"

    /// The name for an index on these columns of a table.
    func name(table: String, columns: [String]) -> String {
        var name = "\(Index.prefix)\(table)_\(columns.joined(separator: "_"))"
        if isUnique { name += "_unique" }
        // Another condition is another index.
        if let condition { name += "_\(FNV.hash(condition.utf8))" }
        return name
    }

    func sql(table: String, columns: [String]) -> String {
        let names = columns.map { SQLText.quote(identifier: $0) }.joined(separator: ", ")
        return
            "CREATE \(isUnique ? "UNIQUE " : "")INDEX \(SQLText.quote(identifier: name(table: table, columns: columns))) "
            + "ON \(SQLText.quote(identifier: table)) (\(names))" + (condition.map { " WHERE \($0)" } ?? "")
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
