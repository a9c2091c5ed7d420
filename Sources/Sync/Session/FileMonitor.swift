import Journal
import Logging

/// Checks the local file whenever it may have changed, and reports what it holds.
///
/// A check that fails is repeated after a delay. Its cause, such as a full disk or a long lock, may end
/// without a change of the file. Checks of a file that changes all the time keep the distance of
/// ``Pace/reading``. Where nobody writes, no program's log waits for a check: a check that goes on need not
/// rest, and a rest ends once the file has been still for ``stillMilliseconds``.
struct FileMonitor: Sendable {
    /// The result of a check.
    struct Finding: Sendable, Hashable {
        let position: FrameSource.Position
        /// What the file holds.
        let vector: VersionVector
        /// False when the check has to go on.
        var isComplete = true
    }

    /// Checks the file. Receives the position at the last successful check; returns nil when it is unchanged.
    let look: @Sendable (FrameSource.Position?) async throws -> Finding?
    let clock: any SyncClock
    let limits: Limits
    let logger: Logger
    let signals = SignalCount()

    /// Longer than the pauses between the signals that follow a write (``FileWatch``).
    static let stillMilliseconds: Int64 = 500

    /// Checks once, and then after each signal, until the signals end or the task is cancelled.
    func run(_ changes: AsyncStream<Void>, tell: (VersionVector) -> Void) async {
        let (looks, wanted) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let (delays, delayed) = AsyncStream.makeStream(of: Int64.self, bufferingPolicy: .bufferingNewest(1))
        await withDiscardingTaskGroup { group in
            group.addTask {
                for await _ in changes {
                    signals.add()
                    wanted.yield()
                }
                wanted.finish()
            }
            group.addTask {
                for await delay in delays {
                    // Cancelled: there are no further checks.
                    guard (try? await clock.sleep(milliseconds: delay)) != nil else { return }
                    wanted.yield()
                }
            }
            wanted.yield()
            var last: FrameSource.Position?
            var held: VersionVector?
            var goesOn = false
            var failures = 0
            var pace = Pace.reading
            for await _ in looks {
                await rest(pace.delay(at: clock.steadyMilliseconds()))
                let began = clock.steadyMilliseconds()
                do {
                    let finding = try await look(last)
                    let end = clock.steadyMilliseconds()
                    let isAlone = finding.map { goesOn && $0.vector == held } ?? false
                    // Most checks of a changed file take less than a millisecond.
                    if !isAlone { pace.took(max(end - began, finding == nil ? 0 : 1), until: end) }
                    if let finding {
                        held = finding.vector
                        goesOn = !finding.isComplete
                        last = finding.isComplete ? finding.position : nil
                        tell(finding.vector)
                        if !finding.isComplete { wanted.yield() }
                    }
                    failures = 0
                } catch {
                    let end = clock.steadyMilliseconds()
                    pace.took(end - began, until: end)
                    failures += 1
                    // Logged once for each series of failures.
                    if failures == 1 {
                        logger.log(
                            .journalUnreadable, "The journal cannot be read: \(SyncError(wrapping: error))")
                    }
                    // Other replicas do not retry on this file, so the delay needs no jitter.
                    delayed.yield(Backoff.delay(failures: failures, entropy: .max, limits: limits))
                }
            }
            group.cancelAll()
        }
    }

    /// Waits as long as programs write, at most so long.
    private func rest(_ milliseconds: Int64) async {
        var remaining = milliseconds
        while remaining > 0 {
            let before = signals.value
            let part = min(remaining, FileMonitor.stillMilliseconds)
            // Cancelled: the stream has ended, too.
            guard (try? await clock.sleep(milliseconds: part)) != nil else { return }
            if part == FileMonitor.stillMilliseconds, signals.value == before { return }
            remaining -= part
        }
    }
}
