import GRDB

/// What merging does with a row whose foreign key leads to no row: the setting of a file. Decision 0034.
public enum ForeignKeyRule: String, Sendable, Hashable, CaseIterable {
    /// The row stays where it is: merging holds no row for a missing parent, and shows no substitute for one.
    case keep
    /// The row is held until its parent is there; with ON DELETE SET NULL or SET DEFAULT it shows that value.
    case enforce

    /// Returns the rule of a file. A file that names none was made by an earlier release, or by a program
    /// that leaves the choice open: ``enforce``.
    ///
    /// - Throws: ``JournalError/Code/corrupt`` for a rule that does not exist; errors of SQLite.
    public static func of(_ db: Database) throws -> ForeignKeyRule {
        // A file of an earlier release that is opened read-only lacks the column.
        guard try JournalSchema.columns(of: "_journal_replica", db).contains("foreign_keys") else { return .enforce }
        let text = try String.fetchOne(
            db.cachedStatement(sql: "SELECT foreign_keys FROM _journal_replica WHERE foreign_keys IS NOT NULL"))
        guard let text else { return .enforce }
        guard let rule = ForeignKeyRule(rawValue: text) else {
            throw JournalError(.corrupt, "The file has an unknown rule for foreign keys")
        }
        return rule
    }

    /// Makes this the rule of the file. Which rows are held follows at the next merge.
    ///
    /// - Parameter db: A connection inside a write transaction.
    /// - Throws: Errors of SQLite; nothing changes then.
    public func set(_ db: Database) throws {
        try db.execute(
            sql: "UPDATE _journal_replica SET foreign_keys = ?1 WHERE foreign_keys IS NOT ?1", arguments: [rawValue])
    }
}
