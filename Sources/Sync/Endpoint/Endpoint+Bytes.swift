/// The endpoint for a server that handles bodies instead of messages. Each method throws ``SyncError`` with
/// the HTTP status to answer, or an error of the file, which ``SyncError/init(wrapping:)`` translates.
extension Endpoint {
    /// Answers `POST /v1/hello`; both bodies are of the type ``WireHTTP/messageType``.
    ///
    /// - Throws: ``SyncError``: `invalid`, `unsupportedVersion` or `tooLarge` for a body that is not such a
    ///   message; and as ``Endpoint/hello(_:)``.
    public func hello(body: [UInt8]) async throws -> [UInt8] {
        try bodies.encode(try await hello(try bodies.decode(Hello.self, body)))
    }

    /// Answers `POST /v1/digest`; both bodies are of the type ``WireHTTP/messageType``.
    ///
    /// - Throws: ``SyncError``: `invalid`, `unsupportedVersion` or `tooLarge` for a body that is not such a
    ///   message; and as ``Endpoint/digest(_:)``.
    public func digest(body: [UInt8]) async throws -> [UInt8] {
        try bodies.encode(try await digest(try bodies.decode(DigestRequest.self, body)))
    }

    /// Reads and checks the request of `POST /v1/pull`. Everything that can be refused is refused here,
    /// before the answer begins.
    ///
    /// - Throws: ``SyncError``: `invalid`, `unsupportedVersion` or `tooLarge` for a body that is not such a
    ///   message; and as ``Endpoint/check(_:)``.
    public func pullRequest(body: [UInt8]) async throws -> PullRequest {
        let request = try bodies.decode(PullRequest.self, body)
        try await check(request)
        return request
    }

    /// Writes the answer of `POST /v1/pull`, of the type ``WireHTTP/framesType``.
    ///
    /// - Throws: Any failure after the answer has begun. Cut the connection then, so that the reader sees a
    ///   truncated stream.
    public func pull(_ request: PullRequest, write: ([UInt8]) async throws -> Void) async throws {
        let end = try await pull(request) { frame in try await write(try bodies.encode(frame)) }
        try await write(
            try bodies.encode(Frame(body: .end(vector: end.vector, more: end.more, heldBack: end.heldBack))))
    }

    /// Begins `POST /v1/push`: feed the receiver the body, then encode the reply of
    /// ``PushReceiver/finish()``.
    public func beginPush() -> PushReceiver { PushReceiver(self) }

    private var bodies: WireBodies { WireBodies(limits: limits) }
}
