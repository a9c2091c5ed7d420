import Journal
import Logging
import ServiceLifecycle
import Sync
import Synchronization
import UnixSignals

/// Reads the configuration and the files that it names again.
protocol Reloader: Sendable {
    /// Reads everything again, and applies what changed.
    ///
    /// Everything is read and checked first, for all databases. With a mistake, nothing changes. Exchanges with peers
    /// that stay as they are go on.
    ///
    /// - Throws: ``ConfigurationMistakes``, ``Failure`` and errors of a peer's file. They are in the log then.
    func reload() async throws -> ReloadPlans

    /// Why the last reload has changed nothing; nil when it succeeded, and before the first one.
    var refusal: String? { get }
}

/// What a reload changes of one database, or of a hub.
struct ReloadTarget: Sendable {
    let current: CurrentSettings
    let logger: Logger
    /// Makes the connections to these peers, and returns what goes over to them. It throws when it cannot; nothing
    /// has changed then.
    let following: @Sendable ([PeerConfiguration]) throws -> () -> Void
    /// Receives new settings after they are in ``CurrentSettings``.
    let applied: @Sendable (DaemonSettings) -> Void
}

/// The reloads of a running process, one after the other.
final class SettingsReloader: Reloader {
    private let source: ConfigurationSource
    private let credentials: Credentials
    private let targets: [ReloadTarget]
    /// How many peers all databases together may follow.
    private let peersAtMost: Int
    private let logger: Logger
    private let state: Mutex<State>
    private let turn = Mutex(())

    private struct State {
        /// With what the daemons run, but for what needs a restart.
        var configuration: Configuration
        /// Why the configuration of the last reload is not used.
        var refusedConfiguration: String?
        /// Why the files that the configuration names are not used as they are now.
        var refusedFiles: String?
    }

    /// - Parameters:
    ///   - configuration: With what the daemons were started.
    ///   - targets: The databases that run.
    ///   - logger: For what is about no database.
    init(
        source: ConfigurationSource, _ configuration: Configuration, credentials: Credentials,
        targets: [ReloadTarget], peersAtMost: Int, logger: Logger
    ) {
        self.source = source
        self.credentials = credentials
        self.targets = targets
        self.peersAtMost = peersAtMost
        self.logger = logger
        state = Mutex(State(configuration: configuration))
    }

    var refusal: String? { state.withLock { $0.refusedConfiguration ?? $0.refusedFiles } }

    /// The paths of the files that the configuration names.
    var files: Set<String> {
        let named = state.withLock { $0.configuration.files }
        return Set(named.compactMap { try? credentials.resolved($0) })
    }

    func reload() async throws -> ReloadPlans {
        do {
            let plans = try await blocking { [self] in try turn.withLock { _ in try readConfiguration() } }
            for (target, plan) in zip(targets, plans.plans) {
                guard let plan else { continue }
                target.logger.log(.configurationApplied, "configuration read again: \(plan.summary)")
            }
            if let summary = plans.summary {
                logger.log(.configurationApplied, "configuration read again: \(summary)")
            }
            return plans
        } catch {
            log("configuration not changed", error)
            throw error
        }
    }

    /// Reads the files again that the configuration names, and applies what changed, as ``reload()`` does. The
    /// configuration itself is not read. With a mistake, nothing changes; it is in the log.
    func readFiles() async {
        do {
            let plans = try await blocking { [self] in try turn.withLock { _ in try readNamedFiles() } }
            for (target, plan) in zip(targets, plans.plans) {
                guard let names = plan?.appliedNames else { continue }
                target.logger.log(.configurationApplied, "files have changed: applied \(names)")
            }
        } catch {
            log("files have changed and are not used", error, withLines: false)
        }
    }

    private func readConfiguration() throws -> ReloadPlans {
        var read: Configuration?
        do {
            let check = try ConfigurationCheck(source, credentials)
            read = check.configuration
            let checked = try CheckedConfiguration(check, file: source.file)
            let plans = try apply(checked.databases)
            state.withLock { state in
                // The files of the databases that run are looked at further on.
                if !plans.isRearranged { state.configuration = checked.configuration }
                state.refusedConfiguration = nil
                state.refusedFiles = nil
            }
            return plans
        } catch {
            let reason = Failure(describing: error)?.message ?? "\(error)"
            state.withLock { state in
                // When the configuration is the same, a file that it names is wrong. It may be mended without a reload.
                let isOfFiles = read == state.configuration
                state.refusedConfiguration = isOfFiles ? nil : reason
                state.refusedFiles = isOfFiles ? reason : nil
            }
            throw error
        }
    }

    private func readNamedFiles() throws -> ReloadPlans {
        do {
            let check = ConfigurationCheck(state.withLock { $0.configuration }, credentials)
            // Its lines may have moved since it was read.
            let plans = try apply(try CheckedConfiguration(check, file: nil).databases)
            state.withLock { $0.refusedFiles = nil }
            return plans
        } catch {
            let reason = Failure(describing: error)?.message ?? "\(error)"
            state.withLock { $0.refusedFiles = reason }
            throw error
        }
    }

    private func apply(_ wanted: [DaemonSettings]) throws -> ReloadPlans {
        let plans = try ReloadPlans(from: targets.map(\.current.value), to: wanted, peersAtMost: peersAtMost)
        // These are the only steps that can fail, so they come before the others.
        let changes = try zip(targets, plans.plans).compactMap { target, plan in
            try plan.map { plan in
                (target: target, settings: plan.settings, follow: try target.following(plan.settings.peers))
            }
        }
        for change in changes {
            change.follow()
            change.target.current.replace(by: change.settings)
            change.target.applied(change.settings)
        }
        return plans
    }

    private func log(_ outcome: String, _ error: any Error, withLines: Bool = true) {
        let failure = Failure(describing: error)
        guard let mistakes = error as? ConfigurationMistakes else {
            logger.log(
                .configurationRefused, "\(outcome): \(failure?.message ?? "\(error)")",
                ["hint": "\(failure?.hint ?? "Check the configuration.")"])
            return
        }
        for mistake in mistakes.all {
            let line = (withLines ? mistake.place : nil).map { ", line \($0.line)" } ?? ""
            logger.log(
                .configurationRefused, "\(outcome)\(line): \(mistake.message)", ["hint": "\(mistake.hint)"])
        }
    }
}

/// Reloads at each SIGHUP.
struct Reloading: Service {
    let reloader: any Reloader
    let manager: ServiceManager
    let hangups: UnixSignalsSequence

    func run() async throws {
        await cancelWhenGracefulShutdown {
            for await _ in hangups {
                manager.tell(["RELOADING=1"])
                // What failed is in the log.
                _ = try? await reloader.reload()
                manager.tell(["READY=1"])
            }
        }
        // A service that returns ends the daemon.
        try? await gracefulShutdown()
    }
}
