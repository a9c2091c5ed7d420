import Journal

/// How concurrent changes of one row merge. Machines that share a table must agree on its policy; otherwise
/// their rows differ and `syncd verify` reports it.
public enum MergePolicy: Hashable, Sendable {
    /// Each column keeps its later change. This is the default.
    case column
    /// The later change of the row wins whole: the other columns are as its writer saw them.
    case row
    /// A function with that name merges the row; see ``ConflictFunctions``. A replica without that function
    /// holds such rows.
    case custom(String)

    /// Reads a policy as `--policy` spells it: `column`, `row` or `custom:NAME`; nil for any other text.
    public init?(text: String) {
        switch text {
        case "column": self = .column
        case "row": self = .row
        default:
            guard text.hasPrefix("custom:"), text.utf8.count > 7 else { return nil }
            self = .custom(String(text.dropFirst(7)))
        }
    }

    /// The policy as `--policy` spells it and as the file stores it; the inverse of ``init(text:)``.
    public var text: String {
        switch self {
        case .column: "column"
        case .row: "row"
        case .custom(let name): "custom:\(name)"
        }
    }
}

/// Functions that merge conflicting rows, by name.
///
/// Each function must be pure: the same two versions give the same row on every machine, independent of time,
/// machine and order of calls.
public struct ConflictFunctions: Sendable {
    /// A row by column name, without its key columns.
    public typealias Version = [String: Value]

    /// Merges two versions of one row.
    ///
    /// - Parameters:
    ///   - key: The primary key, by column name.
    ///   - earlier: The version with the earlier stamp.
    ///   - later: The other version.
    /// - Returns: The columns of the merged row; a column that is missing keeps its value of `later`.
    public typealias Function = @Sendable (_ key: Version, _ earlier: Version, _ later: Version) -> Version

    private var functions: [String: Function] = [:]

    /// Creates an empty set. Rows whose conflict needs a function are held (``HoldReason/policy``).
    public init() {}

    /// The function of this name (``MergePolicy/custom(_:)``); names are compared exactly. nil when none is
    /// registered.
    public subscript(name: String) -> Function? {
        get { functions[name] }
        set { functions[name] = newValue }
    }
}
