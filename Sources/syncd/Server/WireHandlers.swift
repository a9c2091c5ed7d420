import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import ServiceLifecycle
import Sync

/// Answers the routes of the protocol between replicas. The service does the work; the handlers translate it to and
/// from HTTP.
struct WireHandlers<Service: WireService>: Sendable {
    let service: Service
    let bodies: BodyReader
    let logger: Logger

    /// - Throws: ``SyncError/Code/notFound`` for a route that is none of the protocol's; what the service throws.
    func answer(_ action: Route.Action, _ request: Request) async throws -> Response {
        switch action {
        case .hello: return .message(try await service.hello(body: try await bodies.read(request, action)))
        case .pull: return try await pull(request)
        case .push: return try await push(request)
        case .digest: return .message(try await service.digest(body: try await bodies.read(request, action)))
        case .snapshot:
            let body = try await service.snapshot().jsonBody()
            return .text(String(decoding: body, as: UTF8.self), type: ContentType.json)
        case .snapshotPart: return try await snapshotPart(request)
        case .status, .metrics, .health, .dashboard, .events, .ready, .wait, .reload, .form:
            throw SyncError(.notFound, "This is no route of the protocol between replicas")
        }
    }

    /// Streams the changes that the caller lacks. All checks that can refuse the request run before the head
    /// of the answer is sent. A later failure closes the connection, so the caller sees a stream without its
    /// last frame.
    private func pull(_ request: Request) async throws -> Response {
        var wanted = try await service.pullRequest(body: try await bodies.read(request, .pull))
        if Task.isShuttingDownGracefully { wanted.waitSeconds = 0 }
        return Response(
            status: .ok, headers: [.contentType: ContentType.frames],
            body: ResponseBody { [service, wanted] writer in
                try await service.pull(wanted) { bytes in try await writer.write(ByteBuffer(bytes: bytes)) }
                try await writer.finish(nil)
            })
    }

    /// Takes the frames of the body as they arrive.
    private func push(_ request: Request) async throws -> Response {
        let answer = PushAnswer(limits: bodies.limits.messages, clock: SystemClock()) { [service, bodies] in
            var receiver = service.beginPush()
            try await bodies.read(request) { piece in try await receiver.receive(piece.readableBytesView) }
            return try await receiver.finish()
        }
        if let whole = try await answer.whole() { return .message(whole) }
        return Response(
            status: .ok, headers: [.contentType: ContentType.message],
            body: ResponseBody { [logger] writer in
                try await answer.write(
                    refusal: { Refusal($0, logger: logger)?.late },
                    to: { bytes in try await writer.write(ByteBuffer(bytes: bytes)) })
                try await writer.finish(nil)
            })
    }

    private func snapshotPart(_ request: Request) async throws -> Response {
        let query = request.uri.queryParameters
        guard let id = query["id"], let index = query["part"].flatMap({ Int($0) }),
            let encoding = PayloadEncoding(name: query["encoding"].map { String($0) } ?? "none")
        else {
            throw SyncError(
                .invalid, "The request does not name a part of a snapshot",
                hint: "Its query is id=ID&part=NUMBER, and encoding=zstd, gzip or none.")
        }
        let bytes = try await service.part(index, of: String(id), encoding: encoding)
        return Response(
            status: .ok, headers: [.contentType: ContentType.part],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
    }
}

extension Response {
    /// The answer of one message of the protocol.
    static func message(_ message: [UInt8]) -> Response {
        Response(
            status: .ok, headers: [.contentType: ContentType.message],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: message)))
    }

    static func text(_ text: String, type: String = ContentType.text) -> Response {
        Response(
            status: .ok, headers: [.contentType: type], body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
    }
}
