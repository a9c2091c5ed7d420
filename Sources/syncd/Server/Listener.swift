import Hummingbird
import HummingbirdCore
import HummingbirdHTTP2
import Logging
import NIOCore
import NIOSSL

/// The HTTP server: all routes of ``Route/all``, each behind the ``RequestGuard``.
struct Listener: Sendable {
    let address: ListenAddress
    let tls: TLSConfiguration?
    let gate: AccessGate
    let handlers: any RequestHandlers
    let limits: ServerLimits
    let metrics: RequestMetrics
    let logger: Logger

    /// Returns the service to run.
    ///
    /// - Parameter onListening: Called once with the actual port, when connections are accepted.
    func application(
        onListening: @escaping @Sendable (Int) async -> Void
    ) throws -> some ApplicationProtocol {
        let router = Router(context: ServerContext.self)
        router.middlewares.add(RequestGuard(gate: gate, limits: limits, metrics: metrics))
        for route in Route.all {
            let action = route.action
            let handlers = handlers
            router.on(RouterPath(route.path), method: route.method) { request, context in
                try await handlers.answer(action, request, context)
            }
        }
        // Hummingbird logs each connection. At info and notice that would hide what an operator needs to see.
        var quiet = logger
        if quiet.logLevel < .warning, quiet.logLevel > .debug { quiet.logLevel = .warning }
        return Application(
            router: router,
            server: try serverBuilder(),
            configuration: ApplicationConfiguration(
                address: .hostname(address.host, port: address.port),
                serverName: "syncd",
                backlog: 512,
                availableConnectionsDelegate: MaximumAvailableConnections(limits.connections, logger: quiet)),
            onServerRunning: { channel in
                await onListening(channel.localAddress?.port ?? address.port)
            },
            logger: quiet)
    }

    private func serverBuilder() throws -> HTTPServerBuilder {
        let channel = HTTP1Channel.Configuration(
            additionalChannelHandlers: [HeaderOverflow()],
            idleTimeout: .seconds(limits.idleSeconds),
            httpDecoderConfiguration: .init(
                maxHeaderFieldSize: limits.headerFieldBytes, maxHeaderListSize: limits.headerBytes,
                maxHeaderFieldCount: limits.headerCount))
        let connections = ConnectionCounts()
        let limits = limits
        guard let tls else {
            return HTTPServerBuilder { responder in
                AdmittedChannel(
                    base: HTTP1Channel(responder: responder, configuration: channel), connections: connections,
                    limits: limits)
            }
        }
        // It is called for a certificate only when the configuration asks for one. TLS proves that the caller has the
        // key of what it shows.
        let accept: HummingbirdHTTP2.TLSChannelConfiguration.CustomVerificationCallback = { _, result in
            result.succeed(.certificateVerified)
        }
        let handshake = HummingbirdHTTP2.TLSChannelConfiguration(
            tlsConfiguration: tls, customVerificationCallback: accept)
        return HTTPServerBuilder { responder in
            AdmittedChannel(
                base: try HTTP2UpgradeChannel(
                    tlsChannelConfiguration: handshake,
                    configuration: .init(idleTimeout: .seconds(limits.idleSeconds), streamConfiguration: channel),
                    responder: responder),
                connections: connections, limits: limits)
        }
    }
}
