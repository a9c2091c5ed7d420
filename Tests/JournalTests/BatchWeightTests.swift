import TestSupport
import Testing

@testable import Journal

@Suite("The size of a batch")
struct BatchWeightTests {
    @Test("batches of runs whose writer knew many origins are cut by the size of their known vectors, too")
    func knownVectors() throws {
        let fixture = try Fixture("CREATE TABLE t (id INTEGER PRIMARY KEY, a)")
        let origins = 129
        let runs = 40
        let merge = try fixture.replica.openMergeConnection()
        try merge.write { db in
            let appender = try JournalAppender(db)
            let entry = try appender.register(TableShape(table: "t", columns: ["id", "a"], keyCount: 1))
            for run in 1...runs {
                // Each change knows more than the previous one, so each is a run of its own.
                let known = VersionVector(
                    (1...origins).map { origin in
                        VersionVector.Entry(origin: OriginID(high: 8, low: UInt64(origin)), version: Int64(run))
                    })
                try appender.begin(origin: OriginID(high: 7, low: 1), firstVersion: Int64(run), known: known)
                let change = Change(
                    shape: 0, operation: .insert, life: 1, stamp: Stamp(milliseconds: Int64(run)),
                    mask: ColumnMask(all: 2), values: 0..<2, endsTransaction: true)
                try appender.append([change], shapes: [entry], values: [.integer(Int64(run)), .null])
            }
            try appender.finish()
        }
        try merge.close()
        let runsPerBatch = 10
        let bytes = runsPerBatch * origins * 24
        var batches: [ChangeBatch] = []
        try fixture.replica.read { db in
            try JournalReader(db).forEachBatch(after: VersionVector(), changes: 8_192, bytes: bytes) { batch in
                batches.append(batch)
                return true
            }
        }
        #expect(batches.count >= runs / runsPerBatch)
        #expect(batches.allSatisfy { $0.runs.count <= runsPerBatch && $0.checkInvariants() == nil })
        #expect(batches.flatMap(\.runs).map(\.firstVersion) == Array(1...Int64(runs)))
        #expect(batches.flatMap(\.changes).count == runs)
    }
}
