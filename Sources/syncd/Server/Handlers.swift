import Foundation
import HTTPTypes
import Hummingbird
import Journal
import Logging
import NIOCore
import ServiceLifecycle
import Sync

/// Answers requests that have passed the ``RequestGuard``.
protocol RequestHandlers: Sendable {
    func answer(_ action: Route.Action, _ request: Request, _ context: ServerContext) async throws -> Response
}

/// Answers each route of a daemon.
struct Handlers: RequestHandlers {
    let replica: Replica
    let replicator: Replicator
    let metrics: RequestMetrics
    let limits: ServerLimits
    let reloader: any Reloader
    let gate: AccessGate
    var syncs = SyncMeter()
    var live = LiveFeed()

    func answer(_ action: Route.Action, _ request: Request, _ context: ServerContext) async throws -> Response {
        switch action {
        case .hello, .pull, .push, .digest, .snapshot, .snapshotPart:
            let (endpoint, logger) = (replicator.endpoint, context.logger)
            guard let scope = context.scope else {
                return try await WireHandlers(service: endpoint, bodies: bodies, logger: logger).answer(action, request)
            }
            let limited = LimitedEndpoint(endpoint, to: scope)
            return try await WireHandlers(service: limited, bodies: bodies, logger: logger).answer(action, request)
        case .status:
            let report = try await reports.report(countingRows: true)
            return .text(report.json.text, type: ContentType.json)
        case .metrics:
            let report = try await reports.report(countingRows: false)
            let text = PrometheusText(
                report, requests: metrics, applyTimes: replicator.endpoint.meter.applyTimes, syncTimes: syncs.times)
            return .text(text.text, type: ContentType.metrics)
        case .health: return .text("ok\n")
        case .dashboard: return try await pages.answer(request)
        case .events: return events(request, context)
        case .wait: return try await wait(request)
        case .reload: return try await reload()
        case .ready: return try await ready()
        case .form: return try await pages.submit(request, body: try await bodies.read(request, .form))
        }
    }

    /// Sends the live parts of the pages as they change, until the caller hangs up, may no longer see them, or the
    /// daemon stops.
    private func events(_ request: Request, _ context: ServerContext) -> Response {
        let mayRead: @Sendable () -> Bool = { [gate, certificate = context.certificate] in
            let route = Route.matching(method: request.method, path: request.uri.path)
            do {
                try gate.check(request, for: route, certificate: certificate)
                return true
            } catch {
                return false
            }
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
        guard case .notReady(let reason) = readiness else { return .text("ready\n") }
        throw Refusal(status: 503, code: "not_ready", reason, hint: "Ask again in a moment; the log may say more")
    }

    /// Reads the configuration again, as SIGHUP does.
    private func reload() async throws -> Response {
        do {
            return .text(try await reloader.reload().json.text, type: ContentType.json)
        } catch {
            guard let failure = Failure(describing: error) else { throw error }
            throw Refusal(status: 422, code: "invalid", failure.message, hint: failure.hint)
        }
    }

    /// Answers once this replica has what the caller waits for, or after the time of the caller or of one
    /// request.
    private func wait(_ request: Request) async throws -> Response {
        let wanted = try WaitRequest.decode(try await bodies.read(request, .wait))
        let isReached = try await replicator.wait(
            for: wanted.token.origin, version: wanted.token.version, milliseconds: Int64(wanted.seconds) * 1_000)
        return .text(WaitAnswer(token: wanted.token, isReached: isReached).json.text, type: ContentType.json)
    }

    private var bodies: BodyReader { BodyReader(metrics: metrics, limits: limits) }

    private var reports: ReportSource { ReportSource(replica: replica, replicator: replicator, reloader: reloader) }

    private var pages: Pages {
        Pages(
            replica: replica, sessions: gate.sessions, isOpen: { gate.tokens().isEmpty }, reports: reports, live: live)
    }
}
