import NIOCore
import Synchronization

/// Counts requests: those under way, to bound them, and those answered, for `/metrics`.
final class RequestMetrics: Sendable {
    private struct State {
        var underWay: [Route.Action: Int] = [:]
        var answered: [Answer: Int] = [:]
    }

    /// A kind of answer that is counted apart.
    struct Answer: Hashable, Sendable {
        /// nil for a request to no route.
        let action: Route.Action?
        let status: Int
    }

    private let state = Mutex(State())

    /// - Returns: nil, with nothing counted, when `limit` requests of the kind are already under way.
    func begin(_ action: Route.Action, limit: Int) -> RequestPermit? {
        let granted = state.withLock { state in
            guard state.underWay[action, default: 0] < limit else { return false }
            state.underWay[action, default: 0] += 1
            return true
        }
        guard granted else { return nil }
        return RequestPermit { [self] in state.withLock { $0.underWay[action, default: 1] -= 1 } }
    }

    func count(_ action: Route.Action?, status: Int) {
        state.withLock { $0.answered[Answer(action: action, status: status), default: 0] += 1 }
    }

    /// Every kind of answer with its number, in a fixed order.
    var answered: [(answer: Answer, count: Int)] {
        state.withLock(\.answered).map { (answer: $0.key, count: $0.value) }.sorted {
            ($0.answer.action?.rawValue ?? "", $0.answer.status) < ($1.answer.action?.rawValue ?? "", $1.answer.status)
        }
    }
}

/// One request under way. Ends with its last reference.
final class RequestPermit: Sendable {
    private let timer = Mutex<Scheduled<Void>?>(nil)
    private let end: @Sendable () -> Void

    init(end: @escaping @Sendable () -> Void) { self.end = end }

    /// The timer that closes the connection; cancelled when the request ends.
    var deadline: Scheduled<Void>? {
        get { timer.withLock { $0 } }
        set { timer.withLock { $0 = newValue } }
    }

    deinit {
        deadline?.cancel()
        end()
    }
}
