import Dispatch

/// Runs SQLite calls, which block, on threads of their own: the few threads that run all tasks stay free, so one slow
/// file or disk never delays another peer.
///
/// A task that prefers an executor has brought a thread of its own, and wants its work there: then the body runs at once.
package func blocking<T: Sendable>(_ body: @escaping @Sendable () throws -> T) async throws -> T {
    if withUnsafeCurrentTask(body: { $0?.unownedTaskExecutor }) != nil { return try body() }
    return try await withCheckedThrowingContinuation { continuation in
        blockingQueue.async { continuation.resume(with: Result { try body() }) }
    }
}

private let blockingQueue = DispatchQueue(label: "tandem.blocking", attributes: .concurrent)
