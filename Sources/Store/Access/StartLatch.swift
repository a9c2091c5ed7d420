import Synchronization

/// Whether a piece of work may still begin: decided once, by whoever comes first, its thread or the task's cancellation.
final class StartLatch: Sendable {
    private enum State { case waiting, begun, cancelled }

    private let state = Mutex(State.waiting)

    /// - Returns: False when it was cancelled.
    func begin() -> Bool {
        state.withLock { state in
            guard state == .waiting else { return false }
            state = .begun
            return true
        }
    }

    func cancel() {
        state.withLock { state in
            if state == .waiting { state = .cancelled }
        }
    }
}
