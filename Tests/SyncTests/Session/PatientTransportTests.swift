import Journal
import Synchronization
import TestSupport
import Testing

@testable import Sync

@Suite("A single exchange asks again when the peer has too many requests")
struct PatientTransportTests {
    private func transport(_ busy: BusyTransport, _ clock: SkippingClock) -> PatientTransport {
        PatientTransport(base: busy, limits: .standard, clock: clock) { .max }
    }

    @Test("each request is sent again after the time that the peer names, and a part on top")
    func again() async throws {
        let busy = BusyTransport(refusals: 2, error: SyncError(.tooManyRequests, "busy", retryAfterSeconds: 3))
        let clock = SkippingClock()
        let reply = try await transport(busy, clock).push([])
        #expect(reply.applied == 7)
        #expect(clock.slept == [3_250, 3_500])
        #expect(busy.requests == 3)
    }

    @Test("not for ever, and the error then says what it said")
    func patience() async throws {
        let busy = BusyTransport(refusals: .max, error: SyncError(.tooManyRequests, "busy", retryAfterSeconds: 40))
        let clock = SkippingClock()
        let error = await #expect(throws: SyncError.self) { try await transport(busy, clock).push([]) }
        #expect(error?.code == .tooManyRequests && error?.message == "busy")
        let waited = clock.slept.reduce(0, +)
        #expect(waited <= Limits.standard.patienceMilliseconds && waited > 200_000)
    }

    @Test("other failures are not repeated")
    func others() async throws {
        let busy = BusyTransport(refusals: 1, error: SyncError(.unreachable, "gone"))
        let clock = SkippingClock()
        await #expect(throws: SyncError.self) { try await transport(busy, clock).push([]) }
        #expect(busy.requests == 1 && clock.slept.isEmpty)
    }
}

/// A peer that refuses the first requests.
private final class BusyTransport: Transport {
    let name = "busy"
    private let refusals: Int
    private let error: SyncError
    private let count = Mutex(0)

    init(refusals: Int, error: SyncError) {
        self.refusals = refusals
        self.error = error
    }

    var requests: Int { count.withLock { $0 } }

    private func ask() throws {
        let number = count.withLock { count in
            count += 1
            return count
        }
        if number <= refusals { throw error }
    }

    func hello(_ hello: Hello) async throws -> Hello {
        try ask()
        return hello
    }

    func pull(_ request: PullRequest, onFrame: @Sendable (Frame) async throws -> Void) async throws -> PullEnd {
        try ask()
        return PullEnd(vector: request.have, more: false, heldBack: VersionVector())
    }

    func push(_ frames: [Frame]) async throws -> PushReply {
        try ask()
        return PushReply(vector: VersionVector(), applied: 7, heldBack: VersionVector())
    }

    func digest(_ request: DigestRequest) async throws -> DigestReply {
        try ask()
        throw SyncError(.failed, "not asked in this test")
    }
}

/// A clock that is at the end of each sleep at once.
private final class SkippingClock: SyncClock {
    private let sleeps = Mutex<[Int64]>([])

    var slept: [Int64] { sleeps.withLock { $0 } }

    func wallMilliseconds() -> Int64 { steadyMilliseconds() }
    func steadyMilliseconds() -> Int64 { slept.reduce(0, +) }
    func sleep(milliseconds: Int64) async throws { sleeps.withLock { $0.append(milliseconds) } }
}
