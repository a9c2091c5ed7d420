import Foundation
import Hummingbird
import HummingbirdCore
import Journal
import Logging
import ServiceLifecycle
import Sync

/// One database of `syncd run`: serves its replica to peers, and follows them. ``Daemons`` runs it.
struct Daemon {
    /// The time within which requests and exchanges under way must end after SIGTERM.
    static let drainTime: Duration = .seconds(10)

    /// The name of the database among several; nil for the only one.
    let name: String?
    let current: CurrentSettings
    /// Its lines have the name of the database.
    let logger: Logger
    let replica: Replica
    let replicator: Replicator
    let metrics: RequestMetrics
    private let syncs = SyncMeter()
    private let drain = DrainWitness()
    private let lock: FileLock
    private let limits: ServerLimits

    /// Opens the file and locks it. Nothing runs yet.
    ///
    /// - Throws: ``Failure`` or ``JournalError``, with nothing changed.
    init(_ settings: DaemonSettings, limits: ServerLimits) throws {
        name = settings.name
        let current = CurrentSettings(settings)
        self.current = current
        self.limits = limits
        var logger = Logger.standardError(format: { current.value.logFormat }, level: { current.value.logLevel })
        if let name { logger[metadataKey: "database"] = "\(name)" }
        self.logger = logger
        replica = try Replica.open(at: settings.database, options: Daemon.options(logger, syncs.files))
        lock = try FileLock(database: settings.database)
        try Daemon.declare(settings.secrets, in: replica)
        replicator = try Replicator(
            replica: replica, peers: settings.peers, limits: settings.limits, clock: DrainingClock(), logger: logger)
        metrics = RequestMetrics(limits: limits)
        metrics.setRequestsPerSecond(settings.requestsPerSecond)
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

    private static func options(_ logger: Logger, _ files: SystemFiles) -> Replica.Options {
        var options = Replica.Options()
        options.logger = logger
        options.files = files
        return options
    }

    /// What a reload changes.
    var target: ReloadTarget {
        ReloadTarget(
            current: current, logger: logger, following: { [replicator] in try replicator.following($0) },
            applied: { [metrics] in metrics.setRequestsPerSecond($0.requestsPerSecond) })
    }

    /// Returns the services of the database. They begin to run with the group, and drain when the task that runs it
    /// is told to stop, or the group itself.
    ///
    /// - Parameters:
    ///   - reloader: Reads the configuration of the process again.
    ///   - onListening: Called once, when connections are accepted.
    /// - Throws: Errors of the file; ``JournalError`` when the system's limit of watches is reached.
    func services(
        reloader: any Reloader, onListening: @escaping @Sendable (Greeting) -> Void
    ) async throws -> ServiceGroup {
        let settings = current.value
        let current = current
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
                gate: gate, syncs: syncs, live: live),
            limits: limits, metrics: metrics, logger: logger)
        let application = try listener.application { [name] port in
            onListening(
                Greeting(
                    name: name, isSecure: settings.certificate != nil,
                    address: ListenAddress(host: settings.address.host, port: port), identity: identity))
        }
        var configuration = ServiceGroupConfiguration(
            services: [
                drain, Following(replicator: replicator), try FileSentinel(replica: replica), hooks, followUp,
                application,
                // Services are told to stop from the last one to the first, each when the one behind it has ended. The
                // listener ends with its connections, and those of browsers end with the updates.
                updates,
            ], logger: logger)
        configuration.maximumGracefulShutdownDuration = Daemon.drainTime
        return ServiceGroup(configuration: configuration)
    }

    /// Runs the services until they are told to stop, then closes the replica.
    ///
    /// - Throws: ``Failure`` when it cannot listen; ``JournalError`` when the file is moved, replaced or
    ///   removed meanwhile.
    func run(_ services: ServiceGroup) async throws {
        try await drain.run(services, listeningOn: current.value.address, logger)
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
