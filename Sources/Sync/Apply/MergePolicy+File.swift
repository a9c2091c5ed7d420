import GRDB
import Journal

/// `_journal_policies`.
extension MergePolicy {
    /// The policies other than the default, by folded table name.
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
    public static func set(_ policy: MergePolicy, table: String, _ db: Database) throws {
        try db.execute(
            sql: """
                INSERT INTO _journal_policies (name, policy) VALUES (?, ?)
                ON CONFLICT (name) DO UPDATE SET policy = excluded.policy
                """, arguments: [table, policy.text])
    }
}
