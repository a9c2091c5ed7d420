import Foundation
import GRDB
import TestSupport
import Testing

@testable import Journal

@Suite("A new identity")
struct NewIdentityTests {
    private let fixture: Fixture
    private let x = OriginID(high: 1 << 60, low: 1)

    init() throws {
        fixture = try Fixture("CREATE TABLE t (id TEXT PRIMARY KEY NOT NULL, a, b)")
    }

    private var own: OriginID { get throws { try fixture.replica.identity().origin } }

    private func write(_ keys: String...) throws {
        try fixture.replica.write { db in
            for key in keys { try db.execute(sql: "INSERT INTO t VALUES (?, 1, 2)", arguments: [key]) }
        }
    }

    private func receive(
        _ origin: OriginID, from version: Int64, _ stamps: [Stamp], known: VersionVector = VersionVector()
    ) throws {
        let merge = try fixture.replica.openMergeConnection()
        try merge.write { db in
            let appender = try JournalAppender(db)
            let entry = try appender.register(TableShape(table: "t", columns: ["id", "a", "b"], keyCount: 1))
            try appender.begin(origin: origin, firstVersion: version, known: known)
            for (index, stamp) in stamps.enumerated() {
                let change = Change(
                    shape: 0, operation: .insert, life: 1, stamp: stamp, mask: ColumnMask(all: 3), values: 0..<3,
                    endsTransaction: true)
                let values: [Value] = [.text("\(origin.short)-\(version + Int64(index))"), .integer(1), .null]
                try appender.append([change], shapes: [entry], values: values)
            }
            try appender.finish()
        }
        try merge.close()
    }

    private func rekey(
        shared: Int64 = 0, mostKept: Int64 = .max, time: Double = 1_000
    ) throws -> NewIdentity.Outcome {
        let request = NewIdentity(.manual, of: try own, shared: shared, mostKept: mostKept, time: time)
        return try #require(try fixture.replica.write { try request.run($0, fingerprint: nil) })
    }

    private func vector() throws -> VersionVector { try fixture.replica.read { try JournalReader($0).vector() } }

    /// Everything in an entry that a new identity must not change.
    private func fixed(_ entries: [JournalEntry]) -> [String] {
        entries.map {
            "\($0.seq) \($0.stamp) \($0.life) \($0.operation) \($0.keyValues) \($0.columns) \($0.endsTransaction) \($0.isLocal)"
        }
    }

    private func named(_ entries: [JournalEntry]) throws -> [String] {
        let own = try own
        return entries.map { "\(($0.origin ?? own).short) \($0.version)" }
    }

    @Test("versions up to the cut keep their name, later ones begin at 1 under the new name; all else stays")
    func cut() throws {
        for index in 1...7 { try write("\(index)") }
        try fixture.execute("DELETE FROM t WHERE id = '6'; INSERT INTO t VALUES ('6', 7, 7)")
        let before = try fixture.entries()
        let old = try own
        let outcome = try rekey(shared: 4)
        let new = try own
        #expect(outcome.old == old && outcome.new == new && new != old)
        #expect(outcome.kept == 4 && outcome.reissued == 5)
        let after = try fixture.entries()
        #expect(fixed(after) == fixed(before))
        #expect(after.map(\.origin) == Array(repeating: old, count: 4) + Array(repeating: nil, count: 5))
        #expect(after.map(\.version) == [1, 2, 3, 4, 1, 2, 3, 4, 5])
        #expect(try vector() == VersionVector([.init(origin: old, version: 4), .init(origin: new, version: 5)]))
        try write("more")
        #expect(try fixture.entries().last?.version == 6)
        #expect(try fixture.entries().map(\.stamp) == fixture.entries().map(\.stamp).sorted())
    }

    @Test("a cut at the head renames nothing, and the next write is version 1")
    func keepsAll() throws {
        try write("1", "2")
        let old = try own
        let outcome = try rekey(shared: 99)
        #expect(outcome.kept == 2 && outcome.reissued == 0)
        try write("3")
        let entries = try fixture.entries()
        #expect(entries.map(\.origin) == [old, old, nil])
        #expect(entries.map(\.version) == [1, 2, 1])
        #expect(entries[2].stamp > entries[1].stamp)
    }

