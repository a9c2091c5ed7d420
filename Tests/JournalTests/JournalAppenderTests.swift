import GRDB
import TestSupport
import Testing

@testable import Journal

@Suite("Changes of peers in the journal")
struct JournalAppenderTests {
    private let fixture: Fixture
    private let merge: MergeConnection
    private let shape = TableShape(table: "t", columns: ["id", "a", "b"], keyCount: 1)
    private let x = OriginID(high: 7, low: 1)
    private let y = OriginID(high: 8, low: 1)

    init() throws {
        fixture = try Fixture("CREATE TABLE t (id TEXT PRIMARY KEY NOT NULL, a, b)")
        merge = try fixture.replica.openMergeConnection()
    }

    /// Appends inserts with the given stamps as consecutive versions.
    private func receive(
        _ origin: OriginID, from version: Int64, stamps: [Int64], known: VersionVector = VersionVector()
    ) throws {
        try merge.write { db in
            let appender = try JournalAppender(db)
            let entry = try appender.register(shape)
            try appender.begin(origin: origin, firstVersion: version, known: known)
            for (index, stamp) in stamps.enumerated() {
                let values: [Value] = [.text("\(origin.short)-\(version + Int64(index))"), .integer(1), .null]
                let change = Change(
                    shape: 0, operation: .insert, life: 1, stamp: Stamp(rawValue: stamp), mask: ColumnMask(all: 3),
                    values: 0..<3,
                    endsTransaction: index == stamps.count - 1)
                try appender.append([change], shapes: [entry], values: values)
            }
            try appender.finish()
        }
    }

    private func write(_ key: String) throws {
        try fixture.replica.write { try $0.execute(sql: "INSERT INTO t VALUES (?, 1, 2)", arguments: [key]) }
    }

    private var own: OriginID { get throws { try fixture.replica.identity().origin } }

    @Test("local versions continue without a gap around merged stretches, and vectors count both")
    func interleaved() throws {
        try write("1")
        try fixture.execute("INSERT INTO t VALUES ('2', 1, 2)")
        try receive(x, from: 1, stamps: [10, 11, 12])
        try write("3")
        try receive(y, from: 5, stamps: [20])
        try write("4")
        let entries = try fixture.entries()
        #expect(entries.map(\.origin) == [nil, nil, x, x, x, nil, y, nil])
        #expect(entries.map(\.version) == [1, 2, 1, 2, 3, 3, 5, 4])
        #expect(entries.map(\.endsTransaction) == [true, true, false, false, true, true, true, true])
        #expect(entries[2].stamp.rawValue == 10)
        let vector = try fixture.replica.read { try JournalReader($0).vector() }
        #expect(
            vector
                == VersionVector([
                    .init(origin: try own, version: 4), .init(origin: x, version: 3), .init(origin: y, version: 5),
                ]))
    }

    @Test("a local stamp is greater than every stamp that was merged before it, near or far ahead")
    func stamps() throws {
        let far = Stamp(milliseconds: Stamp.latestMilliseconds - 1).rawValue
        try receive(x, from: 1, stamps: [far])
        try write("1")
        try fixture.replica.write { _ = try Capture.refresh($0) }
        let entries = try fixture.entries()
        #expect(entries.map(\.stamp.rawValue) == [far, far + 1])
    }

    @Test("stretches in sequence with the same knowledge are one run; new knowledge starts another")
    func runs() throws {
        try receive(x, from: 1, stamps: [1, 2])
        try receive(x, from: 3, stamps: [3])
        func runs() throws -> [[Int64]] {
            try fixture.replica.read { db in
                try Row.fetchAll(db, sql: "SELECT first_seq, first_version FROM _journal_runs ORDER BY first_seq").map {
                    [$0["first_seq"], $0["first_version"]]
                }
            }
        }
        #expect(try runs() == [[1, 1], [4, 1]])
        let known = VersionVector([.init(origin: y, version: 9)])
        try receive(x, from: 4, stamps: [4], known: known)
        #expect(try runs() == [[1, 1], [4, 4], [5, 1]])
        try write("1")
        let batches = try batches(after: VersionVector(), changes: 100)
        #expect(batches.flatMap(\.runs).map(\.known) == [VersionVector(), known, try mergedVector()])
    }

    private func mergedVector() throws -> VersionVector { VersionVector([.init(origin: x, version: 4)]) }

    private func batches(after have: VersionVector, changes: Int, bytes: Int = 1 << 20) throws -> [ChangeBatch] {
        var batches: [ChangeBatch] = []
        try fixture.replica.read { db in
            try JournalReader(db).forEachBatch(after: have, changes: changes, bytes: bytes) {
                batches.append($0)
                return true
            }
        }
        return batches
    }

    @Test("batches are in journal order, keep their limits, and leave out what the peer has")
    func batching() throws {
        try write("1")
        try receive(x, from: 1, stamps: [10, 11, 12])
        try write("2")
        try fixture.execute("INSERT INTO t VALUES ('3', 1, 2), ('4', 1, 2)")
        let own = try own
        let whole = try batches(after: VersionVector(), changes: 100)
        #expect(whole.count == 1)
        #expect(whole[0].runs.map(\.origin) == [own, x, own])
        #expect(whole[0].runs.map(\.firstVersion) == [1, 1, 2])
        #expect(whole[0].changes.map(\.endsTransaction) == [true, false, false, true, true, false, true])
        #expect(whole[0].checkInvariants() == nil)
        for limit in 1...4 {
            let parts = try batches(after: VersionVector(), changes: limit)
            #expect(parts.allSatisfy { $0.changes.count <= limit && $0.checkInvariants() == nil })
            #expect(parts.flatMap(\.values) == whole[0].values)
            #expect(parts.flatMap(\.changes).map(\.stamp) == whole[0].changes.map(\.stamp))
        }
        #expect(try batches(after: VersionVector(), changes: 100, bytes: 1).count == 7)
        let have = VersionVector([.init(origin: own, version: 2), .init(origin: x, version: 2)])
        let rest = try batches(after: have, changes: 100)
        #expect(rest.flatMap(\.runs).map(\.firstVersion) == [3, 3])
        #expect(rest.flatMap(\.runs).map(\.origin) == [x, own])
        #expect(try batches(after: fixture.replica.read { try JournalReader($0).vector() }, changes: 9).isEmpty)
        var calls = 0
        try fixture.replica.read { db in
            try JournalReader(db).forEachBatch(after: VersionVector(), changes: 1, bytes: 1) { _ in
                calls += 1
                return calls < 2
            }
        }
        #expect(calls == 2)
    }

    @Test(
        "changes before a stretch are refused, and so is an end at which the journal's rows differ from the appended ones"
    )
    func wrongOrder() throws {
        let early = #expect(throws: JournalError.self) {
            try merge.write { _ = try JournalAppender($0).append([], shapes: [], values: []) }
        }
        #expect(early?.code == .invalid)
        let change = Change(
            shape: 0, operation: .insert, life: 1, stamp: Stamp(rawValue: 9), mask: ColumnMask(all: 3), values: 0..<3,
            endsTransaction: true)
        let gone = #expect(throws: JournalError.self) {
            try merge.write { db in
                let appender = try JournalAppender(db)
                let entry = try appender.register(shape)
                try appender.begin(origin: x, firstVersion: 1, known: VersionVector())
                try appender.append([change], shapes: [entry], values: [.text("1"), .null, .null])
                try db.execute(sql: "DELETE FROM _journal")
                try appender.finish()
            }
        }
        #expect(gone?.code == .corrupt)
        try receive(x, from: 1, stamps: [9])
        #expect(try fixture.lines().count == 1)
    }
}
