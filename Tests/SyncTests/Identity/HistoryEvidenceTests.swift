import Foundation
import GRDB
import Journal
import TestSupport
import Testing

@testable import Sync

@Suite("Evidence of others about this replica's history")
struct HistoryEvidenceTests {
    private func judge(_ version: Int64, _ samples: [(Int64, UInt64)], head: Int64) -> HistoryEvidence.Judgement {
        let claim = HistoryEvidence(
            version: version, samples: samples.map { VersionSample(version: $0.0, digest: $0.1) })
        // In these tests each version is its own digest.
        return claim.judge(head: head) { UInt64($0) }
    }

    @Test("less or the same is consistent, more is outrun, another digest is contradicted")
    func verdicts() {
        #expect(judge(0, [], head: 5) == .init(verdict: .consistent, shared: 0, mostKept: .max))
        #expect(judge(4, [(4, 4)], head: 5) == .init(verdict: .consistent, shared: 4, mostKept: .max))
        #expect(judge(9, [(9, 1), (5, 5)], head: 5) == .init(verdict: .outrun, shared: 5, mostKept: .max))
        #expect(judge(9, [], head: 5) == .init(verdict: .outrun, shared: 0, mostKept: .max))
        #expect(
            judge(5, [(5, 1), (4, 1), (2, 2), (1, 1)], head: 5) == .init(verdict: .contradicted, shared: 2, mostKept: 3)
        )
        #expect(judge(5, [(5, 1)], head: 5) == .init(verdict: .contradicted, shared: 0, mostKept: 4))
        #expect(judge(.max, [(.max, 0)], head: 0).verdict == .outrun)
    }

    @Test("a hello with its samples survives the wire, and impossible ones are refused")
    func wire() throws {
        var hello = Hello(
            cluster: "main", origin: OriginID(high: 1, low: 2), formatVersion: 1, vector: VersionVector(),
            wallMilliseconds: 5)
        hello.sampledOrigin = OriginID(high: 3, low: 4)
        hello.samples = [.init(version: 9, digest: .max), .init(version: 8, digest: 0), .init(version: 1, digest: 7)]
        hello.instance = [1, 2, 3]
        #expect(try Hello(decoding: hello.encoded(), limits: .standard) == hello)
        func refused(_ change: (inout Hello) -> Void) {
            var bad = hello
            change(&bad)
            #expect(throws: WireError.self) { try Hello(decoding: bad.encoded(), limits: .standard) }
        }
        refused { $0.samples[1] = .init(version: 9, digest: 1) }
        refused { $0.samples[2] = .init(version: 0, digest: 1) }
        refused { $0.samples[0] = .init(version: .max, digest: 1) }
        refused { $0.instance = [UInt8](repeating: 1, count: 17) }
        refused { hello in hello.samples = (1...65).reversed().map { .init(version: $0, digest: 1) } }
    }

    /// A peer with any answer to a hello.
    private struct Liar: Transport {
        let name = "liar"
        let origin: OriginID?
        let hello: @Sendable (Hello) -> Hello

        func hello(_ hello: Hello) async throws -> Hello { self.hello(hello) }
        func pull(_ request: PullRequest, onFrame: @Sendable (Frame) async throws -> Void) async throws -> PullEnd {
            PullEnd(vector: VersionVector(), more: false)
        }
        func push(_ frames: [Frame]) async throws -> PushReply { PushReply(vector: VersionVector(), applied: 0) }
        func digest(_ request: DigestRequest) async throws -> DigestReply { DigestReply(vector: VersionVector()) }
    }

    private func attack(_ fleet: Fleet, limits: Limits, _ hello: @escaping @Sendable (Hello) -> Hello) async throws
        -> SyncError?
    {
        let session = SyncSession(
            replica: fleet[0].replica,
            inbox: try Inbox(replica: fleet[0].replica, limits: limits) {
                Stamp(milliseconds: SystemClock().wallMilliseconds())
            }, transport: Liar(origin: nil, hello: hello), limits: limits, clock: SystemClock())
        do {
            _ = try await session.exchange()
            return nil
        } catch { return error as? SyncError }
    }

    @Test("a peer that always claims to know more makes the replica take a new identity only a few times a day")
    func bounded() async throws {
        let fleet = try Fleet(1)
        try fleet.write(0)
        var limits = Limits.standard
        limits.rekeysPerDay = 3
        for round in 0..<6 {
            let before = try fleet[0].origin
            let error = try await attack(fleet, limits: limits) { hello in
                var answer = hello
                answer.origin = OriginID(high: 77, low: 77)
                answer.vector = VersionVector([.init(origin: hello.origin, version: 1 << 50)])
                return answer
            }
            #expect(error?.code == .fork)
            #expect(try (fleet[0].origin == before) == (round >= 3))
        }
        #expect(try fleet[0].rows().count == 1)
        // An operator still can take one.
        #expect(try fleet[0].inbox.rekey() != nil)
    }

    @Test("a peer that pretends to be this replica makes it take a new identity only a few times a day")
    func pretender() async throws {
        let fleet = try Fleet(1)
        try fleet.write(0)
        var limits = Limits.standard
        limits.rekeysPerDay = 2
        for _ in 0..<5 {
            let error = try await attack(fleet, limits: limits) { hello in
                var answer = hello
                answer.instance = [9]
                return answer
            }
            #expect(error != nil)
        }
        #expect(try fleet[0].replica.read { try NewIdentity.times($0) }.count == 2)
    }

    @Test("own changes that do not follow the local ones are a gap and no evidence; those that follow are evidence")
    func ownChanges() async throws {
        let fleet = try Fleet(2)
        try fleet.write(0)
        try await fleet.sync(0, 1)
        let origin = try fleet[0].origin
        // Stamps of one origin rise. A change whose stamp does not fit its history is held back, from any
        // sender.
        let last = try #require(try fleet[0].replica.read { try JournalReader($0).entries(after: 0, limit: 100).last })
        func frame(_ version: Int64) throws -> Frame {
            var batch = ChangeBatch()
            batch.shapes = [TableShape(table: "note", columns: ["id", "text", "rank"], keyCount: 1)]
            batch.values = [.text("forged"), .null, .null]
            batch.changes = [
                Change(
                    shape: 0, operation: .insert, life: 1, stamp: Stamp(milliseconds: last.stamp.milliseconds + 1),
                    mask: ColumnMask(all: 3), values: 0..<3, endsTransaction: true)
            ]
            batch.runs = [Run(origin: origin, firstVersion: version, changes: 0..<1, known: VersionVector())]
            return try Frame(batch, encoding: .none)
        }
        let intake = FrameIntake(inbox: fleet[0].inbox, limits: fleet.limits)
        let gap = await #expect(throws: SyncError.self) { try await intake.take(frame(3)) }
        #expect(gap?.code == .gap)
        #expect(try fleet[0].origin == origin)
        try await intake.take(frame(2))
        #expect(try fleet[0].origin != origin)
        #expect(fleet[0].inbox.lastRekey?.reason == .outrun)
        #expect(try fleet[0].ids().contains("forged"))
    }

    @Test("a pull that claims more of the endpoint's changes than the endpoint has is evidence, too")
    func pull() async throws {
        let fleet = try Fleet(2)
        try fleet.write(0)
        let origin = try fleet[0].origin
        let request = PullRequest(
            cluster: "main", origin: try fleet[1].origin, have: VersionVector([.init(origin: origin, version: 7)]))
        let sent = PublishedChanges()
        _ = try await fleet[0].endpoint.pull(request, send: { try sent.note($0) })
        #expect(try fleet[0].origin != origin)
        #expect(sent.count == 1)
        let other = PullRequest(
            cluster: "other", origin: try fleet[1].origin,
            have: VersionVector([.init(origin: try fleet[0].origin, version: 7)]))
        let before = try fleet[0].origin
        await #expect(throws: SyncError.self) { try await fleet[0].endpoint.pull(other, send: { _ in }) }
        #expect(try fleet[0].origin == before)
    }
}