    @Test("the last write of another program under the old name ends there, also when no write gets the new name")
    func endOfOldName() throws {
        try fixture.execute("INSERT INTO t VALUES ('1', 1, 2); INSERT INTO t VALUES ('2', 1, 2)")
        _ = try rekey(shared: 2)
        try write("3")
        #expect(try fixture.entries().map(\.endsTransaction) == [false, true, true])
    }

    @Test("a file without changes of its own takes a new name, with and without changes of others")
    func empty() throws {
        #expect(try rekey().reissued == 0)
        try receive(x, from: 1, [Stamp(rawValue: 7)])
        #expect(try rekey().reissued == 0)
        try write("1")
        #expect(try vector() == VersionVector([.init(origin: x, version: 1), .init(origin: try own, version: 1)]))
    }

    @Test("changes of others in between stay in place, and each run knows the old name up to the cut")
    func interleaved() throws {
        try write("1")
        try receive(x, from: 1, [Stamp(rawValue: 10)])
        try write("2")
        try write("3")
        try receive(x, from: 2, [Stamp(rawValue: 20)])
        try write("4")
        let before = try fixture.entries()
        let old = try own
        _ = try rekey(shared: 2)
        let new = try own
        let entries = try fixture.entries()
        #expect(fixed(entries) == fixed(before))
        #expect(
            try named(entries) == [
                "\(old.short) 1", "\(x.short) 1", "\(old.short) 2", "\(new.short) 1", "\(x.short) 2", "\(new.short) 2",
            ])
        var known: [String: VersionVector] = [:]
        try fixture.replica.read { db in
            try JournalReader(db).forEachBatch(after: VersionVector(), changes: 100, bytes: 1 << 20) { batch in
                #expect(batch.checkInvariants() == nil)
                for run in batch.runs { known["\(run.origin.short) \(run.firstVersion)"] = run.known }
                return true
            }
        }
        func merged(_ version: Int64) -> VersionVector {
            VersionVector([.init(origin: old, version: 2), .init(origin: x, version: version)])
        }
        #expect(known["\(new.short) 1"] == merged(1))
        #expect(known["\(new.short) 2"] == merged(2))
        #expect(known["\(old.short) 2"] == VersionVector([.init(origin: x, version: 1)]))
    }

    @Test("changes that another origin had merged keep their name")
    func mergedByOthers() throws {
        try write("1")
        try write("2")
        try write("3")
        let old = try own
        try receive(x, from: 1, [Stamp(rawValue: 10)], known: VersionVector([.init(origin: old, version: 2)]))
        #expect(try rekey().kept == 2)
        #expect(try own != old)
    }

    @Test("changes that another origin had merged keep their name, also where no mark ends a transaction")
    func mergedWithoutMark() throws {
        let program = try RawConnection(path: fixture.replica.path)
        for id in 1...3 { try program.run("INSERT INTO t VALUES ('\(id)', 1, 2)") }
        let old = try own
        try receive(x, from: 1, [Stamp(rawValue: 10)], known: VersionVector([.init(origin: old, version: 2)]))
        #expect(try rekey(shared: 1).kept == 2)
        #expect(try fixture.entries().map(\.endsTransaction) == [false, true, true, true])
    }

    @Test("no change above a version that is known to differ keeps its name, even if a peer confirmed it")
    func mostKept() throws {
        for index in 1...5 { try write("\(index)") }
        #expect(try rekey(shared: 5, mostKept: 3).kept == 3)
    }

    @Test("a transaction is never cut")
    func wholeTransactions() throws {
        try write("1")
        try write("2", "3", "4")
        try write("5")
        #expect(try rekey(shared: 3).kept == 1)
        let entries = try fixture.entries()
        #expect(entries.map(\.endsTransaction) == [true, false, false, true, true])
    }

    @Test("changes of the old name that return are read as received, those that stayed as captured")
    func comesBack() throws {
        try write("1")
        try write("2")
        let old = try own
        let stamps = try fixture.entries().map(\.stamp)
        _ = try rekey(shared: 2)
        // The same knowledge as the captured run before. The two must not become one run.
        try receive(old, from: 3, [Stamp(rawValue: 30), Stamp(rawValue: 31)])
        try receive(old, from: 5, [Stamp(rawValue: 32)])
        try write("6")
        let entries = try fixture.entries()
        #expect(entries.map(\.version) == [1, 2, 3, 4, 5, 1])
        #expect(entries.map(\.isLocal) == [true, true, false, false, false, true])
        #expect(entries.map(\.stamp).prefix(5) == (stamps + [30, 31, 32].map(Stamp.init(rawValue:)))[...])
        #expect(entries[5].stamp > stamps[1])
        #expect(try vector()[old] == 5)
        let sample = try fixture.replica.read { try JournalReader($0).stamp(of: old, version: 4) }
        #expect(sample == Stamp(rawValue: 31))
    }

    @Test("a replica can take a new name many times")
    func again() throws {
        var names = [try own]
        for index in 1...6 {
            try write("\(index)a")
            try write("\(index)b")
            let before = try fixture.entries()
            #expect(try rekey(shared: 1).kept == 1)
            #expect(fixed(try fixture.entries()) == fixed(before))
            names.append(try own)
        }
        #expect(Set(names).count == 7)
        #expect(try fixture.entries().count == 12)
        let total = try vector().entries.reduce(0) { $0 + $1.version }
        #expect(total == 12)
        #expect(try fixture.replica.read { try NewIdentity.times($0) }.count == 6)
    }

    @Test(
        "the stamps of a long journal stay, for a cut at any version",
        arguments: [1, 4_096, 4_097, 6_000, 9_999] as [Int64])
    func long(cut: Int64) throws {
        try fixture.execute(
            "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 9000) INSERT INTO t SELECT i, 1, 1 FROM n"
        )
        try receive(x, from: 1, [Stamp(rawValue: 10)])
        try fixture.execute(
            "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 1000) INSERT INTO t SELECT -i, 1, 1 FROM n"
        )
        let before = try all()
        // Without marks each statement of a foreign writer is a transaction, so any cut is allowed.
        try fixture.replica.write { try $0.execute(sql: "UPDATE _journal SET tx = 1") }
        #expect(try rekey(shared: cut).kept == cut)
        let after = try all()
        #expect(after.map(\.stamp) == before.map(\.stamp))
        #expect(after.map(\.seq) == before.map(\.seq))
        #expect(try vector().entries.reduce(0) { $0 + $1.version } == 10_001)
    }

    private func all() throws -> [JournalEntry] {
        try fixture.replica.refreshDerivedState()
        return try fixture.replica.read { try JournalReader($0).entries(after: 0, limit: 100_000) }
    }

    @Test("ledger entries follow their changes to the new name")
    func claims() throws {
        for index in 1...4 { try write("\(index)") }
        let entries = try fixture.entries()
        let old = try own
        try fixture.replica.write { db in
            for (version, kept) in [(2, 1), (4, 3)] {
                try db.execute(
                    sql: """
                        INSERT INTO _journal_conflicts (tbl, key, kind, columns, lost_origin, lost_version, lost_seq, kept_seq,
                          kept_life, kept_stamp, kept_origin, time) VALUES (1, ?, 'k', '[]', 0, ?, ?, ?, 1, ?, ?, 0)
                        """,
                    arguments: [
                        Data([UInt8(version)]), version, version, kept, entries[kept - 1].stamp.rawValue,
                        Data(old.bytes),
                    ])
            }
        }
        _ = try rekey(shared: 2)
        let new = try own
        let ledger = try fixture.replica.read { db in
            try Row.fetchAll(
                db,
                sql: """
                    SELECT o.origin, lost_version, kept_origin FROM _journal_conflicts JOIN _journal_origins AS o
                    ON o.id = lost_origin ORDER BY lost_seq
                    """
            ).map { [$0[0] as Data, $0[2] as Data] }
        }
        #expect(ledger == [[Data(old.bytes), Data(old.bytes)], [Data(new.bytes), Data(new.bytes)]])
    }

    @Test("a name that another process abandoned in the meantime is not abandoned twice")
    func concurrent() throws {
        let request = NewIdentity(.manual, of: try own, time: 0)
        #expect(try fixture.replica.write { try request.run($0, fingerprint: nil) } != nil)
        #expect(try fixture.replica.write { try request.run($0, fingerprint: nil) } == nil)
    }

    @Test("a journal of the first release gets its missing columns when it is opened")
    func oldFile() throws {
        try write("1")
        try fixture.replica.write { db in
            try db.execute(
                sql: """
                    ALTER TABLE _journal_replica DROP COLUMN fingerprint; ALTER TABLE _journal_replica DROP COLUMN instance;
                    ALTER TABLE _journal_origins DROP COLUMN retired; UPDATE _journal_replica SET format = 1
                    """)
        }
        let replica = try Replica.open(at: fixture.replica.path)
        #expect(try replica.identity().fingerprint == nil)
        #expect(try fixture.entries().count == 1)
        #expect(try rekey().reissued == 1)
        let print = try #require(FileFingerprint(path: replica.path))
        try replica.write { try FileBinding.bind($0, to: print) }
        #expect(try replica.identity().fingerprint == print)
        try replica.close()
    }

    @Test("the new name has the same place in the order of origins, unless there is no free number")
    func order() throws {
        let queue = try DatabaseQueue()
        func successor(of old: OriginID, among others: [OriginID]) throws -> OriginID {
            try queue.read { try old.successor(among: others, $0) }
        }
        var random = SplitMix(seed: 5)
        for _ in 0..<200 {
            let others = (0..<(1 + random.below(9))).map { _ in OriginID(high: random.next(), low: random.next()) }
            let old = others[0]
            let new = try successor(of: old, among: others)
            #expect(!others.contains(new))
            for other in others.dropFirst() { #expect((old < other) == (new < other)) }
        }
        let crowded = (1...3).map { OriginID(high: 5, low: $0) }
        #expect(try !crowded.contains(successor(of: crowded[1], among: crowded)))
    }

    @Test("samples are at doubling distances back to the first version")
    func samples() throws {
        for index in 1...20 { try write("\(index)") }
        let own = try own
        let samples = try fixture.replica.read { try JournalReader($0).samples(of: own, upTo: .max) }
        #expect(samples.map(\.version) == [20, 19, 17, 13, 5, 1])
        for (entry, sample) in try zip(samples.map { try fixture.entries()[Int($0.version) - 1] }, samples) {
            let digest = ChangeDigest.of(
                table: "t", operation: entry.operation, stamp: entry.stamp, values: entry.values)
            #expect(digest == sample.digest)
        }
        #expect(
            try fixture.replica.read { try JournalReader($0).samples(of: own, upTo: 3) }.map(\.version) == [3, 2, 1])
        #expect(try fixture.replica.read { try JournalReader($0).samples(of: x, upTo: .max) }.isEmpty)
    }
}

