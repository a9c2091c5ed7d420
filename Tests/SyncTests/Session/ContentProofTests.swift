import Foundation
import GRDB
import Journal
import TestSupport
import Testing

@testable import Sync

@Suite("Replicas that know the same are proved to hold the same")
struct ContentProofTests {
    /// Changes a file's rows past the journal, as damage would: no trigger runs, and nothing is journalled.
    private func damage(_ replica: Replica, _ sql: String) throws {
        let merge = try replica.openMergeConnection()
        try merge.write { try $0.execute(sql: sql) }
        try merge.close()
    }

    private func pair(
        _ way: ReplicaPair.Way = .local, rows: Int = 40, recaptures: Bool = false
    ) async throws -> ReplicaPair {
        var limits = Limits.standard
        limits.rowsPerDigest = 10
        limits.comparisonIntervalMilliseconds = 0
        limits.recapturesByItself = recaptures
        let pair = try ReplicaPair(way, limits: limits)
        try ReplicaPair.insert(pair.a, 1..<(rows + 1))
        try pair.a.write { try $0.execute(sql: "INSERT INTO note VALUES ('x', 1, 'one'), ('y', 2, 'two')") }
        return pair
    }

    private func record(_ pair: ReplicaPair) throws -> PeerRecord {
        try #require(try pair.a.read { try PeerTable.all($0) }.first)
    }

    private func row(_ replica: Replica, _ id: Int) throws -> String? {
        try replica.read { try String.fetchOne($0, sql: "SELECT name FROM person WHERE id = ?", arguments: [id]) }
    }

    @Test(
        "an exchange after which both know the same compares the content, and records that it is equal",
        arguments: ReplicaPair.Way.allCases)
    func equal(way: ReplicaPair.Way) async throws {
        let pair = try await pair(way)
        let report = try await pair.sync()
        #expect(report.mismatches.isEmpty)
        #expect(try record(pair).comparedMilliseconds != nil)
        #expect(try record(pair).mismatches.isEmpty)
    }

    @Test("the next exchange finds damage, and reports its table and keys", arguments: ReplicaPair.Way.allCases)
    func mismatch(way: ReplicaPair.Way) async throws {
        let pair = try await pair(way)
        try await pair.sync()
        try damage(pair.b, "UPDATE person SET name = 'rotten' WHERE id = 15; DELETE FROM person WHERE id = 40")
        let report = try await pair.sync()
        #expect(report.mismatches.map(\.table) == ["person"])
        let found = try #require(report.mismatches.first)
        #expect(found.count == 2)
        #expect(found.ranges.first?.after?.columns["id"] == .integer(10))
        #expect(found.ranges.first?.through?.columns["id"] == .integer(20))
        #expect(found.summary.contains("person: after id 10 up to id 20"))
        // `status` of any process reads it.
        #expect(try record(pair).mismatches == report.mismatches)
        try damage(pair.b, "UPDATE person SET name = 'somebody 15' WHERE id = 15")
        try damage(pair.a, "DELETE FROM person WHERE id = 40")
        #expect(try await pair.sync().mismatches.isEmpty)
        #expect(try record(pair).mismatches.isEmpty)
    }

    @Test("the content is compared once in an interval, and not while both know different things")
    func interval() async throws {
        let pair = try await pair()
        try await pair.sync()
        let first = try record(pair).comparedMilliseconds
        try damage(pair.b, "DELETE FROM person WHERE id = 1")
        var limits = pair.limits
        limits.comparisonIntervalMilliseconds = 3_600_000
        let patient = try Replicator(replica: pair.a, limits: limits)
        #expect(try await patient.syncOnce(pair.peerB).mismatches.isEmpty)
        #expect(try record(pair).comparedMilliseconds == first)

        try ReplicaPair.insert(pair.b, 500..<501)
        let transport = LocalTransport(pair.replicatorB.endpoint, name: "b")
        let proof = ContentProof(inbox: pair.replicatorA.inbox, transport: transport, limits: pair.limits)
        #expect(try await proof.run() == nil)
    }

