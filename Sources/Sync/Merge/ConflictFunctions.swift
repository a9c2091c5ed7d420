import Journal

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

    /// Creates an empty set. Rows whose conflict needs a function are held (`HoldReason/policy`).
    public init() {}

    /// The function of this name (`MergePolicy/custom(_:)`); names are compared exactly. nil when none is
    /// registered.
    public subscript(name: String) -> Function? {
        get { functions[name] }
        set { functions[name] = newValue }
    }
}
