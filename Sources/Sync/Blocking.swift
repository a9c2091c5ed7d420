import Foundation

/// Runs `body`, which may block in SQLite, on a dispatch thread. The threads that run tasks stay free, so one
/// slow file or disk does not delay other peers.
///
/// No more than ``Limits/blockingThreads`` run at a time, so a disk that hangs does not get a thread for each
/// request of a peer; further bodies wait.
///
/// A task with a preferred task executor runs `body` at once: such an executor has its own thread.
package func blocking<T: Sendable>(_ body: @escaping @Sendable () throws -> T) async throws -> T {
    if withUnsafeCurrentTask(body: { $0?.unownedTaskExecutor }) != nil { return try body() }
    return try await BlockingThreads.shared.run(body)
}

/// Runs `body` to its end, also in a task that is cancelled.
func withoutCancellation(_ body: @escaping @Sendable () async -> Void) async {
    await Task(executorPreference: PreferredExecutor.current, operation: body).value
}

/// The task executor of a process that has one, for tasks that have no parent: those do not inherit it.
package enum PreferredExecutor {
    @TaskLocal package static var current: (any TaskExecutor)?
}

/// Threads that may block, up to a number.
struct BlockingThreads: Sendable {
    static let shared = BlockingThreads(Limits.blockingThreads)

    private let queue: OperationQueue

    init(_ count: Int) {
        queue = OperationQueue()
        queue.name = "tandem.blocking"
        queue.maxConcurrentOperationCount = count
    }

    func run<T: Sendable>(_ body: @escaping @Sendable () throws -> T) async throws -> T {
        try await withCheckedThrowingContinuation { continuation in
            queue.addOperation { continuation.resume(with: Result { try body() }) }
        }
    }
}
