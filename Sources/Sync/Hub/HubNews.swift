import Synchronization

/// Tells any number of waiting tasks that something has changed.
final class HubNews: Sendable {
    private struct State {
        var next = 0
        /// In the order in which they began to listen.
        var listeners: [(number: Int, stream: AsyncStream<Void>.Continuation)] = []
    }

    private let state = Mutex(State())

    /// A stream that yields after each change from now on. Several changes may be one signal.
    func listen() -> AsyncStream<Void> {
        let (stream, listener) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let number = state.withLock { state in
            defer { state.next += 1 }
            state.listeners.append((state.next, listener))
            return state.next
        }
        listener.onTermination = { [weak self] _ in
            self?.state.withLock { $0.listeners.removeAll { $0.number == number } }
        }
        return stream
    }

    func tell() {
        // Not under the lock: a listener that ends takes it.
        let listeners = state.withLock { $0.listeners }
        for listener in listeners { listener.stream.yield() }
    }
}
