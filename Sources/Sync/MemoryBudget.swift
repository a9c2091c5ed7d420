import Synchronization

/// Bounds the memory that large frames take at the same time, in one direction of all exchanges of a process.
///
/// Who asks for more than is left waits, in the order of asking. One reservation is granted whatever its size when
/// there is no other.
package final class MemoryBudget: Sendable {
    /// For frames that peers send.
    package static let receiving = MemoryBudget(bytes: Limits.largeFrameBytesAtOnce)
    /// For frames that are sent to peers. It is another one, so that two machines that send to one another never
    /// wait for one another.
    static let sending = MemoryBudget(bytes: Limits.largeFrameBytesAtOnce)

    /// Bytes that are taken until it is released or deallocated.
    final class Reservation: Sendable {
        private let budget: MemoryBudget
        private let bytes: Int

        fileprivate init(_ budget: MemoryBudget, _ bytes: Int) {
            self.budget = budget
            self.bytes = bytes
        }

        deinit { budget.release(bytes) }
    }

    private struct Waiter {
        let number: Int
        let bytes: Int
        let continuation: CheckedContinuation<Reservation, any Error>
    }

    private struct State {
        var used = 0
        var waiters: [Waiter] = []
        var latest = 0
        /// Those that neither wait yet nor are cancelled.
        var beginning: Set<Int> = []
    }

    private let bytes: Int
    private let state = Mutex(State())

    /// - Parameter bytes: The most that is reserved at a time, except by a single reservation.
    package init(bytes: Int) { self.bytes = bytes }

    /// Waits until the bytes are free.
    ///
    /// - Throws: `CancellationError` when the task is cancelled first.
    func reserve(_ bytes: Int) async throws -> Reservation {
        let number = state.withLock { state in
            state.latest += 1
            state.beginning.insert(state.latest)
            return state.latest
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let waiter = Waiter(number: number, bytes: bytes, continuation: continuation)
                let waits = state.withLock { state in
                    guard state.beginning.remove(number) != nil else { return false }
                    state.waiters.append(waiter)
                    return true
                }
                if waits { grant() } else { continuation.resume(throwing: CancellationError()) }
            }
        } onCancel: {
            let waiter = state.withLock { state -> Waiter? in
                state.beginning.remove(number)
                return state.waiters.firstIndex { $0.number == number }.map { state.waiters.remove(at: $0) }
            }
            waiter?.continuation.resume(throwing: CancellationError())
            // The next one may ask for less.
            grant()
        }
    }

    /// How many wait.
    var waiting: Int { state.withLock { $0.waiters.count } }

    /// The bytes that are reserved now.
    var used: Int { state.withLock { $0.used } }

    private func release(_ bytes: Int) {
        state.withLock { $0.used -= bytes }
        grant()
    }

    private func grant() {
        while true {
            let next = state.withLock { state -> Waiter? in
                guard let first = state.waiters.first, state.used == 0 || state.used + first.bytes <= bytes else {
                    return nil
                }
                state.used += first.bytes
                return state.waiters.removeFirst()
            }
            guard let next else { return }
            next.continuation.resume(returning: Reservation(self, next.bytes))
        }
    }
}
