import Journal
import ServiceLifecycle
import Sync

/// Ends the daemon when its file is taken away: moved, replaced or removed, or its write-ahead log was.
///
/// What it would go on serving is nobody's file any more. Started again, it opens the file that is there then.
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
        // A service that ends by itself would end the daemon.
        try? await gracefulShutdown()
    }
}
