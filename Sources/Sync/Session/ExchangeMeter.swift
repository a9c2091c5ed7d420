import Synchronization

/// Counts what a replica exchanges, with followed peers and as an endpoint.
package final class ExchangeMeter: Sendable {
    /// What was exchanged until a moment.
    package struct Reading: Sendable, Hashable {
        /// Changes that were new here, since the start.
        package var received = 0
        /// Changes that were handed to other replicas, since the start. A change that goes to two of them
        /// counts twice.
        package var sent = 0
        /// The longest time that one frame took to be applied and committed since the reading before, in
        /// milliseconds; nil when there was none.
        package var slowestApplyMilliseconds: Int64?

        /// Creates a reading of nothing.
        package init() {}
    }

    private struct State {
        var reading = Reading()
        var applyTimes = DurationHistogram.applying
    }

    private let state = Mutex(State())

    package init() {}

    /// Notes one frame of changes that was applied.
    ///
    /// - Parameters:
    ///   - changes: Changes of the frame that were new here, 0 or more.
    ///   - milliseconds: The time from its arrival to its commit.
    func applied(_ changes: Int, milliseconds: Int64) {
        state.withLock { state in
            state.reading.received += changes
            guard changes > 0 else { return }
            state.reading.slowestApplyMilliseconds = max(state.reading.slowestApplyMilliseconds ?? 0, milliseconds)
            state.applyTimes.add(microseconds: milliseconds * 1_000)
        }
    }

    /// Notes changes that were sent.
    ///
    /// - Parameter changes: Their number, 0 or more.
    func sent(_ changes: Int) { state.withLock { $0.reading.sent += changes } }

    /// The times of all frames since the start that brought something new.
    package var applyTimes: DurationHistogram { state.withLock { $0.applyTimes } }

    /// Returns what was exchanged until now. The slowest frame is forgotten then, so there is one reader.
    package func read() -> Reading {
        state.withLock { state in
            defer { state.reading.slowestApplyMilliseconds = nil }
            return state.reading
        }
    }
}

extension FrameIntake {
    /// Takes one frame, and notes its time.
    ///
    /// - Parameters:
    ///   - frame: A frame of changes.
    ///   - meter: Gets the changes that were new, and the time.
    ///   - clock: Measures it.
    /// - Throws: As ``take(_:)``.
    func take(_ frame: Frame, _ meter: ExchangeMeter, _ clock: any SyncClock) async throws {
        let (before, start) = (tally.applied, clock.steadyMilliseconds())
        try await take(frame)
        meter.applied(tally.applied - before, milliseconds: clock.steadyMilliseconds() - start)
    }
}
