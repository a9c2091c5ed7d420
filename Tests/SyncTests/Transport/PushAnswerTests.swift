import Journal
import Synchronization
import TestSupport
import Testing

@testable import Sync

/// The answer to a push that takes longer than a caller waits for a silent peer.
@Suite struct PushAnswerTests {
    private let limits = Limits.standard
    private let clock = ManualClock()
    private let reply = PushReply(
        vector: VersionVector([.init(origin: OriginID(high: 1, low: 2), version: 9)]), applied: 7)

    /// Work that goes on until it is told to end, or is cancelled.
    private struct Work: Sendable {
        let release: AsyncStream<Void>.Continuation
        private let stream: AsyncStream<Void>
        let wasCancelled = Mutexed(false)

        init() { (stream, release) = AsyncStream.makeStream() }

        func run<T>(_ result: () throws -> T) async throws -> T {
            for await _ in stream { return try result() }
            wasCancelled.set(true)
            throw CancellationError()
        }
    }

    private final class Mutexed<Value: Sendable>: Sendable {
        private let state: Mutex<Value>
        init(_ value: Value) { state = Mutex(value) }
        var value: Value { state.withLock { $0 } }
        func set(_ value: Value) { state.withLock { $0 = value } }
    }

    private func answer(of work: Work, clock: (any SyncClock)? = nil) -> PushAnswer {
        PushAnswer(limits: limits, clock: clock ?? self.clock) { [reply] in try await work.run { reply } }
    }

    @Test("a push that is applied at once has its result as its whole answer")
    func short() async throws {
        // The clock of a machine: the time of five seconds is not over before the result is there.
        let answer = PushAnswer(limits: limits, clock: SystemClock()) { [reply] in reply }
        #expect(try await answer.whole() == reply.encoded())
    }

    @Test("an error before the answer begins is thrown")
    func refused() async throws {
        let answer = PushAnswer(limits: limits, clock: SystemClock()) { throw SyncError(.gap, "a gap") }
        await #expect(throws: SyncError(.gap, "a gap")) { try await answer.whole() }
    }

    @Test("while a push is applied, its answer goes on; a reader who knows nothing of that finds the result")
    func long() async throws {
        let work = Work()
        let answer = answer(of: work)
        #expect(try await answer.whole() == nil)
        var pieces: [[UInt8]] = []
        try await answer.write(
            refusal: { _ in nil },
            to: { piece in
                pieces.append(piece)
                if pieces.count == 4 { work.release.yield() }
            })
        #expect(pieces.count >= 5)
        #expect(try PushReply(decoding: pieces.flatMap(\.self), limits: limits) == reply)
        // Between two pieces at most ``Limits/silentAnswerMilliseconds`` pass.
        let bytes = Double(pieces[0].count) / (Double(limits.silentAnswerMilliseconds) / 1_000)
        #expect(bytes > 2 * Double(limits.lowSpeedBytesPerSecond))
    }

    @Test("an error after the answer has begun is in its end")
    func refusedLate() async throws {
        let work = Work()
        let answer = PushAnswer(limits: limits, clock: clock) {
            try await work.run { throw SyncError(.gap, "a gap") }
        }
        #expect(try await answer.whole() == nil)
        let refusal = PushReply.Refusal(status: 409, body: [1, 2], retryAfterSeconds: 3)
        var bytes: [UInt8] = []
        try await answer.write(
            refusal: { ($0 as? SyncError)?.code == .gap ? refusal : nil },
            to: { piece in
                bytes += piece
                work.release.yield()
            })
        #expect(try PushReply(decoding: bytes, limits: limits).refusal == refusal)
    }

    @Test("a caller who hangs up ends the push")
    func abandoned() async throws {
        let work = Work()
        let answer = answer(of: work)
        #expect(try await answer.whole() == nil)
        await #expect(throws: SyncError(.truncated, "gone")) {
            try await answer.write(refusal: { _ in nil }, to: { _ in throw SyncError(.truncated, "gone") })
        }
        #expect(work.wasCancelled.value)
    }

    @Test("a server that is cancelled ends the push before it goes on")
    func cancelled() async throws {
        let work = Work()
        let answer = answer(of: work, clock: SystemClock())
        let server = Task { try await answer.whole() }
        server.cancel()
        await #expect(throws: CancellationError.self) { try await server.value }
        #expect(work.wasCancelled.value)
    }
}
