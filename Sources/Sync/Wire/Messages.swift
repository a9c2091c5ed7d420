import Journal
import SwiftProtobuf

/// A replica's identity and what it knows: the request and the answer of a hello.
public struct Hello: Sendable, Hashable {
    /// The name that all replicas of one set share.
    public var cluster: String
    /// The sender's origin.
    public var origin: OriginID
    /// The format of the sender's journal, as in `Identity/format`. It is informative; no decision depends
    /// on it.
    public var formatVersion: Int
    /// What the sender knows, its own changes included.
    public var vector: VersionVector

    /// The sender's clock, in milliseconds since 1970.
    public var wallMilliseconds: Int64

    /// The encodings that the sender can read, best first.
    public var encodings: [PayloadEncoding]

    /// Samples of the history of ``sampledOrigin`` as the sender holds it, newest first. That origin is the
    /// receiver, if the sender knows who that is. So the receiver learns whether its own history is the one
    /// that others know.
    public var samples: [VersionSample] = []
    /// The origin of ``samples``; nil when there are none.
    public var sampledOrigin: OriginID?

    /// A random number from the sender's file, at most 16 bytes; empty for a file without one.
    public var instance: [UInt8] = []

    /// What the sender and other replicas have merged, the sender's own first. An older release sends none.
    public var acknowledgements: [Acknowledgement] = []
    /// Up to where the sender's journal is compacted. It serves no replica that has less.
    public var horizon = VersionVector()
    /// The first version of each origin that the sender refuses for ever, because its writer had not seen what is
    /// compacted there. An older release sends none.
    public var refused = VersionVector()
    /// The sender's former names under which nobody writes any more, the last one first. It acknowledges for them. An older
    /// release sends none.
    public var finished: [OriginID] = []

    /// Creates a hello without samples, without an instance number and without acknowledgements.
    public init(
        cluster: String, origin: OriginID, formatVersion: Int, vector: VersionVector, wallMilliseconds: Int64,
        encodings: [PayloadEncoding] = [.zstd, .gzip, .none]
    ) {
        self.cluster = cluster
        self.origin = origin
        self.formatVersion = formatVersion
        self.vector = vector
        self.wallMilliseconds = wallMilliseconds
        self.encodings = encodings
    }
}

/// A request for all changes that the sender does not have.
public struct PullRequest: Sendable, Hashable {
    /// The caller's cluster.
    public var cluster: String
    /// The caller's origin.
    public var origin: OriginID
    /// What need not be sent: what the sender has, and what it defers.
    public var have: VersionVector

    /// How long the endpoint may wait for news when it has none, in seconds; 0 means that it answers at once.
    public var waitSeconds: Int

    /// The size of the answer in bytes of frames, approximately; 0 means as much as the endpoint likes.
    public var maxBytes: Int
    /// The encodings that the sender can read, best first; empty for all.
    public var encodings: [PayloadEncoding]
    /// The tables that the sender has; nil for all. Changes of other tables come hidden.
    public var scope: TableScope?

    /// - Parameters:
    ///   - cluster: The caller's cluster.
    ///   - origin: The caller's origin.
    ///   - have: What need not be sent.
    ///   - waitSeconds: How long the endpoint may wait for news, 0 or more.
    ///   - maxBytes: The size of the answer in bytes of frames, approximately; 0 for as much as the endpoint
    ///     likes.
    ///   - encodings: The encodings that the sender can read, best first.
    ///   - scope: The tables that the sender has; nil for all.
    public init(
        cluster: String, origin: OriginID, have: VersionVector, waitSeconds: Int = 0, maxBytes: Int = 0,
        encodings: [PayloadEncoding] = [.zstd, .gzip, .none], scope: TableScope? = nil
    ) {
        self.scope = scope
        self.cluster = cluster
        self.origin = origin
        self.have = have
        self.waitSeconds = waitSeconds
        self.maxBytes = maxBytes
        self.encodings = encodings
    }
}

/// How a pull ended.
public struct PullEnd: Sendable, Hashable {
    /// What the peer knew when it answered.
    public var vector: VersionVector

    /// True when the peer has more than it sent: ask again at once.
    public var more: Bool

    /// What the peer has seen and defers; it need not be sent again yet.
    public var heldBack: VersionVector

    /// - Parameters:
    ///   - vector: What the peer knew when it answered.
    ///   - more: True when the peer has more than it sent.
    ///   - heldBack: What the peer has seen and defers.
    public init(vector: VersionVector, more: Bool, heldBack: VersionVector = VersionVector()) {
        self.vector = vector
        self.more = more
        self.heldBack = heldBack
    }
}

/// The answer to a push.
public struct PushReply: Sendable, Hashable {
    /// What the receiver has durably.
    public var vector: VersionVector

    /// How many changes of the push were new to it.
    public var applied: Int

    /// As in ``PullEnd/heldBack``.
    public var heldBack: VersionVector

    /// The error, when the answer had begun before it happened; nil for none. The other members say nothing then.
    package var refusal: Refusal?

    /// An answer that is an error.
    package struct Refusal: Sendable, Hashable {
        /// The HTTP status.
        package let status: Int
        /// As of ``SyncError/jsonBody()``.
        package let body: [UInt8]
        /// The value of the `Retry-After` header.
        package let retryAfterSeconds: Int64?

        package init(status: Int, body: [UInt8], retryAfterSeconds: Int64?) {
            self.status = status
            self.body = body
            self.retryAfterSeconds = retryAfterSeconds
        }
    }

    /// - Parameters:
    ///   - vector: What the receiver has durably.
    ///   - applied: How many changes of the push were new to it.
    ///   - heldBack: What the receiver has seen and defers.
    public init(vector: VersionVector, applied: Int, heldBack: VersionVector = VersionVector()) {
        self.vector = vector
        self.applied = applied
        self.heldBack = heldBack
    }
}
