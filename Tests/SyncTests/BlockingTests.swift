import Dispatch
import Foundation
import Synchronization
import Testing

@testable import Sync

@Suite("Work that blocks")
struct BlockingTests {
    /// So few that libdispatch starts them at once; each further one takes it a second.
    private static let threads = 2

    private final class Gate: Sendable {
        private struct State {
            var running = 0
            var most = 0
        }

        private let state = Mutex(State())
        private let full = DispatchSemaphore(value: 0)
        private let open = DispatchSemaphore(value: 0)

        var most: Int { state.withLock { $0.most } }

        /// Waits until the gate is opened.
        func pass() {
            let isFull = state.withLock { state in
                state.running += 1
                state.most = max(state.most, state.running)
                return state.running == BlockingTests.threads
            }
            if isFull { full.signal() }
            open.wait()
            open.signal()
            state.withLock { $0.running -= 1 }
        }

        /// Opens the gate when as many threads as there may be wait at it.
        func openWhenFull() {
            full.wait()
            open.signal()
        }
    }

    @Test("a file that hangs takes a bounded number of threads; what waits for one runs afterwards")
    func bound() async throws {
        let gate = Gate()
        let threads = BlockingThreads(Self.threads)
        Thread.detachNewThread { gate.openWhenFull() }
        let count = BlockingTests.threads + 9
        let done = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<count {
                group.addTask {
                    try await threads.run {
                        gate.pass()
                        return 1
                    }
                }
            }
            return try await group.reduce(0, +)
        }
        #expect(done == count && gate.most == BlockingTests.threads)
    }
}
