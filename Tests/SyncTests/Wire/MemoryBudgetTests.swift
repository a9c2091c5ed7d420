import Journal
import Testing

@testable import Sync

@Suite("The memory for large frames")
struct MemoryBudgetTests {
    /// Waits until a task has reached the queue: those that ask later come behind it.
    private func queued(_ count: Int, _ budget: MemoryBudget) async {
        while budget.waiting < count { await Task.yield() }
    }

    @Test("what does not fit waits until enough is released, in the order of asking")
    func order() async throws {
        let budget = MemoryBudget(bytes: 100)
        var first: MemoryBudget.Reservation? = try await budget.reserve(60)
        var second: MemoryBudget.Reservation? = try await budget.reserve(40)
        let large = Task { try await budget.reserve(70) }
        await queued(1, budget)
        // It would fit, but asks later.
        let small = Task { try await budget.reserve(30) }
        await queued(2, budget)
        second = nil
        #expect(budget.waiting == 2)
        first = nil
        let both = try await (large.value, small.value)
        #expect(budget.waiting == 0)
        withExtendedLifetime((first, second, both)) {}
    }

    @Test("one that is larger than the whole is alone")
    func alone() async throws {
        let budget = MemoryBudget(bytes: 100)
        var huge: MemoryBudget.Reservation? = try await budget.reserve(1_000)
        let other = Task { try await budget.reserve(1) }
        await queued(1, budget)
        huge = nil
        let granted = try await other.value
        #expect(budget.waiting == 0)
        withExtendedLifetime((huge, granted)) {}
    }

    @Test("one that is cancelled leaves its place to the next")
    func cancelled() async throws {
        let budget = MemoryBudget(bytes: 100)
        let held = try await budget.reserve(60)
        let large = Task { try await budget.reserve(70) }
        await queued(1, budget)
        let small = Task { try await budget.reserve(30) }
        await queued(2, budget)
        large.cancel()
        await #expect(throws: CancellationError.self) { try await large.value }
        _ = try await small.value
        let late = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await budget.reserve(1)
        }
        await #expect(throws: CancellationError.self) { try await late.value }
        #expect(budget.waiting == 0)
        withExtendedLifetime(held) {}
    }

    @Test("a large frame is parsed when there is memory, and uses it until the next one is asked for")
    func frames() async throws {
        var limits = Limits.standard
        limits.largeFrameBytes = 1_000
        let batch = Frame(
            body: .batch(covers: [], encoding: .none, rawSize: 5_000), payload: [UInt8](repeating: 7, count: 5_000))
        let end = Frame(body: .end(vector: VersionVector(), more: false))
        let bytes = try batch.encoded() + batch.encoded() + end.encoded()
        let budget = MemoryBudget(bytes: 100)
        var stream = FrameStream(limits: limits, budget: budget)
        var frames: [Frame] = []
        for piece in stride(from: 0, to: bytes.count, by: 700).map({ bytes[$0..<min($0 + 700, bytes.count)] }) {
            stream.append(piece)
            while let frame = try await stream.next() {
                frames.append(frame)
                #expect(budget.used == (frame == batch ? 5_000 : 0))
            }
        }
        #expect(frames == [batch, batch, end])
        try stream.finish()
    }
}
