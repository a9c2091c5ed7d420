import Synchronization
import TestSupport

/// Faults of a store at random, until they stop.
final class StoreFaults: Sendable {
    private let random: Mutex<SplitMix>
    private let isOn = Mutex(true)

    init(seed: UInt64) { random = Mutex(SplitMix(seed: seed)) }

    func stop() { isOn.withLock { $0 = false } }

    func next() -> MemoryStore.Fault? {
        guard isOn.withLock({ $0 }) else { return nil }
        return random.withLock { random in
            switch random.below(100) {
            case 0..<4: .refused
            case 4..<7: .answerLost
            default: nil
            }
        }
    }
}
