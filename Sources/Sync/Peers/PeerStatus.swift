import Journal

/// The status of a followed peer.
public struct PeerStatus: Sendable, Hashable {
    /// The peer's address, without secrets.
    public let name: String

    /// The peer's origin, once it has answered a hello.
    public var origin: OriginID?

    /// What the peer knew when it last answered.
    public var vector = VersionVector()

    /// Milliseconds since 1970 of the last successful exchange.
    public var lastContactMilliseconds: Int64?

    /// The last failure, until the next success.
    public var lastError: SyncError?
    /// The number of failures in a row, of both directions; 0 after a success.
    public var failures = 0

    /// How far the peer's clock was ahead of this one at the last hello, in milliseconds; negative when it
    /// was behind.
    public var clockOffsetMilliseconds: Int64?

    /// Changes received from the peer that were new here, since the start.
    public var pulledChanges = 0
    /// Changes that were sent to the peer, since the start.
    public var pushedChanges = 0

    /// What was sent to the peer as an object store, since the start; nil for a peer that is none.
    public var storeRequests: StoreRequests?

    init(name: String) { self.name = name }

    /// The number of changes in `ours` that the peer is not known to have.
    public func lag(behind ours: VersionVector) -> Int64 {
        ours.entries.reduce(0) { $0 + max($1.version - vector[$1.origin], 0) }
    }
}

/// The status of all followed peers.
public struct ReplicatorStatus: Sendable, Hashable {
    /// The followed peers, in the order of the configuration.
    public var peers: [PeerStatus]
}
