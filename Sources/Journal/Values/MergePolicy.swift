/// How concurrent changes of one row merge. Machines that share a table must agree on its policy; otherwise
/// their rows differ and `syncd verify` reports it.
public enum MergePolicy: Hashable, Sendable {
    /// Each column keeps its later change. This is the default.
    case column
    /// The later change wins for the whole row: the other columns are as its writer saw them.
    case row
    /// A function with that name merges the row; see `ConflictFunctions`. A replica without that function
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
