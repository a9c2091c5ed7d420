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
    /// Everything is read and checked first. With a mistake, nothing changes. Exchanges with peers that stay
    /// as they are go on.
    ///
    /// - Throws: ``ConfigurationMistakes``, ``Failure`` and errors of a peer's file. They are in the log then.
    func reload() async throws -> ReloadPlan

    /// Why the last reload has changed nothing; nil when it succeeded, and before the first one.
    var refusal: String? { get }
}

/// The reloads of a running daemon, one after the other.
final class SettingsReloader: Reloader {
    private let source: ConfigurationSource
    private let credentials: Credentials
    private let current: CurrentSettings
    private let follow: @Sendable ([PeerConfiguration]) throws -> Void
    /// How many peers may be followed.
    private let peersAtMost: Int
    private let logger: Logger
    private let applied: @Sendable (DaemonSettings) -> Void
    private let last = Mutex<String?>(nil)
    private let turn = Mutex(())

    /// - Parameters:
    ///   - follow: Goes on with these peers, or changes nothing and throws.
    ///   - applied: Receives new settings after they are in ``CurrentSettings``.
    init(
        source: ConfigurationSource, credentials: Credentials, current: CurrentSettings, peersAtMost: Int,
        logger: Logger, follow: @escaping @Sendable ([PeerConfiguration]) throws -> Void,
        applied: @escaping @Sendable (DaemonSettings) -> Void = { _ in }
    ) {
        self.applied = applied
        self.source = source
        self.credentials = credentials
        self.current = current
        self.follow = follow
        self.peersAtMost = peersAtMost
        self.logger = logger
    }

    var refusal: String? { last.withLock { $0 } }

    func reload() async throws -> ReloadPlan {
        do {
            let plan = try await blocking { [self] in try turn.withLock { _ in try takeOver() } }
            last.withLock { $0 = nil }
            logger.log(.configurationApplied, "configuration read again: \(plan.summary)")
            return plan
        } catch {
            let failure = Failure(describing: error)
            last.withLock { $0 = failure?.message ?? "\(error)" }
            guard let mistakes = error as? ConfigurationMistakes else {
                logger.log(
                    .configurationRefused, "configuration not changed: \(failure?.message ?? "\(error)")",
                    ["hint": "\(failure?.hint ?? "Check the configuration.")"])
                throw error
            }
            for mistake in mistakes.all {
                let line = mistake.place.map { ", line \($0.line)" } ?? ""
                logger.log(
                    .configurationRefused, "configuration not changed\(line): \(mistake.message)",
                    ["hint": "\(mistake.hint)"])
            }
            throw error
        }
    }

    private func takeOver() throws -> ReloadPlan {
        let wanted = try source.settings(credentials)
        let plan = try ReloadPlan(from: current.value, to: wanted, peersAtMost: peersAtMost)
        // This is the only step that can fail, so it comes before the others.
        try follow(plan.settings.peers)
        current.replace(by: plan.settings)
        applied(plan.settings)
        return plan
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
