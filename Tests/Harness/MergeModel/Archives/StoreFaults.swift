import Synchronization
import TestSupport

/// Faults of a store at random, until they stop.
final class StoreFaults: Sendable {
    private let random: Mutex<SplitMix>
    private let isOn = Mutex(true)
    private let oneIn: Int

    /// - Parameter oneIn: One of so many requests fails.
    init(seed: UInt64, oneIn: Int) {
        random = Mutex(SplitMix(seed: seed))
        self.oneIn = oneIn
    }

    func stop() { isOn.withLock { $0 = false } }

    func next() -> MemoryStore.Fault? {
        guard isOn.withLock({ $0 }) else { return nil }
        return random.withLock { random -> MemoryStore.Fault? in
            guard random.below(oneIn) == 0 else { return nil }
            return random.chance(60) ? .refused : .answerLost
        }
    }
}
