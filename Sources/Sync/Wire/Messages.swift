import Journal
import SwiftProtobuf

/// Who a replica is and what it knows: the request and the answer of a hello.
public struct Hello: Sendable, Hashable {
    /// The name that all replicas of one set share.
    public var cluster: String
    /// Who the sender is.
    public var origin: OriginID
    /// The format of the sender's journal, as ``Identity/format``. Nothing is decided by it.
    public var formatVersion: Int
    /// What the sender knows, its own changes included.
    public var vector: VersionVector

    /// The sender's clock, in milliseconds since 1970.
    public var wallMilliseconds: Int64

    /// What the sender can read, best first.
    public var encodings: [PayloadEncoding]

    /// What the sender holds of the history of ``sampledOrigin``, newest first: of the receiver, as far as the sender knows who that
    /// is. So the receiver learns whether its own history is the one that others know.
    public var samples: [VersionSample] = []
    /// Whose history ``samples`` tells of; nil for nobody's.
    public var sampledOrigin: OriginID?

    /// A random number from the sender's file, at most 16 bytes; empty when it has none.
    public var instance: [UInt8] = []

    /// A hello that tells of nobody's history and names no instance.
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

/// A request for all that the sender does not have.
public struct PullRequest: Sendable, Hashable {
    /// The cluster of who asks.
    public var cluster: String
    /// Who asks.
    public var origin: OriginID
    /// What need not be sent: what the sender has, and what it holds back.
    public var have: VersionVector

    /// How long the endpoint may wait for news when it has none; 0 means that it answers at once.
    public var waitSeconds: Int

    /// About how many bytes of frames to answer with; 0 means as many as the endpoint likes.
    public var maxBytes: Int
    /// What the sender can read, best first; empty for anything.
    public var encodings: [PayloadEncoding]

    /// - Parameters:
    ///   - cluster: The cluster of who asks.
    ///   - origin: Who asks.
    ///   - have: What need not be sent.
    ///   - waitSeconds: How long the endpoint may wait for news, 0 or more.
    ///   - maxBytes: About how many bytes of frames to answer with; 0 for as many as the endpoint likes.
    ///   - encodings: What the sender can read, best first.
    public init(
        cluster: String, origin: OriginID, have: VersionVector, waitSeconds: Int = 0, maxBytes: Int = 0,
        encodings: [PayloadEncoding] = [.zstd, .gzip, .none]
    ) {
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

    /// True when it holds more than it sent: ask again at once.
    public var more: Bool

    /// What it has seen and does not take for its stamps; it need not be sent again now.
    public var heldBack: VersionVector

    /// - Parameters:
    ///   - vector: What the peer knew when it answered.
    ///   - more: True when it holds more than it sent.
    ///   - heldBack: What it has seen and does not take for its stamps.
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

    /// - Parameters:
    ///   - vector: What the receiver has durably.
    ///   - applied: How many changes of the push were new to it.
    ///   - heldBack: What it has seen and does not take for its stamps.
    public init(vector: VersionVector, applied: Int, heldBack: VersionVector = VersionVector()) {
        self.vector = vector
        self.applied = applied
        self.heldBack = heldBack
    }
}
