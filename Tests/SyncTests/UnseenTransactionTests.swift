import Foundation
import GRDB
import Journal
import TestSupport
import Testing

@testable import Sync

@Suite("Where transactions end whose writers mark no end")
struct UnseenTransactionTests {
    private let directory = TemporaryDirectory()

    private func replica(_ name: String) throws -> ReplicaFixture {
        try ReplicaFixture(directory.file(name), schema: "CREATE TABLE note (id TEXT PRIMARY KEY NOT NULL, body)")
    }

    private func insert(_ rows: ClosedRange<Int>, body: String = "''") -> String {
        """
        WITH RECURSIVE n(i) AS (SELECT \(rows.lowerBound) UNION ALL SELECT i + 1 FROM n WHERE i < \(rows.upperBound))
        INSERT INTO note SELECT 'n' || i, \(body) FROM n
        """
    }

    /// The numbers of changes in the transactions that a peer gets.
    private func transactions(_ fixture: ReplicaFixture, seen: [Int64] = []) throws -> [Int] {
        var limits = Limits.standard
        limits.changesPerUnseenTransaction = 10
        limits.bytesPerUnseenTransaction = 100_000
        limits.changesPerBatch = 7
        var sizes: [Int] = []
        var size = 0
        try fixture.replica.read { db in
            try Outbox.forEachBatch(in: db, after: VersionVector(), limits: limits, seen: seen) { batch in
                for change in batch.changes {
                    size += 1
                    guard change.endsTransaction else { continue }
                    sizes.append(size)
                    size = 0
                }
                return true
            }
        }
        #expect(size == 0)
        return sizes
    }

    @Test("what nobody saw is cut at the bounds of changes and bytes")
    func unseen() throws {
        let fixture = try replica("unseen")
        try fixture.executeForeign(insert(1...25))
        #expect(try transactions(fixture) == [10, 10, 5])
        try fixture.executeForeign(insert(26...28, body: "randomblob(60000)"))
        #expect(try transactions(fixture) == [10, 10, 7, 1])
    }

    @Test("a transaction stays whole that its writer has marked, also after others that nobody saw")
    func marked() throws {
        let fixture = try replica("marked")
        try fixture.execute(insert(1...25))
        #expect(try transactions(fixture) == [25])
        #expect(try transactions(fixture, seen: [25]) == [25])
        try fixture.executeForeign(insert(26...30))
        try fixture.execute(insert(31...60))
        #expect(try transactions(fixture) == [25, 35])
        try fixture.executeForeign(insert(61...75))
        #expect(try transactions(fixture) == [25, 35, 10, 5])
    }

    @Test("what was written between two snapshots stays whole, and each snapshot is an end")
    func seen() throws {
        let fixture = try replica("seen")
        var seen: [Int64] = []
        for end in [15, 40, 43] {
            try fixture.executeForeign(insert((seen.isEmpty ? 1 : Int(seen[seen.count - 1]) + 1)...end))
            seen.append(try fixture.replica.read(JournalReader.lastSeq))
        }
        try fixture.executeForeign(insert(44...60))
        #expect(seen == [15, 40, 43])
        #expect(try transactions(fixture, seen: seen) == [10, 5, 25, 3, 17])
    }

    @Test("a frame source remembers where its snapshots ended, and forgets it with the identity of the file")
    func remembered() {
        let ends = SeenEnds()
        func position(_ seq: Int64, _ origin: UInt8) -> FrameSource.Position {
            var position = FrameSource.Position()
            position.seq = seq
            position.origin = Data([origin])
            return position
        }
        for seq in [3, 3, 7] as [Int64] { ends.note(position(seq, 1)) }
        #expect(ends.positions(upTo: position(9, 1)) == [3, 7])
        // Another snapshot has ended later than this one.
        #expect(ends.positions(upTo: position(5, 1)) == [3])
        ends.note(position(4, 2))
        #expect(ends.positions(upTo: position(9, 2)) == [4])
        for seq in 5...Int64(SeenEnds.most + 5) { ends.note(position(seq, 2)) }
        #expect(ends.positions(upTo: position(.max, 2)).count <= SeenEnds.most)
    }
}
