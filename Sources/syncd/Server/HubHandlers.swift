import Hummingbird
import Journal
import Sync

/// Answers the routes of a hub: those of the protocol, and those by which it is watched. It has no pages.
struct HubHandlers: RequestHandlers {
    let endpoint: HubEndpoint
    let reloader: any Reloader
    let metrics: RequestMetrics
    let bodies: BodyReader

    func answer(_ action: Route.Action, _ request: Request, _ context: ServerContext) async throws -> Response {
        switch action {
        case .hello, .pull, .push, .digest, .snapshot, .snapshotPart:
            guard context.scope == nil else { throw HubEndpoint.noLeaves }
            return try await WireHandlers(service: endpoint, bodies: bodies, logger: context.logger)
                .answer(action, request)
        case .status: return .text(await report().json.text, type: ContentType.json)
        case .metrics:
            return .text(PrometheusText(await report(), requests: metrics).text, type: ContentType.metrics)
        case .health: return .text("ok\n")
        case .ready:
            guard await endpoint.hub.status.isReady else {
                throw Refusal(
                    status: 503, code: "not_ready", "the archive is not read yet",
                    hint: "Ask again in a moment; the log may say more")
            }
            return .text("ready\n")
        case .reload: return .text(try await reloader.reload().json.text, type: ContentType.json)
        case .dashboard, .events, .form, .wait:
            throw Refusal(
                status: 404, code: "not_found", "a hub has no pages and no file",
                hint: "Its state is at /v1/status and /metrics")
        }
    }

    private func report() async -> HubReport {
        HubReport(
            status: await endpoint.hub.status, followers: endpoint.pulls.waiting.count,
            configurationRefused: reloader.refusal)
    }
}
