import Logging
import ServiceLifecycle
import Synchronization

/// Notes whether services were cancelled because they did not end within ``Daemon/drainTime``.
///
/// It comes first among the services of its group. They are told to stop from the last one to the first, each when the
/// one behind it has ended. So this one is told only when all others have ended in time.
final class DrainWitness: Service {
    private let cut = Atomic(false)

    /// True once the services were cancelled.
    var isCutShort: Bool { cut.load(ordering: .acquiring) }

    func run() async {
        do { try await gracefulShutdown() } catch { cut.store(true, ordering: .releasing) }
    }

    /// Runs the services, of which this is the first, until they have ended. Logs when they were cancelled.
    ///
    /// - Parameter address: Where they listen.
    /// - Throws: ``Failure`` when they cannot listen; what a service throws.
    func run(_ services: ServiceGroup, listeningOn address: ListenAddress, _ logger: Logger) async throws {
        do {
            try await services.run()
        } catch is CancellationError {
            // Thrown by a service that was cancelled.
        } catch {
            if let failure = Failure(listeningOn: address, error) { throw failure }
            throw error
        }
        guard isCutShort else { return }
        logger.log(.cutShort, "requests or exchanges under way did not end in time and were cancelled")
    }
}
