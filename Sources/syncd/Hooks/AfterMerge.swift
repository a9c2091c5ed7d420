import GRDB
import Journal
import Logging
import ServiceLifecycle
import Sync
import Synchronization

/// Runs the operator's SQL after changes of peers were merged: the way for what a program keeps beside its tables and
/// merging cannot keep, such as an index whose triggers call functions of the program.
///
/// What the SQL writes into tables that replicate is a change of this machine, like that of any program.
final class AfterMerge: Service {
    /// The least time from one run to the next. What is merged meanwhile is followed once.
    static let pause: Duration = .seconds(1)

    private let replica: Replica
    private let logger: Logger
    private let sql: @Sendable () -> String?

    /// - Parameter sql: Returns the SQL of this moment; nil for none.
    init(_ replica: Replica, logger: Logger, sql: @escaping @Sendable () -> String?) {
        self.replica = replica
        self.logger = logger
        self.sql = sql
    }

    func run() async throws {
        await cancelWhenGracefulShutdown {
            let (looks, wanted) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
            await withDiscardingTaskGroup { group in
                group.addTask {
                    await FileLooks(self.replica.path) { self.sql() != nil }.run { wanted.yield() }
                }
                // The daemon may have ended between a merge and what follows it, so it runs once at the start.
                var followed: VersionVector?
                wanted.yield()
                for await _ in looks {
                    followed = await self.follow(followed)
                    try? await Task.sleep(for: AfterMerge.pause)
                }
                group.cancelAll()
            }
        }
        // A service that returns ends the daemon.
        try? await gracefulShutdown()
    }

    /// Runs the SQL if something was merged.
    ///
    /// - Parameter followed: What was merged when it ran last; nil when it never ran.
    /// - Returns: What was merged when it ran last.
    private func follow(_ followed: VersionVector?) async -> VersionVector? {
        guard let sql = sql() else { return nil }
        do {
            return try await blocking { [replica, logger] in
                let merged = try MergedChanges.vector(replica)
                guard followed != merged else { return merged }
                try MergedChanges.follow(by: sql, replica)
                logger.log(.mergeFollowed, "after-merge has run")
                return merged
            }
        } catch {
            let failure = Failure(describing: error)
            logger.log(.mergeNotFollowed, "after-merge failed: \(failure?.message ?? "\(error)")")
            // The same SQL over the same rows fails in the same way: it waits for the next merge.
            return (try? MergedChanges.vector(replica)) ?? followed
        }
    }
}

/// What has come from others.
enum MergedChanges {
    /// Up to which version of each other replica changes are merged.
    static func vector(_ replica: Replica) throws -> VersionVector {
        try replica.read { db in
            let reader = try JournalReader(db)
            return VersionVector(reader.vector().entries.filter { $0.origin != reader.identity.origin })
        }
    }

    /// Runs SQL as one transaction of a program, with triggers and capture.
    ///
    /// - Throws: ``JournalError``; errors of SQLite. Nothing is written then.
    static func follow(by sql: String, _ replica: Replica) throws {
        do {
            try replica.write { try $0.execute(sql: sql) }
        } catch {
            throw JournalError(error, operation: "Running the SQL of after-merge")
        }
    }
}