    @Test("a machine with another schema is compared in the common tables and columns")
    func schemas() async throws {
        var limits = Limits.standard
        limits.comparisonIntervalMilliseconds = 0
        let pair = try ReplicaPair(
            .local, limits: limits,
            schemaB: "CREATE TABLE person (id INTEGER PRIMARY KEY, name TEXT, score REAL, photo BLOB, extra TEXT)")
        try ReplicaPair.insert(pair.a, 1..<9)
        try pair.a.write { try $0.execute(sql: "INSERT INTO note VALUES ('x', 1, 'one')") }
        #expect(try await pair.sync().mismatches.isEmpty)
        #expect(try record(pair).comparedMilliseconds != nil)
    }

    @Test("a local row that differs from the journal is restored from it, without a new change")
    func rebuilds() async throws {
        let pair = try await pair()
        try await pair.sync()
        let seq = try pair.a.read { try JournalReader($0).lastSeq }
        try damage(
            pair.a,
            """
            UPDATE person SET name = 'rotten', score = NULL WHERE id = 3;
            DELETE FROM person WHERE id IN (7, 40);
            UPDATE note SET body = 'rotten' WHERE part = 2;
            """)
        let report = try await pair.replicatorA.repair(pair.peerB, .fromJournal)
        #expect(report.rebuilt == 4 && report.announced == 0 && report.taken == 0)
        #expect(report.after.isEqual)
        #expect(try row(pair.a, 3) == "somebody 3")
        #expect(try pair.a.read { try JournalReader($0).lastSeq } == seq)
        // Live objects have no change to follow, so they are notified to read both tables again.
        #expect(try pair.a.read { try VisibilityNotice.all(after: 0, $0)?.filter { $0.key == nil }.count } == 2)
    }

    @Test("a deleted row that is here again is removed here; one that is there again is removed there")
    func zombies() async throws {
        let pair = try await pair()
        try pair.a.write { try $0.execute(sql: "DELETE FROM person WHERE id IN (5, 6)") }
        try await pair.sync()
        try damage(pair.a, "INSERT INTO person VALUES (5, 'zombie', 1, NULL)")
        try damage(pair.b, "INSERT INTO person VALUES (6, 'zombie', 1, NULL)")
        let report = try await pair.replicatorA.repair(pair.peerB, .fromJournal)
        #expect(report.rebuilt == 1 && report.announced == 1)
        #expect(report.after.isEqual)
        #expect(try pair.count(pair.a) == 38 && pair.count(pair.b) == 38)
    }

    @Test("a row that is right here and damaged there is published again in the columns that differ")
    func announces() async throws {
        let pair = try await pair()
        try await pair.sync()
        try damage(
            pair.b, "UPDATE person SET name = 'rotten' WHERE id = 3; DELETE FROM person WHERE id = 4; DELETE FROM note")
        let report = try await pair.replicatorA.repair(pair.peerB, .fromJournal)
        #expect(report.rebuilt == 0 && report.announced == 4)
        #expect(report.after.isEqual)
        #expect(try row(pair.b, 3) == "somebody 3")
        #expect(try row(pair.b, 4) == "somebody 4")
        let entry = try pair.a.read { db in
            try JournalReader(db).entries(after: 0, limit: 1_000).last {
                $0.key == Key([.integer(3)], collations: [.binary])
            }
        }
        #expect(entry?.columns.map(\.name) == ["name"])
        #expect(try pair.a.read { try String.fetchAll($0, sql: "PRAGMA integrity_check") } == ["ok"])
    }

    @Test("rows that are in no journal are kept: taken from the peer, or published to it")
    func unknownRows() async throws {
        let pair = try await pair()
        try await pair.sync()
        try damage(pair.a, "INSERT INTO person VALUES (900, 'only here', 1, NULL)")
        try damage(pair.b, "INSERT INTO person VALUES (901, 'only there', 2.5, x'01')")
        let report = try await pair.replicatorA.repair(pair.peerB, .fromJournal)
        #expect(report.taken == 1 && report.announced == 1)
        #expect(report.after.isEqual)
        for replica in [pair.a, pair.b] {
            #expect(try row(replica, 900) == "only here")
            #expect(try row(replica, 901) == "only there")
        }
    }

