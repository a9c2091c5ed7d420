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
    /// - Throws: What `body` throws, after the rollback; `CancellationError` when the task is cancelled
    ///   before `body` begins. Once begun, it runs to its end.
    public func write<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
        try await workers.run(on: workers.writer) { try self.transaction(body) }
    }

    /// Runs `body` on one snapshot on a separate thread while the task waits.
    ///
    /// ```swift
    /// let adults = try await db.read { try Person.where("age >= 18", in: db) }
    /// ```
    ///
    /// - Throws: What `body` throws; `CancellationError` when the task is cancelled before `body` begins.
    ///   Once begun, it runs to its end.
    public func read<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
        try await workers.run(on: workers.readers) { try self.read(synchronously: body) }
    }

    /// The blocking `read`. Its label distinguishes it from the asynchronous one.
    private func read<Result>(synchronously body: () throws -> Result) throws -> Result {
        try access { _ in try body() }
    }
}

/// The threads on which tasks run SQLite: one for writes, which exclude each other in any case, and a few for
/// reads.
final class Workers: Sendable {
    let writer: OperationQueue
    let readers: OperationQueue

    init(readers count: Int) {
        writer = OperationQueue()
        writer.name = "tandem.store.write"
        writer.maxConcurrentOperationCount = 1
        readers = OperationQueue()
        readers.name = "tandem.store.read"
        readers.maxConcurrentOperationCount = max(1, count)
    }

    func run<Result: Sendable>(
        on queue: OperationQueue, _ body: @escaping @Sendable () throws -> Result
    ) async throws -> Result {
        let start = StartLatch()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                queue.addOperation {
                    guard start.begin() else {
                        continuation.resume(throwing: CancellationError())
                        return
                    }
                    continuation.resume(with: Swift.Result { try body() })
                }
            }
        } onCancel: {
            start.cancel()
        }
    }
}
