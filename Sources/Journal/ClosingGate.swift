import Dispatch
import GRDB
import GRDBSQLite
import Synchronization

/// Lets users of a connection pool in until it closes, and lets it close when the last of them has left.
///
/// A pool that is closed between a reader's taking of a connection and its use hands out a closed connection, on which SQLite
/// follows a null pointer.
final class ClosingGate: Sendable {
    private static let closed = Int64.min

    /// How many are inside, with the sign bit set once it is closed.
    private let state = Atomic<Int64>(0)
    private let empty = DispatchSemaphore(value: 0)

    /// - Throws: `SQLITE_MISUSE`, as SQLite says it of a closed connection, without a call of `body`.
    func pass<T>(_ body: () throws -> T) throws -> T {
        let inside = state.add(1, ordering: .sequentiallyConsistent).newValue
        defer {
            if state.subtract(1, ordering: .sequentiallyConsistent).newValue == ClosingGate.closed { empty.signal() }
        }
        guard inside > 0 else { throw DatabaseError(resultCode: .SQLITE_MISUSE, message: "Connection is closed") }
        return try body()
    }

    /// Lets nobody in any more, and waits until all have left; never call it from inside.
    ///
    /// - Returns: False when it was closed before.
    func close() -> Bool {
        let before = state.bitwiseOr(ClosingGate.closed, ordering: .sequentiallyConsistent).oldValue
        if before > 0 { empty.wait() }
        return before >= 0
    }
}
