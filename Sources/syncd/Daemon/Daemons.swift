import Foundation
import Journal
import Logging
import ServiceLifecycle
import Sync
import UnixSignals

/// `syncd run`: a daemon for each database of the configuration, in one process.
struct Daemons {
    private let source: ConfigurationSource
    private let credentials: Credentials
    private let manager: ServiceManager
    private let daemons: [Daemon]
    private let peersAtMost: Int
    private let configuration: Configuration

    /// Checks all settings, then opens the files and locks them. Nothing runs yet.
    ///
    /// - Parameter environment: The variables by which systemd says what it expects.
    /// - Throws: ``ConfigurationMistakes``, ``Failure`` or ``JournalError``, with nothing changed.
    init(_ source: ConfigurationSource, environment: [String: String] = ProcessInfo.processInfo.environment) throws {
        self.source = source
        credentials = Credentials(environment: environment)
        manager = ServiceManager(environment: environment)
        let checked = try source.read(credentials)
        configuration = checked.configuration
        let settings = checked.databases
        var limits = ServerLimits()
        let capacity = try ProcessSetup.capacity(
            connections: limits.connections, peers: settings.reduce(0) { $0 + $1.peers.count },
            databases: settings.count)
        limits.connections = capacity.connections
        limits.connectionsPerAddress = min(limits.connectionsPerAddress, max(limits.connections / 2, 1))
        peersAtMost = capacity.peers
        // All databases have those of the process.
        try SQLiteExtensions.load(named: configuration.extensions)
        daemons = try settings.map { [limits] settings in
            do {
                return try Daemon(settings, limits: limits)
            } catch {
                throw settings.name == nil ? error : Failure(of: settings.name, error)
            }
        }
    }

    /// For what is about no database. It logs as much as the most talkative of them.
    private var logger: Logger {
        let settings = daemons.map(\.current)
        return Logger.standardError(
            format: { settings.first?.value.logFormat ?? .text },
            level: { settings.map(\.value.logLevel).min() ?? .info })
    }

    /// Serves the databases and follows their peers until SIGTERM or SIGINT, then drains. When one fails, the others
    /// drain, too.
    ///
    /// - Throws: ``Failure`` when one cannot listen; ``JournalError`` when a file is moved, replaced or removed
    ///   meanwhile.
    func run() async throws {
        let logger = logger
        let reloader = SettingsReloader(
            source: source, configuration, credentials: credentials, targets: daemons.map(\.target),
            peersAtMost: peersAtMost, logger: logger)
        let greetings = Greetings(of: daemons.map(\.name), manager)
        var running: [RunningDaemon] = []
        for daemon in daemons {
            let services = try await daemon.services(reloader: reloader) { greetings.add($0) }
            running.append(RunningDaemon(daemon: daemon, services: services))
        }
        // Made before the listener is ready: from then on SIGHUP must not end the process.
        let reloading = Reloading(
            reloader: reloader, manager: manager, hangups: await UnixSignalsSequence(trapping: .sighup))
        // They are told to stop in the reverse order.
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: [
                    reloading, FileReading(reloader: reloader),
                    Watchdog(manager: manager, replicas: daemons.map(\.replica)),
                    AllDaemons(running: running), Farewell(manager: manager),
                ],
                gracefulShutdownSignals: [.sigterm, .sigint], logger: logger))
        try await group.run()
    }
}

/// A daemon with its services.
private struct RunningDaemon: Sendable {
    let daemon: Daemon
    let services: ServiceGroup
}

/// Runs the daemons side by side, and ends when all have ended.
private struct AllDaemons: Service {
    let running: [RunningDaemon]

    func run() async throws {
        let failure = await withTaskGroup(of: (any Error)?.self) { group in
            for one in running {
                group.addTask {
                    do {
                        try await one.daemon.run(one.services)
                        return nil
                    } catch {
                        return one.daemon.name == nil ? error : Failure(of: one.daemon.name, error)
                    }
                }
            }
            var first: (any Error)?
            for await case let error? in group where first == nil {
                first = error
                for one in running { await one.services.triggerGracefulShutdown() }
            }
            return first
        }
        if let failure { throw failure }
    }
}

/// Says that the process stops, as soon as it was told to.
struct Farewell: Service {
    let manager: ServiceManager

    func run() async throws {
        try? await gracefulShutdown()
        manager.tell(["STOPPING=1"])
    }
}
