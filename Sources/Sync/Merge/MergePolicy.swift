import Journal

/// How rows of a table merge that were changed by writers who had not seen each other. Machines that share a table must
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

    /// As `--policy` spells it, and as the file keeps it; ``init(text:)`` is the inverse.
    public var text: String {
        switch self {
        case .column: "column"
        case .row: "row"
        case .custom(let name): "custom:\(name)"
        }
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

    /// No function: rows whose table wants one are held (``HoldReason/policy``).
    public init() {}

    /// The function of this name, as ``MergePolicy/custom(_:)`` names it, byte by byte; nil when none is registered.
    public subscript(name: String) -> Function? {
        get { functions[name] }
        set { functions[name] = newValue }
    }
}
