import Journal
import NIOCore
import Synchronization

/// Hands the live parts of the pages to any number of browsers.
///
/// There is one state and no queue. A reader that is told of news asks for what has changed since the state
/// that it has sent, so a slow browser skips states, and takes no memory. Readers that are at the same state
/// get the same bytes.
final class LiveFeed: Sendable {
    private struct State {
        /// The content of each part, and the generation in which it changed.
        var parts: [String: (text: String, generation: Int)] = [:]
        /// The order of the parts.
        var order: [String] = []
        var shape = ""
        var generation = 0
        /// The events that lead from a generation to this one.
        var events: [Int: ByteBuffer] = [:]
        var readers: [Int: AsyncStream<Void>.Continuation] = [:]
        var nextReader = 0
        var isEnded = false
        var charts: HTML = ""
    }

    private let state = Mutex(State())
    private let arrival = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))

    /// Yields when a reader has come. For one listener.
    var arrivals: AsyncStream<Void> { arrival.stream }

    /// True while there is a reader.
    var isWatched: Bool { state.withLock { !$0.readers.isEmpty } }

    /// The charts, as they were drawn last.
    var charts: HTML {
        get { state.withLock(\.charts) }
        set { state.withLock { $0.charts = newValue } }
    }

    /// Begins to read.
    ///
    /// - Returns: A stream that yields at once, after each change, and at each ``beat()``. It has at most one
    ///   signal waiting, and ends with ``end()``. The reader leaves when the stream is released.
    func join() -> AsyncStream<Void> {
        let (signals, reader) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let id: Int? = state.withLock { state in
            guard !state.isEnded else { return nil }
            state.nextReader += 1
            state.readers[state.nextReader] = reader
            return state.nextReader
        }
        guard let id else {
            reader.finish()
            return signals
        }
        reader.onTermination = { [weak self] _ in self?.leave(id) }
        reader.yield()
        arrival.continuation.yield()
        return signals
    }

    private func leave(_ id: Int) {
        state.withLock { state in
            state.readers[id] = nil
            guard state.readers.isEmpty else { return }
            // Nobody keeps them up to date from now on.
            state.parts = [:]
            state.order = []
            state.events = [:]
            state.generation += 1
        }
    }

    /// Replaces the state, and tells the readers if something has changed.
    func publish(_ new: LiveParts) {
        let readers: [AsyncStream<Void>.Continuation] = state.withLock { state in
            let changed = new.parts.filter { state.parts[$0.id]?.text != $0.html.text }
            guard !state.readers.isEmpty, !changed.isEmpty || state.shape != new.shape else { return [] }
            state.generation += 1
            state.events = [:]
            state.shape = new.shape
            state.order = new.parts.map(\.id)
            for part in changed { state.parts[part.id] = (part.html.text, state.generation) }
            return Array(state.readers.values)
        }
        for reader in readers { reader.yield() }
    }

    /// Tells the readers to give a sign of life, by which they notice browsers that are gone.
    func beat() {
        for reader in state.withLock({ Array($0.readers.values) }) { reader.yield() }
    }

    /// Ends all streams. Nobody can join from now on.
    func end() {
        let readers = state.withLock { state in
            state.isEnded = true
            return Array(state.readers.values)
        }
        for reader in readers { reader.finish() }
        arrival.continuation.finish()
    }

    /// What has changed since a generation, as a server-sent event.
    ///
    /// - Parameter seen: The generation that a reader has sent; 0 for nothing.
    /// - Returns: The event and its generation; nil when nothing has changed.
    func event(after seen: Int) -> (event: ByteBuffer, generation: Int)? {
        state.withLock { state in
            guard state.generation > seen, !state.order.isEmpty else { return nil }
            let event = state.events[seen] ?? LiveFeed.event(of: state, after: seen)
            // Readers that lag behind have events of their own, which are not kept.
            if seen == 0 || seen == state.generation - 1 { state.events[seen] = event }
            return (event, state.generation)
        }
    }

    private static func event(of state: State, after seen: Int) -> ByteBuffer {
        let parts: [JSONValue.Member] = state.order.compactMap { id in
            guard let part = state.parts[id], part.generation > seen else { return nil }
            return JSONValue.Member(name: id, value: .string(part.text))
        }
        let json = JSONValue.object(["shape": .string(state.shape), "parts": .object(parts)])
        return ByteBuffer(string: "event: change\ndata: \(json.text)\n\n")
    }
}
