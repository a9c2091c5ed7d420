import Journal

/// How a followed peer is doing.
public struct PeerStatus: Sendable, Hashable {
    /// Its address, without secrets.
    public let name: String

    /// Who it is, once it said hello.
    public var origin: OriginID?

    /// What it knew at the last word from it.
    public var vector = VersionVector()

    /// Milliseconds since 1970 of the last successful exchange.
    public var lastContactMilliseconds: Int64?

    /// The last failure, until the next success.
    public var lastError: SyncError?
    /// How many failures there were in a row, of both directions; 0 after a success.
    public var failures = 0

    /// How far its clock was ahead of this one at the last greeting, in milliseconds; below 0 when it was behind.
    public var clockOffsetMilliseconds: Int64?

    /// Changes of it that were new here, since the start.
    public var pulledChanges = 0
    /// Changes that it was sent, since the start.
    public var pushedChanges = 0

    init(name: String) { self.name = name }

    /// How many of the changes in `ours` the peer is not known to have.
    public func lag(behind ours: VersionVector) -> Int64 {
        ours.entries.reduce(0) { $0 + max($1.version - vector[$1.origin], 0) }
    }
}

/// What the replicator knows of its peers, in the order of the configuration.
public struct ReplicatorStatus: Sendable, Hashable {
    /// Those that are followed, in the order of the configuration.
    public var peers: [PeerStatus]
}
