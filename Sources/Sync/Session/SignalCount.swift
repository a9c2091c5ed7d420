import Synchronization

/// Counts the signals of a file, so that a pause in its writes can be told.
final class SignalCount: Sendable {
    private let count = Mutex(0)

    var value: Int { count.withLock { $0 } }

    func add() { count.withLock { $0 += 1 } }
}
