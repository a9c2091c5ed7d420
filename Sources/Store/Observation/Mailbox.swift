import Synchronization

/// A bounded queue from the commits of a database to one asynchronous reader.
///
/// The writer never waits. When `limit` elements are waiting, further elements are dropped, and the last
/// waiting one is marked as incomplete.
final class Mailbox<Element: Sendable>: Sendable {
    private struct State {
        var elements: [Element] = []
        var reader: CheckedContinuation<Element?, Never>?
        var isFinished = false
    }

    private let state = Mutex(State())
    private let limit: Int
    private let markIncomplete: @Sendable (inout Element) -> Void

    init(limit: Int, markIncomplete: @escaping @Sendable (inout Element) -> Void) {
        self.limit = limit
        self.markIncomplete = markIncomplete
    }

    func send(_ element: Element) {
        let reader = state.withLock { state -> CheckedContinuation<Element?, Never>? in
            if state.isFinished { return nil }
            if let reader = state.reader {
                state.reader = nil
                return reader
            }
            if state.elements.count < limit {
                state.elements.append(element)
            } else {
                markIncomplete(&state.elements[state.elements.count - 1])
            }
            return nil
        }
        reader?.resume(returning: element)
    }

    /// Ends the queue after the reader has taken the waiting elements.
    func finish() {
        let reader = state.withLock { state in
            state.isFinished = true
            defer { state.reader = nil }
            return state.reader
        }
        reader?.resume(returning: nil)
    }

    /// Returns the next element; nil at the end, when the task is cancelled, and for a second reader while
    /// one is waiting.
    func next() async -> Element? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: CheckedContinuation<Element?, Never>) in
                let answer: Element?? = state.withLock { state in
                    if !state.elements.isEmpty { return .some(state.elements.removeFirst()) }
                    // The cancellation handler may have run before this point and found no reader to wake.
                    if state.isFinished || state.reader != nil || Task.isCancelled { return .some(nil) }
                    state.reader = continuation
                    return nil
                }
                if let answer { continuation.resume(returning: answer) }
            }
        } onCancel: {
            let reader = state.withLock { state in
                defer { state.reader = nil }
                return state.reader
            }
            reader?.resume(returning: nil)
        }
    }
}