@Suite("What distinguishes a file from its copies")
struct FileIdentityTests {
    private let directory = TemporaryDirectory()

    @Test("a rename keeps the fingerprint; a copy has another one, also over a deleted file")
    func fingerprint() throws {
        let manager = FileManager.default
        let path = directory.file("a")
        try Data([1]).write(to: URL(fileURLWithPath: path))
        let first = try #require(FileFingerprint(path: path))
        #expect(FileFingerprint(text: first.text) == first)
        try manager.moveItem(atPath: path, toPath: directory.file("b"))
        #expect(FileFingerprint(path: directory.file("b")) == first)
        try manager.copyItem(atPath: directory.file("b"), toPath: path)
        #expect(FileFingerprint(path: path)?.canBeSameFile(as: first) == false)
        #expect(FileFingerprint(path: directory.file("none")) == nil)
        for text in ["", "2 1 1 1", "1 x 1 1", "1 1 1", "1 -1 1 1"] { #expect(FileFingerprint(text: text) == nil) }
    }

    @Test("parts that one side does not know are not compared")
    func unknowns() throws {
        func print(_ text: String) throws -> FileFingerprint { try #require(FileFingerprint(text: text)) }
        let whole = try print("1 5 6 7")
        #expect(whole.canBeSameFile(as: try print("1 0 6 7")))
        #expect(whole.canBeSameFile(as: try print("1 5 6 0")))
        #expect(!whole.canBeSameFile(as: try print("1 4 6 7")))
        #expect(!whole.canBeSameFile(as: try print("1 5 6 8")))
        #expect(!whole.canBeSameFile(as: try print("1 5 7 7")))
    }

    @Test("the record of published versions only grows, and keeps earlier names")
    func record() throws {
        let record = PublicationRecord(database: directory.file("a"))
        let (x, y) = (OriginID(high: 1, low: 1), OriginID(high: 2, low: 2))
        func entry(_ origin: OriginID, _ version: Int64) -> PublicationRecord.Entry {
            .init(origin: origin, version: version, digest: UInt64(version))
        }
        #expect(try record.entries().isEmpty)
        try record.raise(to: entry(x, 5))
        try record.raise(to: entry(x, 3))
        #expect(try record.entries() == [entry(x, 5)])
        try record.raise(to: entry(y, 0))
        try record.raise(to: entry(y, 2))
        #expect(try record.entries() == [entry(x, 5), entry(y, 2)])
        for index in 1...40 { try record.raise(to: entry(OriginID(high: 9, low: UInt64(index)), .max / 10)) }
        #expect(try record.entries().count == 10)
        #expect(try Data(contentsOf: URL(fileURLWithPath: record.path)).count == 2_048)
    }

    @Test("the record keeps the journal mode that the file had, and is not made for the usual one")
    func recordedMode() throws {
        let record = PublicationRecord(database: directory.file("a"))
        try record.note(wasInWAL: false)
        #expect(!FileManager.default.fileExists(atPath: record.path))
        #expect(try !record.wasInWAL())
        try record.note(wasInWAL: true)
        #expect(try record.wasInWAL() && record.entries().isEmpty)
        for index in 1...20 {
            try record.raise(to: .init(origin: OriginID(high: .max, low: UInt64(index)), version: .max, digest: .max))
        }
        #expect(try record.wasInWAL() && record.entries().count == 10)
        try record.note(wasInWAL: false)
        #expect(try !record.wasInWAL() && record.entries().count == 10)
    }

    @Test("a record that is cut off, changed or of another kind says nothing, and is written again")
    func damagedRecord() throws {
        let record = PublicationRecord(database: directory.file("a"))
        let entry = PublicationRecord.Entry(origin: OriginID(high: 1, low: 1), version: 5, digest: .max)
        try record.raise(to: entry)
        let url = URL(fileURLWithPath: record.path)
        let good = try Data(contentsOf: url)
        var changed = good
        changed[55] ^= 1
        for bytes in [
            Data(), good.prefix(700), changed, Data(repeating: 65, count: 1_024), Data(repeating: 0, count: 5_000),
        ] {
            try bytes.write(to: url)
            #expect(try record.entries().isEmpty)
        }
        try record.raise(to: entry)
        #expect(try record.entries() == [entry])
    }

    @Test("half a write of a record keeps what was recorded before")
    func tornRecord() throws {
        let record = PublicationRecord(database: directory.file("a"))
        let origin = OriginID(high: 1, low: 1)
        let url = URL(fileURLWithPath: record.path)
        var files = [Data()]
        for version in 1...5 {
            try record.raise(to: .init(origin: origin, version: Int64(version), digest: 1))
            files.append(try Data(contentsOf: url))
        }
        for (before, after) in zip(files, files.dropFirst()).dropFirst() {
            // The sectors that the disk has written.
            for end in stride(from: 0, through: after.count, by: 512) {
                try (after.prefix(end) + before.dropFirst(end)).write(to: url)
                let version = try #require(try record.entries().last?.version)
                #expect([files.firstIndex(of: before), files.firstIndex(of: after)].contains(Int(version)))
            }
        }
    }

    @Test("a record of the first release is read, and continued as one of this release")
    func firstRecord() throws {
        let record = PublicationRecord(database: directory.file("a"))
        let origin = OriginID(high: 1, low: 1)
        let text = "tandem identity 1\n\(origin) 7 9\n"
        let whole = text + "check \(Checksum.fnv1a(text.utf8))\n"
        try Data((whole + String(repeating: "\n", count: 1_024 - whole.utf8.count)).utf8)
            .write(to: URL(fileURLWithPath: record.path))
        #expect(try record.entries().map(\.version) == [7])
        try record.raise(to: .init(origin: origin, version: 8, digest: 1))
        #expect(try record.entries().map(\.version) == [8])
    }

    @Test("two names of one file share a record")
    func links() throws {
        let path = directory.file("a")
        try Data([1]).write(to: URL(fileURLWithPath: path))
        try FileManager.default.createSymbolicLink(atPath: directory.file("link"), withDestinationPath: path)
        #expect(PublicationRecord(database: directory.file("link")).path == PublicationRecord(database: path).path)
    }
}
