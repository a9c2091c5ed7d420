/// The way to one peer.
///
/// Every call is idempotent, may be made at the same time as others, and throws ``SyncError``. A cancelled call ends
/// soon, with ``SyncError/Code/cancelled``.
public protocol Transport: Sendable {
    /// How the peer is called in messages and in status; holds no secret.
    var name: String { get }

    /// Introduces both sides to each other.
    ///
    /// - Throws: ``SyncError``: what the peer answers with, such as `otherCluster` or `fork`; and what the way to it
    ///   fails by.
    func hello(_ hello: Hello) async throws -> Hello

    /// Asks for what the request does not have.
    ///
    /// - Parameter onFrame: Gets the frames that hold changes, one after the other. The next is read only after it
    ///   returned, so memory stays bounded; what it throws ends the pull.
    /// - Throws: ``SyncError``: what the peer answers with, what the way to it fails by, `truncated` for an answer
    ///   without its end; and what `onFrame` throws. Frames that were handed over stay so.
    func pull(_ request: PullRequest, onFrame: @Sendable (Frame) async throws -> Void) async throws -> PullEnd

    /// - Parameter frames: A whole stream: ``Frame/Body/open(cluster:origin:)``, batches,
    ///   ``Frame/Body/end(vector:more:heldBack:)``.
    /// - Throws: ``SyncError``: what the peer answers with, and what the way to it fails by. Frames that had arrived
    ///   may be applied there.
    func push(_ frames: [Frame]) async throws -> PushReply

    /// Asks for the peer's tables, for digests of its rows, or for rows. Changes nothing there.
    ///
    /// - Throws: ``SyncError``: what the peer answers with, such as `notFound` for a table that it does not track; and
    ///   what the way to it fails by.
    func digest(_ request: DigestRequest) async throws -> DigestReply
}

/// The paths and media types of the protocol over HTTP.
public enum WireHTTP {
    /// `POST`: a ``Hello`` for a ``Hello``.
    public static let helloPath = "/v1/hello"
    /// `POST`: a stream of frames for a ``PullRequest``.
    public static let pullPath = "/v1/pull"
    /// `POST`: a ``PushReply`` for a stream of frames.
    public static let pushPath = "/v1/push"
    /// `POST`: a ``DigestReply`` for a ``DigestRequest``.
    public static let digestPath = "/v1/digest"

    /// A body that is one protobuf message.
    public static let messageType = "application/x-protobuf"

    /// A body that is a stream of frames.
    public static let framesType = "application/vnd.tandem.frames"

    /// True when the value of a `Content-Type` header names `type`, with or without parameters.
    public static func matches(_ header: String?, _ type: String) -> Bool {
        guard let header else { return false }
        let name = header.prefix { $0 != ";" }.filter { $0 != " " && $0 != "\t" }
        return name.lowercased() == type
    }
}
