import Dispatch
import GRDB
import GRDBSQLite
import Synchronization

/// Counts the users of a connection pool, so that closing the pool waits until the last of them has left.
///
/// A pool may close after a reader has taken a connection and before the reader uses it. The reader then
/// holds a closed connection, on which SQLite dereferences a null pointer.
final class ClosingGate: Sendable {
    private static let closed = Int64.min

    /// The number of users inside, with the sign bit set once the gate is closed.
    private let state = Atomic<Int64>(0)
    private let empty = DispatchSemaphore(value: 0)

    /// Runs `body` while the gate is open.
    ///
    /// - Throws: What `body` throws; `SQLITE_MISUSE` without calling `body` when the gate is closed, which is
    ///   the error that SQLite gives for a closed connection.
    func pass<T>(_ body: () throws -> T) throws -> T {
        let inside = state.add(1, ordering: .sequentiallyConsistent).newValue
        defer {
            if state.subtract(1, ordering: .sequentiallyConsistent).newValue == ClosingGate.closed { empty.signal() }
        }
        guard inside > 0 else { throw DatabaseError(resultCode: .SQLITE_MISUSE, message: "Connection is closed") }
        return try body()
    }

    /// Closes the gate and waits until all users have left. Do not call it from inside ``pass(_:)``.
    ///
    /// - Returns: False when the gate was already closed; such a call does not wait.
    func close() -> Bool {
        let before = state.bitwiseOr(ClosingGate.closed, ordering: .sequentiallyConsistent).oldValue
        if before > 0 { empty.wait() }
        return before >= 0
    }
}