    @Test("a repair against a replica that is behind or ahead is refused and changes nothing")
    func refuses() async throws {
        let pair = try await pair()
        try await pair.sync()
        try damage(pair.a, "UPDATE person SET name = 'rotten' WHERE id = 3")
        for (behind, ids) in [(pair.b, 100..<101), (pair.a, 200..<201)] {
            try ReplicaPair.insert(behind, ids)
            let error = await #expect(throws: SyncError.self) {
                _ = try await pair.replicatorA.repair(pair.peerB, .fromJournal)
            }
            #expect(error?.message.contains("do not know the same changes") == true)
            #expect(try row(pair.a, 3) == "rotten")
            try await pair.sync()
        }
        #expect(try await pair.replicatorA.repair(pair.peerB, .fromJournal).after.isEqual)
    }

    @Test("more differences than one list has are repaired in rounds")
    func rounds() async throws {
        var limits = Limits.standard
        limits.listedDifferences = 7
        limits.rowsPerDigest = 10
        let pair = try ReplicaPair(.local, limits: limits)
        try ReplicaPair.insert(pair.a, 1..<61)
        try await pair.sync()
        try damage(pair.a, "UPDATE person SET name = 'rotten' WHERE id < 40")
        let report = try await pair.replicatorA.repair(pair.peerB, .fromJournal)
        #expect(report.rebuilt == 39)
        #expect(report.after.isEqual)
    }

    @Test(
        "what a program wrote past capture is kept: it becomes a change of its machine, in tables of every policy",
        arguments: [MergePolicy.column, .row])
    func keepsRows(policy: MergePolicy) async throws {
        let pair = try await pair()
        for replica in [pair.a, pair.b] { try replica.write { try MergePolicy.set(policy, table: "person", $0) } }
        try await pair.sync()
        try damage(
            pair.a,
            """
            UPDATE person SET name = 'past capture' WHERE id = 3;
            DELETE FROM person WHERE id = 4;
            INSERT INTO person VALUES (900, 'new', 1, NULL);
            """)
        try damage(pair.b, "UPDATE person SET score = 77 WHERE id = 5")
        let report = try await pair.replicatorA.repair(pair.peerB)
        #expect(report.after.isEqual)
        #expect(report.captured == 2 && report.capturedThere == 1 && report.rebuilt == 0 && report.leftThere == 0)
        for replica in [pair.a, pair.b] {
            #expect(try row(replica, 3) == "past capture")
            #expect(try row(replica, 4) == nil)
            #expect(try row(replica, 900) == "new")
            #expect(
                try replica.read { try Double.fetchOne($0, sql: "SELECT score FROM person WHERE id = 5") } == 77)
        }
    }

    @Test("rows that a program at a peer elsewhere wrote past capture are left alone, and counted")
    func leavesPeers() async throws {
        let pair = try await pair(.http)
        try await pair.sync()
        try damage(pair.b, "UPDATE person SET name = 'past capture' WHERE id = 3")
        let report = try await pair.replicatorA.repair(pair.peerB)
        #expect(report.after.differs && report.leftThere == 1 && report.announced == 0)
        #expect(try row(pair.b, 3) == "past capture")
        #expect(try row(pair.a, 3) == "somebody 3")
    }

    @Test("a table that merges by the row is published where the peer is damaged, and rebuilt where this file is")
    func rowPolicy() async throws {
        var limits = Limits.standard
        limits.listedDifferences = 7
        limits.rowsPerDigest = 10
        let pair = try ReplicaPair(.local, limits: limits)
        for replica in [pair.a, pair.b] {
            try replica.write { try MergePolicy.set(.row, table: "person", $0) }
        }
        try ReplicaPair.insert(pair.a, 1..<61)
        try await pair.sync()
        try damage(pair.b, "UPDATE person SET name = 'rotten' WHERE id < 40")
        let announced = try await pair.replicatorA.repair(pair.peerB, .fromJournal)
        #expect(announced.rebuilt == 0 && announced.announced == 39)
        #expect(announced.after.isEqual)
        #expect(try row(pair.b, 3) == "somebody 3")

        try damage(pair.a, "UPDATE person SET name = 'rotten' WHERE id = 50; DELETE FROM person WHERE id = 51")
        let rebuilt = try await pair.replicatorA.repair(pair.peerB, .fromJournal)
        #expect(rebuilt.rebuilt == 2 && rebuilt.announced == 0)
        #expect(rebuilt.after.isEqual)
        #expect(try row(pair.a, 50) == "somebody 50")
    }

    @Test("the file keeps the result of a comparison; an unreadable result counts as none")
    func storedForm() throws {
        var mismatch = ContentMismatch(table: "a \"b\"")
        var key = RowImage()
        key.columns = ["id": .text("x\u{0}"), "n": .real(1.5)]
        mismatch.add(.init(after: nil, through: key), limits: .standard)
        mismatch.add(.init(after: key, through: nil), limits: .standard)
        #expect(ContentMismatch.decode(try ContentMismatch.encode([mismatch])) == [mismatch])
        for text in ["", "x", "[1]", "{}"] { #expect(ContentMismatch.decode(text).isEmpty) }
    }

    @Test("an alarm ends with the repair, not with the next comparison an hour later")
    func alarmEnds() async throws {
        let pair = try await pair()
        try await pair.sync()
        try damage(pair.b, "UPDATE person SET name = 'rotten' WHERE id = 15")
        try await pair.sync()
        #expect(try record(pair).mismatches.count == 1)
        #expect(try await pair.replicatorA.repair(pair.peerB, .fromJournal).after.isEqual)
        #expect(try record(pair).mismatches.isEmpty)
    }

    @Test(
        "what programs wrote past capture, here or at the peer, becomes changes by itself, and is exchanged at once",
        arguments: ReplicaPair.Way.allCases)
    func recaptures(way: ReplicaPair.Way) async throws {
        let pair = try await pair(way, recaptures: true)
        try await pair.sync()
        try damage(
            pair.a,
            """
            UPDATE person SET name = 'here' WHERE id = 3; DELETE FROM person WHERE id = 4;
            INSERT INTO person VALUES (900, 'new here', 1, NULL); UPDATE note SET body = 'here' WHERE part = 1;
            """)
        try damage(
            pair.b,
            """
            UPDATE person SET name = 'there' WHERE id = 5; DELETE FROM person WHERE id = 6;
            INSERT INTO person VALUES (901, 'new there', 1, NULL);
            """)
        #expect(try await pair.sync().mismatches.isEmpty)
        for replica in [pair.a, pair.b] {
            #expect(
                try [3, 4, 5, 6, 900, 901].map { try row(replica, $0) } == [
                    "here", nil, "there", nil, "new here", "new there",
                ])
            #expect(try replica.read { try String.fetchAll($0, sql: "SELECT body FROM note") } == ["here", "two"])
            #expect(try replica.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM _journal_conflicts") } == 0)
        }
        #expect(try record(pair).comparedMilliseconds != nil && record(pair).mismatches.isEmpty)
        #expect(try await pair.replicatorA.verify(pair.peerB).isEqual)
    }

    @Test("what was written past capture is taken also when a change has arrived since the comparison")
    func besideChanges() async throws {
        let pair = try await pair(recaptures: true)
        try await pair.sync()
        try damage(pair.a, "UPDATE person SET name = 'here' WHERE id = 3; UPDATE person SET name = 'past' WHERE id = 4")
        let peer = LocalTransport(pair.replicatorB.endpoint, name: "b")
        let found = try await Verification(replica: pair.a, transport: peer, limits: pair.limits).run()
        #expect(found.differenceCount == 2)
        // As when the peer, or a program, writes just then; also to one of the rows.
        try pair.a.write { try $0.execute(sql: "UPDATE person SET name = 'captured' WHERE id IN (4, 5)") }
        var outcome = RepairReport(after: found)
        try pair.replicatorA.inbox.repair(found, .keepRows, .written, into: &outcome)
        #expect(outcome.captured == 1)
        #expect(try await pair.sync().mismatches.isEmpty)
        for replica in [pair.a, pair.b] {
            #expect(try [3, 4, 5].map { try row(replica, $0) } == ["here", "captured", "captured"])
        }
    }

    @Test(
        "a value that one flipped bit explains is nobody's write, and reported", arguments: [MergePolicy.column, .row])
    func bitRot(policy: MergePolicy) async throws {
        let pair = try await pair(recaptures: true)
        for replica in [pair.a, pair.b] { try replica.write { try MergePolicy.set(policy, table: "person", $0) } }
        try await pair.sync()
        try damage(pair.a, "UPDATE person SET name = 'comebody 3' WHERE id = 3")
        try damage(pair.b, "UPDATE person SET name = 'comebody 5' WHERE id = 5")
        #expect(try await pair.sync().mismatches.map(\.count) == [1])
        #expect(try row(pair.a, 3) == "comebody 3" && row(pair.b, 3) == "somebody 3")
        #expect(try row(pair.b, 5) == "comebody 5" && row(pair.a, 5) == "somebody 5")
        // An operator's word is enough.
        #expect(try await pair.replicatorA.repair(pair.peerB).captured == 1)
    }

    @Test("rows of a table that SQLite calls damaged are nobody's write, and reported")
    func damagedTable() async throws {
        let pair = try await pair(recaptures: true)
        for replica in [pair.a, pair.b] { try replica.write { try $0.execute(sql: "CREATE INDEX i ON person (name)") } }
        try await pair.sync()
        for replica in [pair.a, pair.b] {
            // The row has another name than its entry in the index, as after a write to a wrong page.
            let tool = try DatabaseQueue(path: replica.path)
            try await tool.write { db in
                try db.execute(
                    sql: """
                        PRAGMA writable_schema = 1;
                        UPDATE sqlite_schema SET sql = replace(sql, 'name', 'score') WHERE name = 'i';
                        PRAGMA writable_schema = RESET;
                        """)
            }
            try tool.close()
        }
        try damage(pair.a, "UPDATE person SET name = 'rotten' WHERE id = 3")
        try damage(pair.b, "UPDATE person SET name = 'rotten' WHERE id = 5")
        #expect(try await pair.sync().mismatches.map(\.count) == [1])
        #expect(try row(pair.a, 3) == "rotten" && row(pair.b, 3) == "somebody 3")
        #expect(try row(pair.b, 5) == "rotten" && row(pair.a, 5) == "somebody 5")
    }

    @Test("the question for what was written past capture survives its encoding, and too many or odd keys are refused")
    func question() throws {
        let shape = TableShape(table: "person", columns: ["id"], keyCount: 1)
        func request(_ key: [Value]) -> DigestRequest {
            DigestRequest(cluster: "main", question: .recapture(shape: shape, keys: [key, key]))
        }
        let good = request([.integer(1)])
        #expect(try DigestRequest(decoding: good.encoded(), limits: .standard) == good)
        var few = Limits.standard
        few.listedDifferences = 1
        #expect(throws: WireError.self) { try DigestRequest(decoding: good.encoded(), limits: few) }
        #expect(throws: WireError.self) {
            try DigestRequest(decoding: request([.integer(1), .null]).encoded(), limits: .standard)
        }
    }

    @Test("a row that is right here and differs at a peer that takes nothing by itself is reported")
    func unwilling() async throws {
        let pair = try await pair(.http)
        try await pair.sync()
        try damage(pair.b, "UPDATE person SET name = 'there' WHERE id = 5")
        var limits = pair.limits
        limits.recapturesByItself = true
        let eager = try Replicator(replica: pair.a, limits: limits)
        #expect(try await eager.syncOnce(pair.peerB).mismatches.map(\.count) == [1])
        #expect(try row(pair.a, 5) == "somebody 5" && row(pair.b, 5) == "there")
    }

    @Test("a table with another name here is compared with the peer's, and its damage is found")
    func renamedTable() async throws {
        let pair = try await pair()
        try await pair.sync()
        try pair.a.write { db in
            _ = try TableNames.declare(.init(old: "person", new: "contact"), db)
            try db.execute(sql: "ALTER TABLE person RENAME TO contact")
        }
        #expect(try await pair.sync().mismatches.isEmpty)
        try damage(pair.b, "UPDATE person SET name = 'rotten' WHERE id = 15")
        #expect(try await pair.sync().mismatches.map(\.count) == [1])
    }
}
