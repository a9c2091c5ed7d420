import Synchronization

/// Gives out keys in a fixed order, and then repeats the last one.
final class KeyList: Sendable {
    private let keys = Mutex<[Int64]>([])
    private let turn = Mutex<Void>(())

    func reset(_ list: [Int64]) { keys.withLock { $0 = list } }

    /// Runs `body` with keys that no other test takes or changes.
    func use(_ list: [Int64], _ body: () throws -> Void) throws {
        try turn.withLock { _ in
            reset(list)
            try body()
        }
    }

    func next() -> Int64? { keys.withLock { $0.count > 1 ? $0.removeFirst() : $0.first } }
}
