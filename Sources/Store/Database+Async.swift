import Dispatch
import Foundation

extension Database {
    /// Runs `body` in a transaction on a separate thread while the task waits.
    ///
    /// SQLite blocks its thread; this keeps it off the few threads of the task pool. `body` is synchronous,
    /// as in ``transaction(_:)``: no other task runs between two of its statements.
    ///
    /// ```swift
    /// let bob = try await db.write { try Person.create(in: db) { $0.name = "Bob" } }
    /// ```
    ///
    /// The body sees the task-local values of the caller, and `Task.isCancelled` when the caller is
    /// cancelled.
    ///
    /// - Throws: What `body` throws, after the rollback. `CancellationError` when the task is cancelled
    ///   before `body` begins, at once, also while other threads or processes hold the write lock. Once
    ///   begun, it runs to its end.
    @discardableResult
    public func write<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
        try await workers.run(on: workers.writer) { call in
            try self.transaction {
                // Only now, because opening the transaction may have waited.
                try call.begin()
                return try body()
            }
        }
    }

    /// Runs `body` on one snapshot on a separate thread while the task waits. Queries and objects show that
    /// snapshot, as in the synchronous variant.
    ///
    /// ```swift
    /// let adults = try await db.read { try Person.where(\.age >= 18).all(in: db) }
    /// ```
    ///
    /// The body sees the task-local values of the caller, and `Task.isCancelled` when the caller is
    /// cancelled.
    ///
    /// - Throws: What `body` throws; `CancellationError` at once when the task is cancelled before `body`
    ///   begins. Once begun, it runs to its end.
    public func read<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
        try await workers.run(on: workers.readers) { call in
            try self.access(showingSnapshot: true) { _ in
                try call.begin()
                return try body()
            }
        }
    }
}

/// The threads on which tasks run SQLite: one for writes, which exclude each other in any case, and a few for
/// reads.
final class Workers: Sendable {
    let writer = WorkerThreads("tandem.store.write", count: 1)
    let readers: WorkerThreads

    init(readers count: Int) { readers = WorkerThreads("tandem.store.read", count: max(1, count)) }

    /// Runs `body` on one of the threads while the task waits.
    ///
    /// - Parameter body: Calls ``PendingCall/begin()`` when it no longer waits.
    /// - Throws: What `body` throws; `CancellationError` when the task is cancelled before `body` has begun.
    func run<Result: Sendable>(
        on threads: WorkerThreads, _ body: @escaping @Sendable (PendingCall<Result>) throws -> Result
    ) async throws -> Result {
        let call = PendingCall<Result>()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { caller in
                guard call.wait(caller) else { return }
                // A task of its own, because the calling one is resumed when it is cancelled while this one
                // still waits for a lock. It inherits the task-local values, and ends with the body.
                call.run(
                    in: Task(executorPreference: threads) {
                        call.end(
                            Swift.Result {
                                // A call that was cancelled in the queue opens no transaction.
                                try Task.checkCancellation()
                                return try body(call)
                            })
                    })
            }
        } onCancel: {
            call.cancel()
        }
    }
}

/// Threads that only run the bodies of accesses, so that a thread that waits for SQLite is none of the task
/// pool.
final class WorkerThreads: TaskExecutor {
    private let queue = OperationQueue()

    init(_ name: String, count: Int) {
        queue.name = name
        queue.maxConcurrentOperationCount = count
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.addOperation { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
