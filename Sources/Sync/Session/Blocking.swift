import Dispatch

/// Runs SQLite calls, which block, on threads of their own: the few threads that run all tasks stay free, so one slow
/// file or disk never delays another peer.
func blocking<T: Sendable>(_ body: @escaping @Sendable () throws -> T) async throws -> T {
    try await withCheckedThrowingContinuation { continuation in
        blockingQueue.async { continuation.resume(with: Result { try body() }) }
    }
}

private let blockingQueue = DispatchQueue(label: "tandem.blocking", attributes: .concurrent)
