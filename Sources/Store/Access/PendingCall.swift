import Synchronization

/// One asynchronous call, from the moment at which it waits for a thread to its result.
///
/// Of ``begin()`` and ``cancel()``, the first one decides. A call that has not begun ends at once with
/// `CancellationError`, wherever its thread waits. One that has begun runs to its end, and its body sees the
/// cancellation.
final class PendingCall<Result: Sendable>: Sendable {
    private typealias Continuation = CheckedContinuation<Result, any Error>

    private struct State {
        /// The caller, until it is resumed.
        var caller: Continuation?
        var hasBegun = false
        var isCancelled = false
        /// The task that runs the body.
        var task: Task<Void, Never>?
    }

    private let state = Mutex(State())

    /// Notes the caller, who waits for the result.
    ///
    /// - Returns: False when the call is cancelled already. The caller is resumed then.
    func wait(_ caller: CheckedContinuation<Result, any Error>) -> Bool {
        let isCancelled = state.withLock { state in
            if !state.isCancelled { state.caller = caller }
            return state.isCancelled
        }
        if isCancelled { caller.resume(throwing: CancellationError()) }
        return !isCancelled
    }

    /// Notes the task that runs the body, which may run already.
    func run(in task: Task<Void, Never>) {
        let isCancelled = state.withLock { state in
            state.task = task
            return state.isCancelled
        }
        if isCancelled { task.cancel() }
    }

    /// Begins the body.
    ///
    /// - Throws: `CancellationError` when the call was cancelled before.
    func begin() throws {
        try state.withLock { state in
            if state.isCancelled { throw CancellationError() }
            state.hasBegun = true
        }
    }

    /// Resumes the caller, unless a cancellation did so.
    func end(_ result: Swift.Result<Result, any Error>) {
        state.withLock { $0.caller.take() }?.resume(with: result)
    }

    func cancel() {
        let (caller, task) = state.withLock { state in
            state.isCancelled = true
            return (state.hasBegun ? nil : state.caller.take(), state.task)
        }
        task?.cancel()
        caller?.resume(throwing: CancellationError())
    }
}
