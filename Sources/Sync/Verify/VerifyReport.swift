import Journal

/// Whether two replicas hold the same rows, and where they do not.
public struct VerifyReport: Sendable {
    public struct Difference: Sendable {
        public enum Kind: Sendable, Hashable {
            case onlyHere
            case onlyThere
            /// The columns whose values differ.
            case differs([String])
        }

        public let key: [(column: String, value: Value)]
        public let kind: Kind

        /// The peer's row in the compared columns, where a repair may need it.
        var theirs: [(column: String, value: Value)]?
    }

    public struct Table: Sendable {
        public let name: String

        /// Rows here, without those that have NULL in their key: they are not replicated.
        public var rows = 0
        public var onlyHere = 0
        public var onlyThere = 0
        public var differing = 0

        /// The first of the differences, at most ``Limits/listedDifferences``.
        public var differences: [Difference] = []

        /// Columns that only one side has; they were not compared.
        public var unmatchedColumns: [String] = []

        /// Why the table could not be compared; nil when it was.
        public var problem: String?

        public var isEqual: Bool { onlyHere == 0 && onlyThere == 0 && differing == 0 && problem == nil }

        /// Bytes of ``Difference/theirs``.
        var keptBytes = 0

        init(name: String) { self.name = name }
    }

    public let peer: String

    /// Tracked tables of either side, by name.
    public var tables: [Table] = []

    /// What both knew when the comparison began. Replicas that know different things may differ.
    public var ours = VersionVector()
    public var theirs = VersionVector()

    public var isEqual: Bool { tables.allSatisfy(\.isEqual) }

    /// In how many rows the two differ, also beyond those that are listed.
    var differenceCount: Int { tables.reduce(0) { $0 + $1.onlyHere + $1.onlyThere + $1.differing } }

    init(peer: String) { self.peer = peer }
}
