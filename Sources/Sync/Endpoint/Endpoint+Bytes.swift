/// The same answers for a server that has bodies, not messages. Each throws ``SyncError`` with the HTTP status to
/// answer, or an error of the file, for which ``SyncError/init(wrapping:)`` finds one.
extension Endpoint {
    /// `POST /v1/hello`: both bodies are ``WireHTTP/messageType``.
    ///
    /// - Throws: ``SyncError``: `invalid`, `unsupportedVersion` or `tooLarge` for a body that is no such message; and
    ///   as ``Endpoint/hello(_:)``.
    public func hello(body: [UInt8]) async throws -> [UInt8] {
        try encode(try await hello(try decode(Hello.self, body)))
    }

    /// `POST /v1/digest`: both bodies are ``WireHTTP/messageType``.
    ///
    /// - Throws: ``SyncError``: `invalid`, `unsupportedVersion` or `tooLarge` for a body that is no such message; and
    ///   as ``Endpoint/digest(_:)``.
    public func digest(body: [UInt8]) async throws -> [UInt8] {
        try encode(try await digest(try decode(DigestRequest.self, body)))
    }

    /// `POST /v1/pull`, before the answer begins: all that can be refused is refused here.
    ///
    /// - Throws: ``SyncError``: `invalid`, `unsupportedVersion` or `tooLarge` for a body that is no such message; and
    ///   as ``Endpoint/check(_:)``.
    public func pullRequest(body: [UInt8]) async throws -> PullRequest {
        let request = try decode(PullRequest.self, body)
        try await check(request)
        return request
    }

    /// `POST /v1/pull`: writes the answer, of type ``WireHTTP/framesType``.
    ///
    /// - Throws: What goes wrong half-way. The connection is to be cut then, so that the reader sees a truncated stream.
    public func pull(_ request: PullRequest, write: ([UInt8]) async throws -> Void) async throws {
        let end = try await pull(request) { frame in try await write(try encode(frame)) }
        try await write(try encode(Frame(body: .end(vector: end.vector, more: end.more, heldBack: end.heldBack))))
    }

    /// `POST /v1/push`: feed it the body, then encode the reply of ``PushReceiver/finish()``.
    public func beginPush() -> PushReceiver { PushReceiver(self) }

    private func decode<M: WireMessage>(_ type: M.Type, _ body: [UInt8]) throws(SyncError) -> M {
        do {
            return try M(decoding: body, limits: limits)
        } catch {
            throw SyncError(error)
        }
    }

    private func encode(_ message: some WireMessage) throws(SyncError) -> [UInt8] {
        do {
            return try message.encoded()
        } catch {
            throw SyncError(error)
        }
    }

    private func encode(_ frame: Frame) throws(SyncError) -> [UInt8] {
        do {
            return try frame.encoded()
        } catch {
            throw SyncError(error)
        }
    }
}
