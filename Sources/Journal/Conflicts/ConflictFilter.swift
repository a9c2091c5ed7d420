/// Which entries of the ledger are meant. What is left nil matches everything.
public struct ConflictFilter: Sendable {
    /// In one of these states; an empty set matches nothing.
    public var states: Set<ConflictEntry.State>
    /// Compared as SQLite compares names.
    public var table: String?
    /// The values of the primary key, in key order; equal when SQLite holds both for one row.
    public var key: [Value]?
    /// Of this kind.
    public var kind: ConflictEntry.Kind?
    /// One of the two sides was written there.
    public var origin: OriginID?
    /// Noticed here at that time or later, in seconds since 1970.
    public var since: Double?
    /// With a greater ``ConflictEntry/id`` than this.
    public var after: Int64 = 0

    /// The open entries, but for what is given.
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
