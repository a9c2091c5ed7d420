import Journal

/// Sends requests to one peer.
///
/// Every call is idempotent, may run at the same time as others, and throws ``SyncError``. A cancelled call
/// ends soon, with ``SyncError/Code/cancelled``.
public protocol Transport: Sendable {
    /// The peer's name in messages and in the status; holds no secret.
    var name: String { get }

    /// Exchanges hellos.
    ///
    /// - Throws: ``SyncError``: the peer's error, such as `otherCluster` or `fork`, or a failure of the
    ///   connection.
    func hello(_ hello: Hello) async throws -> Hello

    /// Requests the changes that the request does not have.
    ///
    /// - Parameters:
    ///   - request: The request, with its body.
    ///   - onFrame: Receives the frames with changes, one after another. The next frame is read only
    ///     after it has returned, so memory stays bounded. What it throws ends the pull.
    /// - Throws: ``SyncError``: the peer's error, a failure of the connection, or `truncated` for an answer
    ///   without its end; and what `onFrame` throws. Frames that were passed on stay so.
    func pull(_ request: PullRequest, onFrame: @Sendable (Frame) async throws -> Void) async throws -> PullEnd

    /// Sends changes to the peer.
    ///
    /// - Parameter frames: A whole stream: ``Frame/Body/open(cluster:origin:)``, batches,
    ///   ``Frame/Body/end(vector:more:heldBack:)``.
    /// - Throws: ``SyncError``: the peer's error, or a failure of the connection. Frames that had arrived may
    ///   be applied there.
    func push(_ frames: [Frame]) async throws -> PushReply

    /// Requests the peer's tables, digests of its rows, or rows. Changes nothing there.
    ///
    /// - Throws: ``SyncError``: the peer's error, such as `notFound` for a table that it does not track, or a
    ///   failure of the connection.
    func digest(_ request: DigestRequest) async throws -> DigestReply

    /// False for a peer that holds changes and no rows, with which content cannot be compared.
    var holdsRows: Bool { get }

    /// How long changes gather before they are sent, in milliseconds: each push to the peer costs something.
    var gatheringMilliseconds: Int64 { get }

    /// Returns the replicas whose changes the peer wants from this one now; others bring the rest. nil for all.
    ///
    /// - Parameters:
    ///   - ours: What this replica has.
    ///   - own: This replica.
    func wanted(_ ours: VersionVector, of own: OriginID) async -> Set<OriginID>?

    /// What the peer can send that says that it has `vector`: for an archive, also the beginnings of transactions, whose
    /// writers may be gone. Others send whole transactions.
    func sends(_ vector: VersionVector) async -> VersionVector

    /// What was sent to an object store since the start; nil for a peer that is none.
    var storeRequests: StoreRequests? { get }

    /// Ends what calls have left open, where ``gatheringMilliseconds`` is above 0. Called when the peer is no longer
    /// followed, and after a single exchange.
    ///
    /// - Throws: ``SyncError``; nothing is lost then.
    func finish() async throws
}

extension Transport {
    public var holdsRows: Bool { true }
    public var gatheringMilliseconds: Int64 { 0 }
    public var storeRequests: StoreRequests? { nil }
    public func wanted(_ ours: VersionVector, of own: OriginID) async -> Set<OriginID>? { nil }
    public func sends(_ vector: VersionVector) async -> VersionVector { vector }
    public func finish() async throws {}
}

/// The paths and media types of the protocol over HTTP.
public enum WireHTTP {
    /// `POST` of a ``Hello``; the answer is a ``Hello``.
    public static let helloPath = "/v1/hello"
    /// `POST` of a ``PullRequest``; the answer is a stream of frames.
    public static let pullPath = "/v1/pull"
    /// `POST` of a stream of frames; the answer is a ``PushReply``.
    public static let pushPath = "/v1/push"
    /// `POST` of a ``DigestRequest``; the answer is a ``DigestReply``.
    public static let digestPath = "/v1/digest"
    /// `GET` of a ``SnapshotAnswer``.
    public static let snapshotPath = "/v1/snapshot"
    /// `GET` of a part of a snapshot, with the query `id`, `part` and `encoding`.
    public static let snapshotPartPath = "/v1/snapshot/part"

    /// The media type of a body that is one protobuf message.
    public static let messageType = "application/x-protobuf"

    /// The media type of a body that is a stream of frames.
    public static let framesType = "application/vnd.tandem.frames"

    /// The media type of JSON.
    public static let jsonType = "application/json"

    /// The media type of a part of a snapshot.
    public static let partType = "application/octet-stream"

    /// True when the value of a `Content-Type` header names `type`, with or without parameters.
    public static func matches(_ header: String?, _ type: String) -> Bool {
        guard let header else { return false }
        let name = header.prefix { $0 != ";" }.filter { $0 != " " && $0 != "\t" }
        return name.lowercased() == type
    }
}
