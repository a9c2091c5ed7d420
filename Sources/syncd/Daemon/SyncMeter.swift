import Journal
import Sync
import Synchronization

/// Measures the syncs of a daemon's files: of the log before changes leave the file, and of the records beside the
/// database. SQLite's own syncs in commits and checkpoints are not among them; they reach the same disk.
final class SyncMeter: Sendable {
    private let histogram = Mutex(DurationHistogram.syncing)

    /// The syncs since the start.
    var times: DurationHistogram { histogram.withLock { $0 } }

    /// Files whose syncs are measured, also those that fail.
    var files: SystemFiles {
        SystemFiles { [self] sync in
            let clock = ContinuousClock()
            let start = clock.now
            defer { note(clock.now - start) }
            try sync()
        }
    }

    private func note(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        histogram.withLock { $0.add(microseconds: seconds * 1_000_000 + attoseconds / 1_000_000_000_000) }
    }
}
