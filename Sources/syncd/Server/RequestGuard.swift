import Foundation
import HTTPTypes
import Hummingbird
import Journal
import Logging
import NIOCore

/// What handlers get of a request besides its head and body.
struct ServerContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    let channel: any Channel
    /// What the caller has shown in its TLS handshake, not verified; nil for nothing.
    var certificate: ClientCertificate?
    /// The tables that the caller is limited to; nil for all.
    var scope: TableScope?

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        channel = source.channel
    }
}

/// Checks each request before its route: who asks, for what, how much, and for how long.
///
/// It checks, in this order: the token or certificate; the route and its method; the type and the declared length of the
/// body; how many requests of this kind are under way, in all and from this caller. No body is read before a
/// request has passed. Then a timer closes the connection when the request and its answer take too long, for
/// any reason.
struct RequestGuard: RouterMiddleware {
    typealias Context = ServerContext

    let gate: AccessGate
    let limits: ServerLimits
    let metrics: RequestMetrics

    func handle(
        _ request: Request, context: ServerContext, next: (Request, ServerContext) async throws -> Response
    ) async throws -> Response {
        let route = Route.matching(method: request.method, path: request.uri.path)
        var response: Response
        do {
            response = try await answer(request, route, context, next)
        } catch {
            guard let refusal = Refusal(error, logger: context.logger) else { throw error }
            response = route?.takesSession == true ? Pages.response(to: refusal) : refusal.response
            // The caller reads the files of its certificate again only for a new connection.
            let mayHaveNewCertificate = refusal.status == 401 && gate.authorities() != nil
            // A stream of HTTP/2 ends without its connection, and must not have this header (RFC 9113, 8.2.2).
            if hasBody(request) || mayHaveNewCertificate, !context.channel.isStream {
                response.headers[.connection] = "close"
            }
            if hasBody(request) {
                _ = context.channel.close(after: limits.lingerSeconds)
            }
        }
        metrics.count(route?.action, status: response.status.code)
        context.logger.log(
            .request, "request", ["route": "\(route?.path ?? "unknown")", "status": "\(response.status.code)"])
        response.headers[.cacheControl] = "no-store"
        // No answer is a script or a style sheet but those that say so.
        response.headers[.xContentTypeOptions] = "nosniff"
        return response
    }

    private func answer(
        _ request: Request, _ route: Route?, _ context: ServerContext,
        _ next: (Request, ServerContext) async throws -> Response
    ) async throws -> Response {
        var context = context
        if gate.authorities() != nil { context.certificate = try await context.channel.clientCertificate() }
        context.scope = try gate.check(request, for: route, certificate: context.certificate)
        guard let route else { throw unknown(request) }
        try checkBody(request, for: route)
        let permit = try metrics.begin(.init(action: route.action, address: context.channel.callerAddress))
        permit.deadline = context.channel.close(after: limits.seconds(for: route.action, body: bodyBytes(request)))
        var response = try await next(request, context)
        // The permit lives as long as the answer's body: a pull still runs after its head is sent. It ends
        // also when the connection breaks before the body is requested.
        let body = response.body
        response.body = ResponseBody(contentLength: body.contentLength) { writer in
            defer { withExtendedLifetime(permit) {} }
            try await body.write(writer)
        }
        return response
    }

    private func bodyBytes(_ request: Request) -> Int { request.headers[.contentLength].flatMap { Int($0) } ?? 0 }

    private func unknown(_ request: Request) -> Refusal {
        let methods = Route.methods(of: request.uri.path)
        guard !methods.isEmpty else { return Refusal(status: 404, code: "not_found", "there is no such route") }
        return Refusal(
            status: 405, code: "method_not_allowed", "this route does not take that method",
            hint: "Use \(methods.map(\.rawValue).joined(separator: " or "))")
    }

    private func checkBody(_ request: Request, for route: Route) throws {
        let limit = limits.bodyBytes(for: route.action)
        if let text = request.headers[.contentLength] {
            guard let length = Int(text), length >= 0 else {
                throw Refusal(status: 400, code: "invalid", "the Content-Length is not a number")
            }
            guard length <= limit else {
                throw Refusal(
                    status: 413, code: "too_large", "the body has \(length) bytes and at most \(limit) are taken",
                    hint: "Send fewer changes in one request")
            }
        }
        guard let type = ContentType.ofRequest(route.action) else { return }
        guard request.headers[.contentType] == type else {
            throw Refusal(
                status: 415, code: "unsupported_type", "the Content-Type is not the one of this route",
                hint: "It is \(type)")
        }
        guard request.headers[.contentEncoding] == nil else {
            throw Refusal(
                status: 415, code: "unsupported_type", "a Content-Encoding is not taken",
                hint: "Frames carry their own compression")
        }
    }

    /// True when the client may still be sending a body that is not going to be read.
    private func hasBody(_ request: Request) -> Bool {
        request.headers[.transferEncoding] != nil || (request.headers[.contentLength].map { $0 != "0" } ?? false)
    }
}

extension Channel {
    /// Closes the connection after `seconds`, unless the returned task is cancelled first.
    func close(after seconds: Int64) -> Scheduled<Void> {
        eventLoop.scheduleTask(in: .seconds(seconds)) { self.close(promise: nil) }
    }
}
