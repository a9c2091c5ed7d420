import Journal
import ServiceLifecycle
import Sync

/// Ends the daemon when its file or the write-ahead log is moved, replaced or removed.
///
/// The open file is then no longer the one that programs reach by its path. A restarted daemon opens the file
/// that is there.
struct FileSentinel: Service {
    private let replica: Replica
    private let watch: FileWatch

    /// - Throws: ``JournalError`` when the system's limit of watches is reached.
    init(replica: Replica) throws {
        self.replica = replica
        watch = try FileWatch(path: replica.path)
    }

    func run() async throws {
        let changes = watch.changes
        try await blocking { try replica.checkPlace() }
        try await cancelWhenGracefulShutdown {
            for await _ in changes { try await blocking { try replica.checkPlace() } }
        }
        // A service that returns ends the daemon.
        try? await gracefulShutdown()
    }
}
