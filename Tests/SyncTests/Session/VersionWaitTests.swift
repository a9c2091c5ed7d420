import Foundation
import Journal
import Synchronization
import TestSupport
import Testing

@testable import Sync

@Suite("Waiting for a version", .timeLimit(.minutes(1)))
struct VersionWaitTests {
    let directory = TemporaryDirectory()
    private let stranger = OriginID(high: 7, low: 7)

    private func pair() throws -> (a: ReplicaFixture, b: ReplicaFixture) {
        let schema = "CREATE TABLE t (id TEXT PRIMARY KEY NOT NULL, x)"
        return (
            try ReplicaFixture(directory.file("a.sqlite"), schema: schema),
            try ReplicaFixture(directory.file("b.sqlite"), schema: schema)
        )
    }

    @Test("it looks once more at each signal, and ends when the version is there")
    func signals() async throws {
        let (a, b) = try pair()
        try a.execute("INSERT INTO t VALUES ('1', 1)")
        let origin = try a.origin
        let (changes, news) = AsyncStream.makeStream(of: Void.self)
        let wait = VersionWait(replica: b.replica, clock: ImmovableClock()) { changes }
        async let isReached = wait.run(origin, 1, milliseconds: 1)
        // Neither signal means anything yet.
        news.yield()
        news.yield()
        try b.pull(from: a)
        news.yield()
        #expect(try await isReached)
        try a.close()
        try b.close()
    }

    @Test("without the version it ends with the time, and with no time it looks once")
    func time() async throws {
        let (a, b) = try pair()
        let wait = VersionWait(replica: b.replica) { AsyncStream { $0.finish() } }
        #expect(try await wait.run(stranger, 0, milliseconds: 0))
        #expect(try await !wait.run(stranger, 1, milliseconds: 0))
        #expect(try await !wait.run(stranger, 1, milliseconds: -1))
        #expect(try await !wait.run(stranger, 1, milliseconds: 3))
        try a.close()
        try b.close()
    }

    @Test("a cancelled wait throws")
    func cancelled() async throws {
        let (a, b) = try pair()
        let wait = VersionWait(replica: b.replica, clock: ImmovableClock()) { AsyncStream { _ in } }
        let task = Task { [stranger] in try await wait.run(stranger, 1, milliseconds: 1) }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        try a.close()
        try b.close()
    }
}

/// A clock on which no time passes: a sleep ends only by cancellation.
private struct ImmovableClock: SyncClock {
    func wallMilliseconds() -> Int64 { 0 }
    func steadyMilliseconds() -> Int64 { 0 }
    func sleep(milliseconds: Int64) async throws {
        // Nothing is ever sent: only cancellation ends this.
        for await _ in AsyncStream<Void>(bufferingPolicy: .unbounded, { _ in }) {}
        try Task.checkCancellation()
    }
}
