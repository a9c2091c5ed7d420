/// Selects entries of the conflict ledger. A nil property matches everything.
public struct ConflictFilter: Sendable {
    /// The entry has one of these states; an empty set matches nothing.
    public var states: Set<ConflictEntry.State>
    /// The table's name. Names compare as SQLite compares them.
    public var table: String?
    /// The values of the primary key, in key order. Keys are equal when SQLite considers them the same row.
    public var key: [Value]?
    /// The entry is of this kind.
    public var kind: ConflictEntry.Kind?
    /// This replica wrote one of the two sides.
    public var origin: OriginID?
    /// This replica recorded the conflict at this time or later, in seconds since 1970.
    public var since: Double?
    /// The entry's ``ConflictEntry/id`` is greater than this.
    public var after: Int64 = 0

    /// Selects the open entries, further restricted by the given properties.
    public init(
        states: Set<ConflictEntry.State> = [.open], table: String? = nil, key: [Value]? = nil,
        kind: ConflictEntry.Kind? = nil, origin: OriginID? = nil, since: Double? = nil
    ) {
        self.states = states
        self.table = table
        self.key = key
        self.kind = kind
        self.origin = origin
        self.since = since
    }
}
