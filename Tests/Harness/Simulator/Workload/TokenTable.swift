import Journal
import MergeModel

/// The table `token`: its rows are written once and never changed, so that each shows whether its transaction
/// is there, and whether it is complete.
enum TokenTable {
    static let name = "token"
    static let sql = """
        CREATE TABLE token (id INTEGER NOT NULL PRIMARY KEY, txn INTEGER NOT NULL, size INTEGER NOT NULL)
        """

    static let reference = ReferenceTable(
        name: name,
        columns: ["id", "txn", "size"].map { ReferenceColumn(name: $0, isNotNull: true) })

    /// The transaction that wrote the token with that key.
    static func transaction(of id: Int64) -> Int { Int(id / 1_000) }

    /// - Returns: The statement that writes the `count` tokens of transaction `txn`.
    static func insert(txn: Int, count: Int) -> String {
        let rows = (0..<count).map { "(\(txn * 1_000 + $0), \(txn), \(count))" }
        return "INSERT INTO token VALUES \(rows.joined(separator: ", "))"
    }
}
