import Journal
import ServiceLifecycle
import Sync

/// Gives the service manager signs of life, each after a read of each file.
///
/// The reads run on the threads that all work on files shares. When they or a disk hang, the signs stop,
/// and the manager starts the daemon again.
struct Watchdog: Service {
    let manager: ServiceManager
    let replicas: [Replica]

    func run() async throws {
        if let interval = manager.watchdogInterval {
            try? await cancelWhenGracefulShutdown {
                while true {
                    try await Task.sleep(for: interval / 2)
                    // A file that cannot be read is no hang, and does not get better by a restart.
                    for replica in replicas { _ = try? await blocking { try replica.identity() } }
                    manager.tell(["WATCHDOG=1"])
                }
            }
        }
        // A service that returns ends the daemon.
        try? await gracefulShutdown()
    }
}
