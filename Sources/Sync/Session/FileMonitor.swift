import Journal
import Logging

/// Looks at the local file whenever it may have changed, and tells what it holds then.
///
/// A look that fails is made again after a while: what kept it from looking, such as a full disk or a lock that somebody held for long, may
/// end without a change of the file.
struct FileMonitor: Sendable {
    /// What a look found.
    struct Finding: Sendable, Hashable {
        let position: FrameSource.Position
        /// What the file holds.
        let vector: VersionVector
    }

    /// Gets where the file stood at the last look that succeeded; returns nil when it stands there still.
    let look: @Sendable (FrameSource.Position?) async throws -> Finding?
    let clock: any SyncClock
    let limits: Limits
    let logger: Logger

    /// Looks once, and then after each signal, until the signals end or the task is cancelled.
    func run(_ changes: AsyncStream<Void>, tell: (VersionVector) -> Void) async {
        let (looks, wanted) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let (delays, delayed) = AsyncStream.makeStream(of: Int64.self, bufferingPolicy: .bufferingNewest(1))
        await withDiscardingTaskGroup { group in
            group.addTask {
                for await _ in changes { wanted.yield() }
                wanted.finish()
            }
            group.addTask {
                for await delay in delays {
                    // Cancelled: nobody looks any more.
                    guard (try? await clock.sleep(milliseconds: delay)) != nil else { return }
                    wanted.yield()
                }
            }
            wanted.yield()
            var last: FrameSource.Position?
            var failures = 0
            for await _ in looks {
                do {
                    if let finding = try await look(last) {
                        last = finding.position
                        tell(finding.vector)
                    }
                    failures = 0
                } catch {
                    failures += 1
                    // Once for each time that it begins to fail.
                    if failures == 1 { logger.warning("The journal cannot be read: \(SyncError(wrapping: error))") }
                    // Nobody else waits for this file, so nothing has to be spread.
                    delayed.yield(Backoff.delay(failures: failures, entropy: .max, limits: limits))
                }
            }
            group.cancelAll()
        }
    }
}
