import GRDB
import Journal

/// `_journal_policies`.
extension MergePolicy {
    /// The policies that were set, by folded table name; ``MergePolicy/column`` holds for every other table.
    ///
    /// - Throws: ``JournalError`` with `corrupt` for a policy that does not read; errors of SQLite.
    public static func all(_ db: Database) throws -> [String: MergePolicy] {
        let rows = try Row.fetchAll(db, sql: "SELECT name, policy FROM _journal_policies")
        return try Dictionary(
            rows.map { row in
                let text: String = row["policy"]
                guard let policy = MergePolicy(text: text) else {
                    throw JournalError(.corrupt, "\(text) in _journal_policies is no policy")
                }
                return (SQLText.foldedName(row["name"]), policy)
            }, uniquingKeysWith: { first, _ in first })
    }

    /// Sets the policy of a table in this file. What was merged before stays as it is.
    ///
    /// - Parameters:
    ///   - table: Its name here, compared as SQLite compares names. It need not be there yet.
    ///   - db: A connection inside of a write transaction.
    /// - Throws: Errors of SQLite; the policy is as before then.
    public static func set(_ policy: MergePolicy, table: String, _ db: Database) throws {
        try db.execute(
            sql: """
                INSERT INTO _journal_policies (name, policy) VALUES (?, ?)
                ON CONFLICT (name) DO UPDATE SET policy = excluded.policy
                """, arguments: [table, policy.text])
    }
}
