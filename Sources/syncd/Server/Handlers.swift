import Foundation
import HTTPTypes
import Hummingbird
import Journal
import Logging
import NIOCore
import ServiceLifecycle
import Sync

/// Answers each route. ``Sync/Endpoint`` does the work; the handlers translate it to and from HTTP.
struct Handlers: Sendable {
    let replica: Replica
    let replicator: Replicator
    let metrics: RequestMetrics
    let limits: ServerLimits
    let reloader: any Reloader
    let gate: AccessGate
    var live = LiveFeed()

    func answer(_ action: Route.Action, _ request: Request, _ context: ServerContext) async throws -> Response {
        switch action {
        case .hello:
            let endpoint = replicator.endpoint
            return Handlers.answer(try await endpoint.hello(body: try await body(of: request, action)))
        case .pull: return try await pull(request)
        case .push: return try await push(request)
        case .digest:
            let endpoint = replicator.endpoint
            return Handlers.answer(try await endpoint.digest(body: try await body(of: request, action)))
        case .snapshot: return try await snapshot()
        case .snapshotPart: return try await snapshotPart(request)
        case .status:
            let report = try await reports.report(countingRows: true)
            return Handlers.answer(report.json.text, type: ContentType.json)
        case .metrics:
            let report = try await reports.report(countingRows: false)
            return Handlers.answer(PrometheusText(report, requests: metrics).text, type: ContentType.metrics)
        case .health: return Handlers.answer("ok\n", type: ContentType.text)
        case .dashboard: return try await pages.answer(request)
        case .events: return events(request, context)
        case .wait: return try await wait(request)
        case .reload: return try await reload()
        case .ready: return try await ready()
        case .form: return try await pages.submit(request, body: try await body(of: request, .form))
        }
    }

    /// Streams the changes that the caller lacks. All checks that can refuse the request run before the head
    /// of the answer is sent. A later failure closes the connection, so the caller sees a stream without its
    /// last frame.
    private func pull(_ request: Request) async throws -> Response {
        let endpoint = replicator.endpoint
        var wanted = try await endpoint.pullRequest(body: try await body(of: request, .pull))
        if Task.isShuttingDownGracefully { wanted.waitSeconds = 0 }
        return Response(
            status: .ok, headers: [.contentType: ContentType.frames],
            body: ResponseBody { [wanted] writer in
                try await endpoint.pull(wanted) { bytes in try await writer.write(ByteBuffer(bytes: bytes)) }
                try await writer.finish(nil)
            })
    }

    /// Applies the frames of the body as they arrive.
    private func push(_ request: Request) async throws -> Response {
        var receiver = replicator.endpoint.beginPush()
        var pace = BodyPace(start: metrics.milliseconds, limits)
        for try await piece in request.body {
            try pace.receive(piece.readableBytes, milliseconds: metrics.milliseconds)
            try await receiver.receive(piece.readableBytesView)
        }
        let reply = try await receiver.finish()
        do {
            return Handlers.answer(try reply.encoded())
        } catch {
            throw SyncError(error)
        }
    }

    private func snapshot() async throws -> Response {
        let body = try await replicator.endpoint.snapshot().jsonBody()
        return Handlers.answer(String(decoding: body, as: UTF8.self), type: ContentType.json)
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
        let bytes = try await replicator.endpoint.part(index, of: String(id), encoding: encoding)
        return Response(
            status: .ok, headers: [.contentType: ContentType.part],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
    }

    /// Sends the live parts of the pages as they change, until the caller hangs up, may no longer see them, or the
    /// daemon stops.
    private func events(_ request: Request, _ context: ServerContext) -> Response {
        let mayRead: @Sendable () -> Bool = { [gate, certificate = context.certificate] in
            let route = Route.matching(method: request.method, path: request.uri.path)
            return (try? gate.check(request, for: route, certificate: certificate)) != nil
        }
        return Response(
            status: .ok, headers: [.contentType: ContentType.events],
            body: ResponseBody { [live] writer in
                // How long a browser waits before it connects again, in milliseconds.
                try await writer.write(ByteBuffer(string: "retry: 2000\n\n"))
                var seen = 0
                for await _ in live.join() {
                    guard mayRead() else {
                        try await writer.write(ByteBuffer(string: "event: end\ndata: \n\n"))
                        break
                    }
                    guard let (event, generation) = live.event(after: seen) else {
                        // A comment. Without it, nobody would notice that a browser is gone.
                        try await writer.write(ByteBuffer(string: ":\n\n"))
                        continue
                    }
                    seen = generation
                    try await writer.write(event)
                }
                try await writer.finish(nil)
            })
    }

    private func ready() async throws -> Response {
        let isReadable = (try? await blocking { [replica] in try replica.identity() }) != nil
        // What the file says of earlier contacts is not part of this.
        let contacts = replicator.status().peers.map { $0.lastError == nil && $0.lastContactMilliseconds != nil }
        let readiness = Readiness(isReadable: isReadable, contacts: contacts, milliseconds: metrics.milliseconds)
        guard case .notReady(let reason) = readiness else { return Handlers.answer("ready\n", type: ContentType.text) }
        throw Refusal(status: 503, code: "not_ready", reason, hint: "Ask again in a moment; the log may say more")
    }

    /// Reads the configuration again, as SIGHUP does.
    private func reload() async throws -> Response {
        do {
            return Handlers.answer(try await reloader.reload().json.text, type: ContentType.json)
        } catch {
            guard let failure = Failure(describing: error) else { throw error }
            throw Refusal(status: 422, code: "invalid", failure.message, hint: failure.hint)
        }
    }

    /// Answers once this replica has what the caller waits for, or after the time of the caller or of one
    /// request.
    private func wait(_ request: Request) async throws -> Response {
        let wanted = try WaitRequest.decode(try await body(of: request, .wait))
        let isReached = try await replicator.wait(
            for: wanted.token.origin, version: wanted.token.version, milliseconds: Int64(wanted.seconds) * 1_000)
        return Handlers.answer(WaitAnswer(token: wanted.token, isReached: isReached).json.text, type: ContentType.json)
    }

    /// Reads the whole body of a request that is one message.
    private func body(of request: Request, _ action: Route.Action) async throws -> [UInt8] {
        let limit = limits.bodyBytes(for: action)
        var bytes: [UInt8] = []
        var pace = BodyPace(start: metrics.milliseconds, limits)
        for try await piece in request.body {
            guard bytes.count + piece.readableBytes <= limit else {
                throw SyncError(.tooLarge, "The body has more than \(limit) bytes")
            }
            try pace.receive(piece.readableBytes, milliseconds: metrics.milliseconds)
            bytes += piece.readableBytesView
        }
        return bytes
    }

    private var reports: ReportSource { ReportSource(replica: replica, replicator: replicator, reloader: reloader) }

    private var pages: Pages {
        Pages(
            replica: replica, sessions: gate.sessions, isOpen: { gate.tokens().isEmpty }, reports: reports, live: live)
    }

    private static func answer(_ message: [UInt8]) -> Response {
        Response(
            status: .ok, headers: [.contentType: ContentType.message],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: message)))
    }

    private static func answer(_ text: String, type: String) -> Response {
        Response(
            status: .ok, headers: [.contentType: type], body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
    }
}
