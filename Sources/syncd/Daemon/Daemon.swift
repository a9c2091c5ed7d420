import Foundation
import Hummingbird
import HummingbirdCore
import Journal
import Logging
import ServiceLifecycle
import Sync
import UnixSignals

/// `syncd run`: serves one replica to its peers, and follows them.
struct Daemon {
    /// The time within which requests and exchanges under way must end after SIGTERM.
    static let drainTime: Duration = .seconds(10)

    private let source: ConfigurationSource
    private let credentials: Credentials
    private let manager: ServiceManager
    private let current: CurrentSettings
    private let logger: Logger
    private let replica: Replica
    private let replicator: Replicator
    private let lock: FileLock
    private let limits: ServerLimits
    private let peersAtMost: Int

    /// Checks the settings, opens the file and locks it. Nothing runs yet.
    ///
    /// - Parameter environment: The variables by which systemd says what it expects.
    /// - Throws: ``ConfigurationMistakes``, ``Failure`` or ``JournalError``, with nothing changed.
    init(_ source: ConfigurationSource, environment: [String: String] = ProcessInfo.processInfo.environment) throws {
        self.source = source
        credentials = Credentials(environment: environment)
        manager = ServiceManager(environment: environment)
        let settings = try source.settings(credentials)
        let current = CurrentSettings(settings)
        self.current = current
        var limits = ServerLimits()
        let capacity = try ProcessSetup.capacity(connections: limits.connections, peers: settings.peers.count)
        limits.connections = capacity.connections
        limits.connectionsPerAddress = min(limits.connectionsPerAddress, max(limits.connections / 2, 1))
        self.limits = limits
        peersAtMost = capacity.peers
        logger = Logger.standardError(format: { current.value.logFormat }, level: { current.value.logLevel })
        try SQLiteExtensions.load(named: settings.extensions)
        replica = try Replica.open(at: settings.database, options: Daemon.options(logger))
        lock = try FileLock(database: settings.database)
        try Daemon.declare(settings.secrets, in: replica)
        replicator = try Replicator(
            replica: replica, peers: settings.peers, limits: settings.limits, clock: DrainingClock(), logger: logger)
    }

    /// Declares the secret columns of the configuration in the file, where every command finds them.
    ///
    /// - Throws: ``Failure`` for a name that is no column, and for a column of a key; errors of the file.
    private static func declare(_ secrets: [ColumnArgument], in replica: Replica) throws {
        let columns = secrets.map { SecretColumns.Column(table: $0.table, column: $0.column) }
        guard
            try replica.read({ db in
                for secret in secrets { try secret.checkSecret(replica.path, db) }
                return try !SecretColumns(db).covers(columns)
            })
        else { return }
        try replica.write { try SecretColumns.declare(columns, $0) }
    }

    private static func options(_ logger: Logger) -> Replica.Options {
        var options = Replica.Options()
        options.logger = logger
        return options
    }

    /// Serves the replica and follows its peers until SIGTERM or SIGINT, then drains.
    ///
    /// - Throws: ``Failure`` when it cannot listen; ``JournalError`` when the file is moved, replaced or
    ///   removed meanwhile.
    func run() async throws {
        let settings = current.value
        let metrics = RequestMetrics(limits: limits)
        metrics.setRequestsPerSecond(settings.requestsPerSecond)
        let current = current
        let reloader = SettingsReloader(
            source: source, credentials: credentials, current: current, peersAtMost: peersAtMost, logger: logger,
            follow: { [replicator] in try replicator.follow($0) },
            applied: { metrics.setRequestsPerSecond($0.requestsPerSecond) })
        let identity = try replica.identity()
        let sessions = Sessions(name: identity.origin.short, isSecure: settings.certificate != nil) {
            current.value.accessTokens
        }
        let gate = AccessGate(
            tokens: { current.value.accessTokens }, sessions: sessions,
            authorities: { current.value.clientAuthorities })
        let live = LiveFeed()
        let reports = ReportSource(replica: replica, replicator: replicator, reloader: reloader)
        let updates = LiveUpdates(feed: live, reports: reports)
        let hooks = try await Hooks(reports, logger: logger) { current.value.hooks }
        let followUp = AfterMerge(replica, logger: logger) { current.value.afterMerge }
        let listener = Listener(
            address: settings.address,
            tls: settings.certificate?.configuration(asksClients: settings.clientAuthorities != nil) {
                current.value.certificate
            },
            gate: gate,
            handlers: Handlers(
                replica: replica, replicator: replicator, metrics: metrics, limits: limits, reloader: reloader,
                gate: gate,
                live: live),
            limits: limits, metrics: metrics, logger: logger)
        let scheme = settings.certificate == nil ? "http" : "https"
        let manager = manager
        let application = try listener.application { port in
            let url = "\(scheme)://\(ListenAddress(host: settings.address.host, port: port))"
            Console.line("Listening on \(url) as replica \(identity.origin.short) of cluster \(identity.cluster).")
            manager.tell(["READY=1", "STATUS=Listening on \(url)"])
        }
        // Made before the listener is ready: from then on SIGHUP must not end the process.
        let reloading = Reloading(
            reloader: reloader, manager: manager, hangups: await UnixSignalsSequence(trapping: .sighup))
        var configuration = ServiceGroupConfiguration(
            services: [
                Following(replicator: replicator), try FileSentinel(replica: replica), reloading,
                Watchdog(manager: manager) { [replica] in _ = try replica.identity() }, Farewell(manager: manager),
                updates, hooks, followUp,
                application,
            ],
            gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
        configuration.maximumGracefulShutdownDuration = Daemon.drainTime
        do {
            try await ServiceGroup(configuration: configuration).run()
        } catch is CancellationError {
            logger.log(.cutShort, "requests or exchanges under way did not end in time and were cancelled")
        } catch {
            if let failure = Failure(listeningOn: settings.address, error) { throw failure }
            throw error
        }
        try close()
        logger.log(.stopped, "stopped")
    }

    /// Closes the replica. The checkpoint that it begins with needs room on the disk; without, the log stays
    /// as it is, with everything that was acknowledged, and the next program that opens the file goes on with
    /// it.
    private func close() throws {
        do {
            try replica.close()
        } catch let error as JournalError where error.sqliteCode.map({ SQLiteFailure(code: $0).meaning }) == .full {
            logger.log(.logKept, "the log stays beside the database until there is room for it: \(error.message)")
        }
    }
}

/// Follows the peers until the daemon is told to stop.
private struct Following: Service {
    let replicator: Replicator

    func run() async throws {
        await cancelWhenGracefulShutdown { await replicator.run() }
        // Without peers `run` returns at once, and a service that returns ends the daemon.
        try? await gracefulShutdown()
    }
}

/// Says that the daemon stops, as soon as it was told to.
struct Farewell: Service {
    let manager: ServiceManager

    func run() async throws {
        try? await gracefulShutdown()
        manager.tell(["STOPPING=1"])
    }
}
