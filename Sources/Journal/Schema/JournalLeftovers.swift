import GRDB

/// What is left of a journal in a file that is no replica.
///
/// A migration tool that drops the tables it does not know leaves the triggers, which write tables that are
/// gone. A file that was made from the `.schema` of a replica has triggers and empty tables. In both, `init`
/// begins anew.
package struct JournalLeftovers: Sendable {
    private let triggers: [String]
    private let tables: [String]

    /// Finds what is left. Use it where ``Identity`` says `notAReplica`.
    ///
    /// - Throws: Errors of SQLite.
    package init(_ db: Database) throws {
        triggers = try String.fetchAll(
            db,
            sql: """
                SELECT name FROM main.sqlite_master
                WHERE type = 'trigger' AND name LIKE '\\_journal\\_%' ESCAPE '\\' AND sql LIKE '%\\_journal%' ESCAPE '\\'
                """)
        var found: [String] = []
        for (name, sql) in Array(JournalSchema.tables) {
            let stored = try String.fetchOne(
                db, sql: "SELECT sql FROM main.sqlite_master WHERE type = 'table' AND name = ?", arguments: [name])
            if let stored, JournalLeftovers.beginning(of: stored) == JournalLeftovers.beginning(of: sql) {
                found.append(name)
            }
        }
        tables = found
    }

    /// True when nothing is left.
    package var isEmpty: Bool { triggers.isEmpty && tables.isEmpty }

    /// Drops everything that is left.
    ///
    /// - Returns: The numbers of triggers and tables that were dropped.
    /// - Throws: Errors of SQLite; the transaction must then be rolled back.
    @discardableResult
    func remove(_ db: Database) throws -> (triggers: Int, tables: Int) {
        for name in triggers { try db.execute(sql: "DROP TRIGGER main.\(SQLText.quote(identifier: name))") }
        for name in tables { try db.execute(sql: "DROP TABLE main.\(SQLText.quote(identifier: name))") }
        return (triggers.count, tables.count)
    }

    /// The first words of a statement. They tell a table of Tandem from one of the user with the same name;
    /// columns may have been added at its end.
    private static func beginning(of sql: String) -> [String] {
        SQLToken.scan(sql).prefix(9).map { SQLText.foldedName($0.name) }
    }
}
