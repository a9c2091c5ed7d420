import GRDB

/// The mark of a leaf: a replica that has some tables only.
///
/// Its vector covers all changes of its cluster, and it has those of its tables. It never gives others what it got
/// from others. The mark is part of the file from its making on, so copies have it as well.
package struct LeafMark: Sendable, Hashable {
    /// The tables that it has.
    package let scope: TableScope
    /// The numbers of the origins that the file knew when it was made; what these wrote may be hidden here. Greater
    /// numbers are identities that the file took later, and what others wrote later.
    package let knownOrigins: Int64

    package init(_ scope: TableScope, knownOrigins: Int64) {
        self.scope = scope
        self.knownOrigins = knownOrigins
    }

    /// Reads the mark from the row of `_journal_replica`; nil in a file that is no leaf.
    ///
    /// - Throws: ``JournalError/Code/corrupt`` when it cannot be read.
    init?(_ row: Row) throws {
        // Files of an earlier release lack these columns.
        guard let text: String = row["leaf"] else { return nil }
        guard let scope = TableScope(try NameList.decode(text)) else {
            throw JournalError(
                .corrupt, "The file is marked as one that has some tables only, and names none",
                hint: "Make it anew with `syncd clone`.")
        }
        self.init(scope, knownOrigins: row["leaf_origins"] ?? 0)
    }

    /// Marks the file.
    ///
    /// - Throws: Errors of SQLite.
    package func write(_ db: Database) throws {
        try db.execute(
            sql: "UPDATE _journal_replica SET leaf = ?, leaf_origins = ?",
            arguments: [NameList.encode(scope.tables), knownOrigins])
    }
}
