import Synchronization
import TestSupport

/// Faults of a store at random, until they stop.
final class StoreFaults: Sendable {
    private struct State {
        var random: SplitMix
        /// How many of the next requests are refused: a server that went down is down for a while.
        var down = 0
    }

    private let state: Mutex<State>
    private let isOn = Mutex(true)
    private let oneIn: Int

    /// - Parameter oneIn: One of so many requests fails.
    init(seed: UInt64, oneIn: Int) {
        state = Mutex(State(random: SplitMix(seed: seed)))
        self.oneIn = oneIn
    }

    func stop() { isOn.withLock { $0 = false } }

    func next() -> MemoryStore.Fault? {
        guard isOn.withLock({ $0 }) else { return nil }
        return state.withLock { state -> MemoryStore.Fault? in
            if state.down > 0 {
                state.down -= 1
                return .refused
            }
            guard state.random.below(oneIn) == 0 else { return nil }
            state.down = state.random.chance(30) ? 1 : 0
            return state.random.chance(60) ? .refused : .answerLost
        }
    }
}
