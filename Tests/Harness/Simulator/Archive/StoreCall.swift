import Sync

/// One request to the store: it ends once, by an answer, a failure or the end of its caller.
///
/// Unchecked: see ``Scheduler``.
final class StoreCall<Answer: Sendable>: @unchecked Sendable {
    private var continuation: CheckedContinuation<Answer, any Error>?
    private var isDone = false
    var whenDone: () -> Void = {}

    /// - Returns: False when the caller was cancelled before it could send.
    func begin(_ continuation: CheckedContinuation<Answer, any Error>) -> Bool {
        guard !isDone else {
            continuation.resume(throwing: CancellationError())
            return false
        }
        self.continuation = continuation
        return true
    }

    func succeed(_ answer: Answer) { end(.success(answer)) }

    func fail(_ error: SyncError) { end(.failure(error)) }

    func cancel() { end(.failure(CancellationError())) }

    private func end(_ result: Result<Answer, any Error>) {
        guard !isDone else { return }
        isDone = true
        continuation?.resume(with: result)
        continuation = nil
        whenDone()
    }
}
