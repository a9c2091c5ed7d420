import Journal
import Logging
import ServiceLifecycle
import Sync
import UnixSignals

/// Reads the configuration and the files that it names again at each SIGHUP.
///
/// Everything is read and checked first. With a mistake, nothing changes. Exchanges with peers that stay as
/// they are go on.
struct Reloading: Service {
    let source: ConfigurationSource
    let credentials: Credentials
    let current: CurrentSettings
    let replicator: Replicator
    /// How many peers may be followed.
    let peersAtMost: Int
    let manager: ServiceManager
    let logger: Logger
    let hangups: UnixSignalsSequence

    func run() async throws {
        await cancelWhenGracefulShutdown {
            for await _ in hangups {
                manager.tell(["RELOADING=1"])
                await reload()
                manager.tell(["READY=1"])
            }
        }
        // A service that returns ends the daemon.
        try? await gracefulShutdown()
    }

    private func reload() async {
        do {
            let plan = try await blocking { [self] in
                let wanted = try source.settings(credentials)
                let plan = try ReloadPlan(from: current.value, to: wanted, peersAtMost: peersAtMost)
                // This is the only step that can fail, so it comes before the others.
                try replicator.follow(plan.settings.peers)
                current.replace(by: plan.settings)
                return plan
            }
            logger.notice("configuration read again: \(plan.summary)")
        } catch let mistakes as ConfigurationMistakes {
            for mistake in mistakes.all {
                let line = mistake.place.map { ", line \($0.line)" } ?? ""
                logger.error(
                    "configuration not changed\(line): \(mistake.message)", metadata: ["hint": "\(mistake.hint)"])
            }
        } catch {
            let failure = Failure(describing: error)
            logger.error(
                "configuration not changed: \(failure?.message ?? "\(error)")",
                metadata: ["hint": "\(failure?.hint ?? "Check the configuration.")"])
        }
    }
}
