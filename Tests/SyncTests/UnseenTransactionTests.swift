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

    @Test("a merge ends the local tail, and does not make one transaction of it")
    func mergedBehind() throws {
        let (fixture, other) = (try replica("tail"), try replica("other"))
        try fixture.executeForeign(insert(1...25))
        try other.executeForeign(insert(101...103))
        try fixture.pull(from: other)
        try fixture.executeForeign(insert(26...50))
        #expect(try transactions(fixture) == [10, 10, 5, 3, 10, 10, 5])
        // Its writer has marked this one, and the merge behind it leaves the mark.
        try fixture.execute(insert(51...75))
        try other.executeForeign(insert(104...104))
        try fixture.pull(from: other)
        #expect(try transactions(fixture) == [10, 10, 5, 3, 50, 1])
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
        for seq in [3, 3, 7] as [Int64] { ends.note(position(seq, 1), code: 0) }
        #expect(ends.positions(upTo: position(9, 1)) == [3, 7])
        // Another snapshot has ended later than this one.
        #expect(ends.positions(upTo: position(5, 1)) == [3])
        ends.note(position(4, 2), code: 0)
        #expect(ends.positions(upTo: position(9, 2)) == [4])
        for seq in 5...Int64(SeenEnds.most + 5) { ends.note(position(seq, 2), code: 0) }
        #expect(ends.positions(upTo: position(.max, 2)).count <= SeenEnds.most)
    }

    // MARK: - Beside the database

    /// What a process knows that begins to look at the file now.
    private func loaded(_ fixture: ReplicaFixture) throws -> [Int64] {
        let ends = SeenEnds()
        try ends.load(EndsFile(of: fixture.replica), of: fixture.replica)
        return try fixture.replica.read { ends.positions(upTo: try FrameSource.Position($0)) }
    }

    /// Writes and looks, `count` times.
    private func look(_ ends: SeenEnds, _ fixture: ReplicaFixture, from first: Int, _ count: Int) throws {
        for row in first..<(first + count) {
            try fixture.executeForeign(insert(row...row))
            try fixture.replica.read { try ends.note(try FrameSource.Position($0), $0) }
        }
    }

    @Test("a daemon's ends are there after a restart; when it is killed, the last ones are missing")
    func kept() throws {
        let fixture = try replica("kept")
        #expect(try loaded(fixture) == [])
        let ends = SeenEnds()
        ends.startKeeping(in: EndsFile(of: fixture.replica))
        try look(ends, fixture, from: 1, 3)
        #expect(try loaded(fixture) == [])
        ends.keep()
        #expect(try loaded(fixture) == [1, 2, 3])
        try look(ends, fixture, from: 4, SeenEnds.mostUnkept + 5)
        #expect(try loaded(fixture).count == 3 + SeenEnds.mostUnkept)
        ends.keep()
        // The next daemon goes on where this one has ended.
        let next = SeenEnds()
        try next.load(EndsFile(of: fixture.replica), of: fixture.replica)
        next.startKeeping(in: EndsFile(of: fixture.replica))
        try look(next, fixture, from: 100, 2)
        next.keep()
        #expect(try loaded(fixture) == Array(1...Int64(SeenEnds.mostUnkept + 10)))
    }

    @Test("ends of another history, of entries that are gone, and of a damaged file are not taken")
    func foreign() throws {
        let fixture = try replica("foreign")
        let path = fixture.replica.path + "-ends"
        let ends = SeenEnds()
        ends.startKeeping(in: EndsFile(of: fixture.replica))
        try look(ends, fixture, from: 1, 9)
        ends.keep()
        let whole = try Data(contentsOf: URL(fileURLWithPath: path))
        func isLoaded(_ bytes: Data) throws -> [Int64] {
            try bytes.write(to: URL(fileURLWithPath: path))
            return try loaded(fixture)
        }
        #expect(try isLoaded(whole) == Array(1...9))
        // Cut off in the middle of an end, and torn by a loss of power.
        #expect(try isLoaded(whole.prefix(30 + 4 * 16 + 7)) == [1, 2, 3, 4])
        #expect(try isLoaded(whole.prefix(30 + 4 * 16) + Data(repeating: 0, count: 400)) == [1, 2, 3, 4])
        #expect(try isLoaded(whole.prefix(20)) == [] && isLoaded(Data()) == [])
        var other = whole
        other[20] ^= 1
        #expect(try isLoaded(other) == [])
        // The file goes back, and its program writes one transaction over the positions that were ends.
        try fixture.executeForeign("DELETE FROM note WHERE id > 'n4'; DELETE FROM _journal WHERE seq > 4")
        #expect(try isLoaded(whole) == [1, 2, 3, 4])
        try fixture.executeForeign(insert(50...60))
        #expect(try isLoaded(whole) == [])
    }

    @Test("more ends than are remembered are written anew, and the rest of the longer list is no end")
    func most() throws {
        let fixture = try replica("most")
        let file = EndsFile(of: fixture.replica)
        let origin = try fixture.replica.read { try FrameSource.Position($0).origin }
        let ends = (1...9).map { EndsFile.End(seq: $0 * 10, code: UInt64($0)) }
        #expect(file.write(ends, after: nil, of: origin))
        #expect(file.write(ends.filter { $0.seq % 20 == 0 }, after: nil, of: origin))
        #expect(file.read()?.ends.map(\.seq) == [20, 40, 60, 80])
        #expect(file.write(ends, after: 9, of: origin))
        #expect(file.read()?.ends.map(\.seq) == [20, 40, 60, 80])
        #expect(!EndsFile(of: fixture.replica).write(ends, after: nil, of: Data([1])))
    }
}
