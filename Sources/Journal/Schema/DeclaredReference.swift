import GRDB

/// A column that refers to the rows of a table without a foreign key of the schema.
///
/// When a row gets another key, because two machines chose one key, what refers to it follows. Foreign keys
/// say what refers to a row, and so do these declarations. They say nothing about which rows may be visible.
/// All machines must declare the same: the values that tables show depend on it. `docs/CONFLICTS.md` has the
/// rules.
public struct DeclaredReference: Sendable, Hashable {
    /// The table with the column.
    public let table: String
    /// The column that holds keys of ``parent``, as numbers or as text.
    public let column: String
    /// The table whose keys SQLite chooses.
    public let parent: String

    /// - Parameters:
    ///   - table: The table with the column. Names compare as SQLite compares them.
    ///   - column: The column.
    ///   - parent: The table that it refers to.
    public init(table: String, column: String, parent: String) {
        self.table = table
        self.column = column
        self.parent = parent
    }

    /// Returns the declarations of a file, by table and column.
    ///
    /// - Throws: Errors of SQLite.
    public static func all(_ db: Database) throws -> [DeclaredReference] {
        // A file of an earlier release that is opened read-only lacks this table.
        guard try db.tableExists("_journal_references") else { return [] }
        return try Row.fetchAll(
            db.cachedStatement(sql: "SELECT tbl, column, parent FROM _journal_references ORDER BY tbl, column")
        ).map { DeclaredReference(table: $0["tbl"], column: $0["column"], parent: $0["parent"]) }
    }

    /// Declares the reference in this file, in place of an earlier declaration of the column. References in
    /// rows that are here follow at the next merge.
    ///
    /// - Parameter db: A connection inside a write transaction.
    /// - Throws: Errors of SQLite; nothing is declared then.
    public func declare(_ db: Database) throws {
        try db.execute(
            sql: """
                INSERT INTO _journal_references (tbl, column, parent) VALUES (?, ?, ?)
                ON CONFLICT (tbl, column) DO UPDATE SET parent = excluded.parent
                """, arguments: [table, column, parent])
    }

    /// Forgets the declaration of a column. References that have followed a row keep its new key.
    ///
    /// - Parameters:
    ///   - table: The table with the column.
    ///   - column: The column.
    ///   - db: A connection inside a write transaction.
    /// - Throws: Errors of SQLite; nothing changes then.
    public static func withdraw(table: String, column: String, _ db: Database) throws {
        try db.execute(
            sql: "DELETE FROM _journal_references WHERE tbl = ? AND column = ?", arguments: [table, column])
    }
}
