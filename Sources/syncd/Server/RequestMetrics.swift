import NIOCore
import Synchronization

/// Counts requests: those under way, in all and of each caller, to bound them; and those answered, for
/// `/metrics`.
final class RequestMetrics: Sendable {
    private struct State {
        var underWay: [Route.Action: Int] = [:]
        var underWayOfCaller: [Call: Int] = [:]
        var rate: RequestRate
        var answered: [Answer: Int] = [:]
    }

    /// A kind of answer that has its own count.
    struct Answer: Hashable, Sendable {
        /// nil for a request to no route.
        let action: Route.Action?
        let status: Int
    }

    /// One address and one kind of request.
    struct Call: Hashable, Sendable {
        let action: Route.Action
        let address: String
    }

    private let limits: ServerLimits
    private let clock = ContinuousClock()
    private let start: ContinuousClock.Instant
    private let state: Mutex<State>

    init(limits: ServerLimits) {
        self.limits = limits
        start = clock.now
        state = Mutex(State(rate: RequestRate(burst: limits.requestBurst, perSecond: limits.requestsPerSecond)))
    }

    /// Milliseconds of a steady clock.
    var milliseconds: Int64 { Int64((clock.now - start) / .milliseconds(1)) }

    /// Counts a request as under way until its permit ends.
    ///
    /// - Throws: ``Refusal`` 429, with nothing counted as under way, when there are too many requests of this
    ///   kind, or too many of the caller.
    func begin(_ call: Call) throws -> RequestPermit {
        let now = milliseconds
        let wait: Int64? = state.withLock { state in
            if let wait = state.rate.take(call.address, milliseconds: now) { return wait }
            guard state.underWay[call.action, default: 0] < limits.concurrency(of: call.action),
                state.underWayOfCaller[call, default: 0] < limits.concurrencyPerAddress(of: call.action)
            else { return 1 }
            state.underWay[call.action, default: 0] += 1
            state.underWayOfCaller[call, default: 0] += 1
            return nil
        }
        if let wait {
            var refusal = Refusal(
                status: 429, code: "too_many_requests", "too many requests at a time",
                hint: "Ask again after the time of Retry-After; requests-per-second of the daemon is the limit")
            refusal.retryAfterSeconds = wait
            throw refusal
        }
        return RequestPermit { [self] in
            state.withLock { state in
                state.underWay[call.action, default: 1] -= 1
                let left = state.underWayOfCaller[call, default: 1] - 1
                state.underWayOfCaller[call] = left > 0 ? left : nil
            }
        }
    }

    /// Changes how many requests a second one address may make, from the next request on. Twice as many may come at
    /// once.
    func setRequestsPerSecond(_ count: Int) {
        state.withLock { $0.rate.setLimits(burst: 2 * count, perSecond: count) }
    }

    func count(_ action: Route.Action?, status: Int) {
        state.withLock { $0.answered[Answer(action: action, status: status), default: 0] += 1 }
    }

    /// Every kind of answer with its count, in a fixed order.
    var answered: [(answer: Answer, count: Int)] {
        state.withLock(\.answered).map { (answer: $0.key, count: $0.value) }.sorted {
            ($0.answer.action?.rawValue ?? "", $0.answer.status) < ($1.answer.action?.rawValue ?? "", $1.answer.status)
        }
    }
}

/// One request under way. It ends with the last reference to it.
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
