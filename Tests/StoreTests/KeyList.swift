import Synchronization

/// Keys handed out in a fixed order; the last one again and again.
final class KeyList: Sendable {
    private let keys = Mutex<[Int64]>([])

    func reset(_ list: [Int64]) { keys.withLock { $0 = list } }

    func next() -> Int64? { keys.withLock { $0.count > 1 ? $0.removeFirst() : $0.first } }
}
