import Journal
import TestSupport
import Testing

@testable import Sync

@Suite("What the writer of a run had not merged")
struct ChangeIndexTests {
    private let directory = TemporaryDirectory()

    /// Two machines that write by turns make a run for each write. A receiver with a row that none of them has seen
    /// looks at all of them as concurrent, unless it stops at the first that is known.
    @Test("is found without looking at the runs that it had merged")
    func manyRuns() throws {
        let origins = [OriginID(high: 1, low: 1), OriginID(high: 2, low: 1)]
        let fixture = try ReplicaFixture(
            directory.file("a.sqlite"), schema: "CREATE TABLE t (id INTEGER PRIMARY KEY, a)")
        try fixture.execute("INSERT INTO t VALUES (1, 1)")
        let index = ChangeIndex()
        let entry = try #require(fixture.replica.read { try JournalReader($0).registry.entries.values.first })
        for number in 1...1_000 {
            let seq = Int64(number)
            index.add(
                run: ScannedRun(
                    origin: origins[number % 2], known: VersionVector(), firstSeq: seq, firstVersion: (seq + 1) / 2))
            index.add(
                Change(
                    shape: 0, operation: .insert, life: 1, stamp: Stamp(rawValue: seq),
                    mask: ColumnMask(all: 2), values: 0..<2, endsTransaction: true), seq: seq, entry: entry,
                key: [UInt8(number % 256)])
        }
        // The writer has merged all but the last two changes of one origin, and all of the other one.
        var looks = 0
        var unseen: [Int64] = []
        index.forEachSummary(
            without: OriginID(high: 9, low: 9),
            beyond: { run in
                looks += 1
                return run.origin == origins[0] ? run.seq(of: 498) : .max
            },
            body: { unseen.append($0.lastSeq) })
        #expect(unseen.sorted() == [998, 1_000])
        #expect(looks == 4)
    }
}
