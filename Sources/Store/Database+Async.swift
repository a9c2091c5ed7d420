import Dispatch
import Foundation

extension Database {
    /// Runs `body` in a transaction, on a thread of its own, while the task waits.
    ///
    /// SQLite blocks; this keeps it off the few threads of the task pool. Inside, everything is synchronous, as in
    /// ``transaction(_:)``: nothing runs between two statements.
    ///
    /// ```swift
    /// let bob = try await db.write { try Person.create(in: db) { $0.name = "Bob" } }
    /// ```
    ///
    /// - Throws: What `body` throws, after the rollback; `CancellationError` when the task is cancelled before `body` begins.
    ///   Once begun, it runs to its end.
    public func write<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
        try await workers.run(on: workers.writer) { try self.transaction(body) }
    }

    /// Runs `body` on one snapshot, on a thread of its own, while the task waits.
    ///
    /// ```swift
    /// let adults = try await db.read { try Person.where("age >= 18", in: db) }
    /// ```
    ///
    /// - Throws: What `body` throws; `CancellationError` when the task is cancelled before `body` begins. Once begun,
    ///   it runs to its end.
    public func read<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
        try await workers.run(on: workers.readers) { try self.read(synchronously: body) }
    }

    /// The blocking `read`, told apart by its label where both are in reach.
    private func read<Result>(synchronously body: () throws -> Result) throws -> Result {
        try access { _ in try body() }
    }
}

/// The threads on which tasks let SQLite work: one for writes, which wait for each other anyway, and a few for reads.
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
