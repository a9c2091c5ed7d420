import GRDB
import Journal
import Testing

@testable import Sync

@Suite struct VerifyTests {
    /// Changes a replica's rows past the journal, as damage would.
    private func damage(_ replica: Replica, _ sql: String) throws {
        let queue = try DatabaseQueue(path: replica.path)
        try queue.write { db in
            for trigger in try String.fetchAll(db, sql: "SELECT name FROM sqlite_master WHERE type = 'trigger'") {
                try db.execute(sql: "DROP TRIGGER \(SQLText.quote(identifier: trigger))")
            }
            try db.execute(sql: sql)
        }
        try queue.close()
    }

    @Test("differences are found down to the column, over each transport", arguments: ReplicaPair.Way.allCases)
    func narrows(way: ReplicaPair.Way) async throws {
        var limits = Limits.standard
        limits.rowsPerDigest = 10
        limits.digestsPerReply = 8
        let pair = try ReplicaPair(way, limits: limits)
        try ReplicaPair.insert(pair.a, 1..<301)
        try pair.a.write {
            try $0.execute(sql: "INSERT INTO note VALUES ('x', 1, 'one'), ('x', 2, x'00FF'), ('y', 1, 2.5)")
        }
        try await pair.sync()
        #expect(try await pair.replicatorA.verify(pair.peerB).isEqual)

        try damage(
            pair.b,
            """
            UPDATE person SET name = 'changed', score = NULL WHERE id = 57;
            DELETE FROM person WHERE id IN (1, 150, 300);
            INSERT INTO person VALUES (0, 'new', 1, NULL), (1000, 'new', 1, NULL);
            UPDATE note SET body = 2 WHERE part = 2;
            """)
        let report = try await pair.replicatorA.verify(pair.peerB)
        #expect(!report.isEqual)
        let person = try #require(report.tables.first { $0.name == "person" })
        #expect(person.rows == 300)
        #expect(person.onlyHere == 3)
        #expect(person.onlyThere == 2)
        #expect(person.differing == 1)
        let changed = try #require(person.differences.first { $0.kind == .differs(["name", "score"]) })
        #expect(changed.key.map(\.value) == [.integer(57)])
        let note = try #require(report.tables.first { $0.name == "note" })
        #expect(note.differing == 1)
        #expect(note.differences.first?.key.map(\.value) == [.text("x"), .integer(2)])
    }

    @Test(
        "files of different text encodings compare equal, and a difference is one row, whoever asks",
        arguments: ["UTF-16le", "UTF-16be"])
    func encodings(encoding: String) async throws {
        var limits = Limits.standard
        limits.rowsPerDigest = 4
        limits.digestsPerReply = 3
        let pair = try ReplicaPair(
            .local, limits: limits, schemaB: "PRAGMA encoding = '\(encoding)'; \(ReplicaPair.schema)")
        // In each encoding, the bytes of these characters have another order.
        let letters = ["a", "\u{e9}", "\u{101}", "\u{4e2d}", "\u{ff21}", "\u{1f600}"]
        try pair.a.write { db in
            for number in 0..<120 {
                try db.execute(
                    sql: "INSERT INTO note VALUES (?, ?, ?)",
                    arguments: [letters[number % letters.count] + String(number * 37 % 120), number % 2, "text"])
            }
        }
        let report = try await pair.sync()
        #expect(report.pushedChanges == 120 && report.mismatches.isEmpty)
        let peerA = try PeerConfiguration(pair.a.path)
        for equal in [try await pair.replicatorA.verify(pair.peerB), try await pair.replicatorB.verify(peerA)] {
            #expect(equal.isEqual && equal.tables.contains { $0.name == "note" && $0.rows == 120 })
        }
        try damage(pair.b, "UPDATE note SET body = 'other' WHERE \"the key\" = '\u{4e2d}111'")
        for differs in [try await pair.replicatorA.verify(pair.peerB), try await pair.replicatorB.verify(peerA)] {
            let note = try #require(differs.tables.first { $0.name == "note" })
            #expect(note.differing == 1 && note.onlyHere == 0 && note.onlyThere == 0)
        }
    }

    @Test("the list of differences is bounded, the count is not")
    func bounded() async throws {
        var limits = Limits.standard
        limits.listedDifferences = 5
        limits.digestsPerReply = 16
        let pair = try ReplicaPair(.local, limits: limits)
        try damage(pair.a, "INSERT INTO person VALUES (1, 'x', 1, NULL)")
        try damage(
            pair.b,
            """
            WITH RECURSIVE n(i) AS (VALUES (2) UNION ALL SELECT i + 1 FROM n WHERE i < 100)
            INSERT INTO person SELECT i, 'y', 1, NULL FROM n
            """)
        let table = try #require(try await pair.replicatorA.verify(pair.peerB).tables.first { $0.name == "person" })
        #expect(table.onlyHere == 1)
        #expect(table.onlyThere == 99)
        #expect(table.differences.count == 5)
    }

    @Test("-0.0 counts as 0.0, the order of columns does not matter, and a column of one side only is reported")
    func columns() async throws {
        let pair = try ReplicaPair(
            .local, schemaB: "CREATE TABLE person (extra, score REAL, name TEXT, photo BLOB, id INTEGER PRIMARY KEY)")
        try damage(pair.a, "INSERT INTO person VALUES (1, 'x', 0.0, NULL)")
        try damage(pair.b, "INSERT INTO person (id, name, score) VALUES (1, 'x', -0.0)")
        let report = try await pair.replicatorA.verify(pair.peerB)
        let person = try #require(report.tables.first { $0.name == "person" })
        #expect(person.isEqual)
        #expect(person.unmatchedColumns == ["extra"])
        let note = try #require(report.tables.first { $0.name == "note" })
        #expect(note.problem != nil)
        #expect(!report.isEqual)
    }

    @Test("a table or column that is not tracked is never read for a peer")
    func onlyTracked() async throws {
        let pair = try ReplicaPair(.local)
        let asked = [
            TableShape(table: "_journal_replica", columns: ["id", "cluster"], keyCount: 1),
            TableShape(table: "sqlite_master", columns: ["name"], keyCount: 1),
            TableShape(table: "person", columns: ["id", "rowid"], keyCount: 1),
            TableShape(table: "person", columns: ["name", "id"], keyCount: 1),
            TableShape(table: "person\"; DROP TABLE person; --", columns: ["id"], keyCount: 1),
        ]
        for shape in asked {
            let request = DigestRequest(cluster: "main", question: .rows(shape: shape, after: nil, through: nil))
            do {
                _ = try await pair.replicatorB.endpoint.digest(request)
                Issue.record("\(shape.table) was read")
            } catch let error as SyncError {
                #expect(error.code == .notFound)
            }
        }
    }
}
