import GRDB
import Journal

/// How rows of a table merge that were changed by writers who had not seen each other (DESIGN 4.3). Machines that share a table must
/// agree on its policy, or their rows differ and `syncd verify` says so.
public enum MergePolicy: Hashable, Sendable {
    /// Of each column the later change stays: the default.
    case column
    /// Of each row the later change stays, with the other columns as its writer saw them.
    case row
    /// A function by that name decides, registered with ``ConflictFunctions``. Where it is not, such rows are held.
    case custom(String)

    /// As `--policy` spells it: `column`, `row`, `custom:NAME`.
    public init?(text: String) {
        switch text {
        case "column": self = .column
        case "row": self = .row
        default:
            guard text.hasPrefix("custom:"), text.utf8.count > 7 else { return nil }
            self = .custom(String(text.dropFirst(7)))
        }
    }

    public var text: String {
        switch self {
        case .column: "column"
        case .row: "row"
        case .custom(let name): "custom:\(name)"
        }
    }

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

/// Functions that decide conflicts of whole rows, by name.
///
/// Each must be pure: the same two versions give the same row on every machine, whatever the time, the machine or the order of calls.
public struct ConflictFunctions: Sendable {
    /// A row by column name, without its key columns.
    public typealias Version = [String: Value]

    /// Two versions of one row, and the row that shall be.
    ///
    /// - Parameters:
    ///   - key: The primary key, by column name.
    ///   - earlier: The version with the earlier stamp.
    ///   - later: The other.
    /// - Returns: The columns of the row; one that is missing stays as in `later`.
    public typealias Function = @Sendable (_ key: Version, _ earlier: Version, _ later: Version) -> Version

    private var functions: [String: Function] = [:]

    public init() {}

    public subscript(name: String) -> Function? {
        get { functions[name] }
        set { functions[name] = newValue }
    }
}
