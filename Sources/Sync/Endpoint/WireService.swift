/// What a server of the protocol needs: bodies in, bodies out. A replica's ``Endpoint`` is one, and a hub is.
///
/// Each method throws ``SyncError`` with the HTTP status to answer, or another error, which
/// ``SyncError/init(wrapping:)`` translates.
package protocol WireService: Sendable {
    /// What takes the body of a push.
    associatedtype Push: WirePush

    /// As ``Endpoint/hello(body:)``.
    func hello(body: [UInt8]) async throws -> [UInt8]

    /// As ``Endpoint/digest(body:)``.
    func digest(body: [UInt8]) async throws -> [UInt8]

    /// As ``Endpoint/pullRequest(body:)``.
    func pullRequest(body: [UInt8]) async throws -> PullRequest

    /// As ``Endpoint/pull(_:write:)``.
    func pull(_ request: PullRequest, write: ([UInt8]) async throws -> Void) async throws

    /// As ``Endpoint/beginPush()``.
    func beginPush() -> Push

    /// As ``Endpoint/snapshot()``.
    func snapshot() async throws -> SnapshotAnswer

    /// As ``Endpoint/part(_:of:encoding:)``.
    func part(_ index: Int, of id: String, encoding: PayloadEncoding) async throws -> [UInt8]
}

/// The receiving end of one push.
package protocol WirePush: Sendable {
    /// As ``PushReceiver/receive(_:)``.
    mutating func receive(_ piece: some Collection<UInt8>) async throws

    /// As ``PushReceiver/finish()``.
    mutating func finish() async throws -> PushReply
}

extension Endpoint: WireService {}

extension PushReceiver: WirePush {}

/// Translates between bodies and messages.
struct WireBodies: Sendable {
    let limits: Limits

    func decode<M: WireMessage>(_ type: M.Type, _ body: [UInt8]) throws(SyncError) -> M {
        do {
            return try M(decoding: body, limits: limits)
        } catch {
            throw SyncError(error)
        }
    }

    func encode(_ message: some WireMessage) throws(SyncError) -> [UInt8] {
        do {
            return try message.encoded()
        } catch {
            throw SyncError(error)
        }
    }

    func encode(_ frame: Frame) throws(SyncError) -> [UInt8] {
        do {
            return try frame.encoded()
        } catch {
            throw SyncError(error)
        }
    }
}
