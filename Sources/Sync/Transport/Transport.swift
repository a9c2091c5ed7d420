/// The way to one peer.
///
/// Every call is idempotent, may be made at the same time as others, and throws ``SyncError``. A cancelled call ends
/// soon, with ``SyncError/Code/cancelled``.
public protocol Transport: Sendable {
    /// How the peer is called in messages and in status; holds no secret.
    var name: String { get }

    func hello(_ hello: Hello) async throws -> Hello

    /// Asks for what the request does not have.
    ///
    /// - Parameter onFrame: Gets the frames that hold changes, one after the other. The next is read only after it
    ///   returned, so memory stays bounded; what it throws ends the pull.
    func pull(_ request: PullRequest, onFrame: @Sendable (Frame) async throws -> Void) async throws -> PullEnd

    /// - Parameter frames: A whole stream: ``Frame/Body/open(cluster:origin:)``, batches,
    ///   ``Frame/Body/end(vector:more:)``.
    func push(_ frames: [Frame]) async throws -> PushReply

    func digest(_ request: DigestRequest) async throws -> DigestReply
}

/// The paths and media types of the protocol over HTTP.
public enum WireHTTP {
    public static let helloPath = "/v1/hello"
    public static let pullPath = "/v1/pull"
    public static let pushPath = "/v1/push"
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
