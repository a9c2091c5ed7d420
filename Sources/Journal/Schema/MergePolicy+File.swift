import GRDB

/// Reads and writes the policies of a file, `_journal_policies`.
extension MergePolicy {
    /// Returns the policies that were set, by folded table name. Every other table has
    /// ``MergePolicy/column``.
    ///
    /// - Throws: ``JournalError`` with `corrupt` for a policy that cannot be read; errors of SQLite.
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

    /// Sets the policy of a table in this file. Rows that were merged before stay as they are.
    ///
    /// - Parameters:
    ///   - policy: The policy from now on.
    ///   - table: The table's name in this file; names compare as SQLite compares them. The table need not
    ///     exist yet.
    ///   - db: A connection inside a write transaction.
    /// - Throws: Errors of SQLite; the policy is unchanged then.
    public static func set(_ policy: MergePolicy, table: String, _ db: Database) throws {
        try db.execute(
            sql: """
                INSERT INTO _journal_policies (name, policy) VALUES (?, ?)
                ON CONFLICT (name) DO UPDATE SET policy = excluded.policy
                """, arguments: [table, policy.text])
    }
}

/// The policies of a file's tables, by any name of a table.
package struct MergePolicies: Sendable {
    private let names: TableNames
    /// The policies by ``TableNames/folded(_:)``, which is equal for all names of a table.
    private let policies: [String: MergePolicy]

    /// Reads the policies in the snapshot of `db`.
    ///
    /// - Throws: ``JournalError`` with `corrupt` for a policy that cannot be read; errors of SQLite.
    package init(_ db: Database, names: TableNames) throws {
        self.names = names
        policies = Dictionary(
            try MergePolicy.all(db).sorted { $0.key < $1.key }.map { (names.folded($0.key), $0.value) },
            // When policies are set under two names of a table, every machine uses the same one.
            uniquingKeysWith: { first, _ in first })
    }

    /// The policy of a table; ``MergePolicy/column`` when none was set.
    package subscript(table: String) -> MergePolicy { policies[names.folded(table)] ?? .column }

    /// True when a policy was set for the table, be it ``MergePolicy/column``.
    package func isSet(_ table: String) -> Bool { policies[names.folded(table)] != nil }
}
