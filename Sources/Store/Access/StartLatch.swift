import Synchronization

/// Decides once whether a piece of work begins: the thread that is to run it calls ``begin()``, the task's
/// cancellation calls ``cancel()``, and the first of the two calls wins.
final class StartLatch: Sendable {
    private enum State { case waiting, begun, cancelled }

    private let state = Mutex(State.waiting)

    /// Begins the work, unless it was cancelled.
    ///
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
