import Journal

/// Whether two replicas hold the same rows, and where they do not.
public struct VerifyReport: Sendable {
    /// One row that differs between the two replicas.
    public struct Difference: Sendable {
        /// How it differs.
        public enum Kind: Sendable, Hashable {
            /// The peer has no row with this key.
            case onlyHere
            /// Only the peer has a row with this key.
            case onlyThere
            /// The columns whose values differ.
            case differs([String])
        }

        /// The row's primary key, in key order.
        public let key: [(column: String, value: Value)]
        /// How it differs.
        public let kind: Kind

        /// The peer's row in the compared columns, if a repair may need it.
        var theirs: [(column: String, value: Value)]?
    }

    /// The result for one table.
    public struct Table: Sendable {
        /// The table's name, as all machines know it.
        public let name: String

        /// Rows here, without rows with NULL in their key, which are not replicated.
        public var rows = 0
        /// Rows that only this replica has.
        public var onlyHere = 0
        /// Rows that only the peer has.
        public var onlyThere = 0
        /// Rows that both have, with different values.
        public var differing = 0

        /// The first of the differences, at most ``Limits/listedDifferences``.
        public var differences: [Difference] = []

        /// Columns that only one side has; they were not compared.
        public var unmatchedColumns: [String] = []

        /// Columns whose declared types make the two sides store one value differently, such as TEXT here and
        /// INTEGER there. They were not compared.
        public var retypedColumns: [String] = []

        /// Why the table could not be compared; nil when it was.
        public var problem: String?

        /// True when the table was compared and all its rows are equal in the compared columns.
        public var isEqual: Bool { !differs && problem == nil }
        /// True when one of the compared rows differs.
        public var differs: Bool { onlyHere > 0 || onlyThere > 0 || differing > 0 }
        /// True when the table was compared in all its columns.
        public var isComplete: Bool { problem == nil && unmatchedColumns.isEmpty && retypedColumns.isEmpty }

        /// Bytes of ``Difference/theirs``.
        var keptBytes = 0

        init(name: String) { self.name = name }
    }

    /// The peer's address, without secrets.
    public let peer: String

    /// The tracked tables of this replica in the order of their names, then those that only the peer has.
    public var tables: [Table] = []

    /// The other tables of this file, with the reasons why they are not tracked.
    public var untracked: [CaptureReport.Untracked] = []
    /// Those of ``untracked`` whose rows do not replicate although nobody decided so.
    public var notReplicated: [CaptureReport.Untracked] { untracked.filter(\.cause.losesRows) }
    /// Rows that this replica holds back from its tables.
    public var heldRows = 0

    /// What this replica knew when the comparison began. Replicas that know different things may differ.
    public var ours = VersionVector()
    /// What the peer knew when the comparison began.
    public var theirs = VersionVector()

    /// True when every table could be compared and all rows are equal.
    public var isEqual: Bool { tables.allSatisfy(\.isEqual) }
    /// True when one of the compared rows differs.
    public var differs: Bool { tables.contains(where: \.differs) }
    /// True when the comparison left nothing out: every table of this file replicates or was left out by a
    /// decision, was compared in all its columns, and no row is held here.
    public var isComplete: Bool { tables.allSatisfy(\.isComplete) && notReplicated.isEmpty && heldRows == 0 }

    /// The number of rows that differ, including those that are not listed.
    var differenceCount: Int { tables.reduce(0) { $0 + $1.onlyHere + $1.onlyThere + $1.differing } }

    init(peer: String) { self.peer = peer }
}
