import Foundation
import Hummingbird
import Logging
import ServiceLifecycle
import Sync
import UnixSignals

/// `syncd hub`: serves an archive to replicas.
struct HubDaemon {
    private let source: ConfigurationSource
    private let credentials: Credentials
    private let configuration: Configuration
    private let manager: ServiceManager
    private let current: CurrentSettings
    private let logger: Logger
    private let hub: Hub
    /// Other hubs of the archive.
    private let peers: [any Transport]
    private let store: String
    private let limits: ServerLimits

    /// Checks the settings. Nothing runs yet, and nothing is asked of the store.
    ///
    /// - Parameters:
    ///   - source: Its first peer is the archive, and the others are hubs of it.
    ///   - environment: The variables by which systemd says what it expects, and where credentials are.
    /// - Throws: ``ConfigurationMistakes`` or ``Failure``.
    init(
        _ source: ConfigurationSource, hub limits: HubLimits,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws {
        self.source = source
        credentials = Credentials(environment: environment)
        manager = ServiceManager(environment: environment)
        let checked = try source.read(credentials)
        configuration = checked.configuration
        guard let settings = checked.databases.first, let archive = settings.peers.first else {
            throw Failure("A hub needs an archive", hint: "Name it with --store.")
        }
        let current = CurrentSettings(settings)
        self.current = current
        var server = ServerLimits()
        let capacity = try ProcessSetup.capacity(
            connections: server.connections, peers: settings.peers.count, databases: 1)
        server.connections = capacity.connections
        server.connectionsPerAddress = min(server.connectionsPerAddress, max(server.connections / 2, 1))
        // A push has no work for a disk of this machine, and waits for the store.
        server.bodies = server.pulls
        self.limits = server
        logger = Logger.standardError(format: { current.value.logFormat }, level: { current.value.logLevel })
        store = archive.name
        var replication = settings.limits
        replication.hub = limits
        if case .archive(let address) = archive.address { replication.archive = address.limits(replication.archive) }
        peers = try settings.peers.dropFirst().map { peer in
            guard case .http = peer.address else {
                throw Failure(
                    "\(peer.name) is no hub", hint: "A hub follows other hubs: http://host:port or https://host:port.")
            }
            return try CurlTransport(peer, limits: replication)
        }
        hub = Hub(try StoreArgument.open(archive), limits: replication, clock: DrainingClock(), logger: logger)
    }

    /// Serves the archive until SIGTERM or SIGINT, then drains.
    ///
    /// - Throws: ``Failure`` when it cannot listen.
    func run() async throws {
        let settings = current.value
        let metrics = RequestMetrics(limits: limits)
        metrics.setRequestsPerSecond(settings.requestsPerSecond)
        let current = current
        // The peers are flags, which a reload does not change.
        let target = ReloadTarget(
            current: current, logger: logger, following: { _ in {} },
            applied: { metrics.setRequestsPerSecond($0.requestsPerSecond) })
        let reloader = SettingsReloader(
            source: source, configuration, credentials: credentials, targets: [target],
            peersAtMost: settings.peers.count, logger: logger)
        let gate = AccessGate(
            tokens: { current.value.accessTokens },
            sessions: Sessions(name: "hub", isSecure: settings.certificate != nil) { current.value.accessTokens },
            authorities: { current.value.clientAuthorities })
        let listener = Listener(
            address: settings.address,
            tls: settings.certificate?.configuration(asksClients: settings.clientAuthorities != nil) {
                current.value.certificate
            },
            gate: gate,
            handlers: HubHandlers(
                endpoint: HubEndpoint(hub), reloader: reloader, metrics: metrics,
                bodies: BodyReader(metrics: metrics, limits: limits)),
            limits: limits, metrics: metrics, logger: logger)
        let scheme = settings.certificate == nil ? "http" : "https"
        let (manager, store) = (manager, store)
        let application = try listener.application { port in
            let url = "\(scheme)://\(ListenAddress(host: settings.address.host, port: port))"
            Console.line("Listening on \(url) as a hub of \(store).")
            manager.tell(["READY=1", "STATUS=Listening on \(url)"])
        }
        // Made before the listener is ready: from then on SIGHUP must not end the process.
        let reloading = Reloading(
            reloader: reloader, manager: manager, hangups: await UnixSignalsSequence(trapping: .sighup))
        let drain = DrainWitness()
        var configuration = ServiceGroupConfiguration(
            services: [
                drain, HubService(hub: hub, peers: peers), reloading, FileReading(reloader: reloader),
                Watchdog(manager: manager, replicas: []), Farewell(manager: manager), application,
            ],
            gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
        configuration.maximumGracefulShutdownDuration = Daemon.drainTime
        try await drain.run(ServiceGroup(configuration: configuration), listeningOn: settings.address, logger)
        logger.log(.stopped, "stopped")
    }
}

/// Reads the archive, and follows other hubs, until the hub is told to stop.
private struct HubService: Service {
    let hub: Hub
    let peers: [any Transport]

    func run() async throws {
        await cancelWhenGracefulShutdown {
            await withDiscardingTaskGroup { group in
                for peer in peers { group.addTask { await hub.follow(peer) } }
                await hub.run()
                group.cancelAll()
            }
        }
    }
}
