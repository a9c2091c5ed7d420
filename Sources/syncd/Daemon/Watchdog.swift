import ServiceLifecycle
import Sync

/// Gives the service manager signs of life, each after a look, such as a read of the file.
///
/// The look runs on the threads that all work on the file shares. When they or the disk hang, the signs stop,
/// and the manager starts the daemon again.
struct Watchdog: Service {
    let manager: ServiceManager
    let look: @Sendable () throws -> Void

    func run() async throws {
        if let interval = manager.watchdogInterval {
            try? await cancelWhenGracefulShutdown {
                while true {
                    try await Task.sleep(for: interval / 2)
                    // A file that cannot be read is no hang, and does not get better by a restart.
                    _ = try? await blocking(look)
                    manager.tell(["WATCHDOG=1"])
                }
            }
        }
        // A service that returns ends the daemon.
        try? await gracefulShutdown()
    }
}
