import GRDB
import Journal
import Logging
import SimulatedDisk
import Sync
import TestSupport

/// The production daemon of one machine from its start to its end: replica, inbox, endpoint, followers.
///
/// Unchecked: see ``Scheduler``.
final class Daemon: @unchecked Sendable {
    let replica: Replica
    let replicator: Replicator
    let executor: ProcessExecutor
    let server: Server
    private let task: Task<Void, Never>

    /// What the transports of the process need.
    struct Process {
        let replica: Replica
        /// 64 random bits at each call.
        let entropy: @Sendable () -> UInt64
    }

    /// - Parameters:
    ///   - durability: The durability of its commits.
    ///   - observe: Makes the observer of a connection's commits.
    /// - Throws: The error that keeps the daemon from starting; everything is closed then.
    init(
        disk: SimulatedDisk, transports: (Process) -> [any Transport],
        direction: (any Transport) -> SyncDirection, limits: Limits, clock: MachineClock,
        executor: ProcessExecutor, signals: FileSignals, entropy: SplitMix, durability: Replica.Durability,
        observe: @escaping @Sendable () -> CommitObserver
    ) throws {
        var options = Replica.Options()
        options.durability = durability
        options.maximumReaders = 1
        options.prepare = { db in
            guard !db.configuration.readonly else { return }
            db.add(transactionObserver: observe(), extent: .databaseLifetime)
        }
        let replica = try disk.openReplica(ReplicaFiles.database, options: options)
        let draws = Draws(entropy)
        do {
            replicator = try Replicator(
                replica: replica, transports: transports(Process(replica: replica, entropy: { draws.next() })),
                direction: direction, limits: limits, clock: clock,
                logger: Logger(label: "simulated", factory: { _ in SwiftLogNoOpLogHandler() }),
                entropy: { draws.next() }, changes: { signals.changes })
        } catch {
            try? replica.connections.close()
            throw error
        }
        self.replica = replica
        self.executor = executor
        server = Server(
            endpoint: replicator.endpoint, snapshots: SnapshotShelf(replica, limits: limits), executor: executor)
        let replicator = replicator
        task = Task(executorPreference: executor) {
            await PreferredExecutor.$current.withValue(executor) { await replicator.run() }
        }
    }

    /// Ends the process. Its disk must be down, so that the last steps of its tasks have no effect.
    func kill(_ scheduler: Scheduler) {
        task.cancel()
        scheduler.drain(executor)
        try? replicator.inbox.close()
        try? replica.connections.close()
        scheduler.drain(executor)
    }

    /// Stops the daemon as SIGTERM does.
    func stop(_ scheduler: Scheduler) throws {
        task.cancel()
        scheduler.drain(executor)
        try replicator.inbox.close()
        try replica.close()
    }
}

/// Unchecked: see ``Scheduler``.
final class Draws: @unchecked Sendable {
    private var random: SplitMix

    init(_ random: SplitMix) { self.random = random }

    func next() -> UInt64 { random.next() }
}
