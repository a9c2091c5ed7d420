import GRDB
import Journal
import Synchronization
import TestSupport
import Testing

@testable import Sync

extension OthersFailTests {
    // MARK: - Metadata: more in Ledger/LedgerTests, JournalTests/ConflictStorageTests

    @Test(
        "metadata that only grows: a row that was never deleted has one journal row on each side, and no clock of its own"
    )
    func metadataPerRow() throws {
        let cluster = try Cluster(2, schema: Self.schema)
        try cluster.execute(
            0,
            "WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < 500) INSERT INTO person SELECT i, 'x', NULL FROM n"
        )
        try cluster.converge()
        for index in 0..<2 {
            let counts = try cluster[index].read { db in
                try ["_journal", "_journal_lives", "_journal_conflicts", "_journal_held", "_journal_inbox"].map {
                    try Int.fetchOne(db, sql: "SELECT count(*) FROM \($0)") ?? -1
                }
            }
            #expect(counts == [500, 0, 0, 0, 0])
        }
    }

    /// The journal itself is not compacted (README.md, "Limits"). The tables beside it must not grow with it.
    @Test(
        "metadata that only grows: rows clash, conflict, are deleted and return, and the tables beside the journal do not grow"
    )
    func metadataIsBounded() throws {
        var limits = Limits.standard
        limits.conflictRetention.entriesPerKey = 5
        let cluster = try Cluster(2, schema: Self.schema, limits: limits)
        func rounds(_ count: Int) throws {
            for _ in 0..<count {
                try cluster.execute(0, "INSERT INTO person VALUES(1, 'a', 'x@y'), (3, 'c', NULL)")
                try cluster.execute(1, "INSERT INTO person VALUES(2, 'b', 'x@y'), (3, 'd', NULL)")
                try cluster.converge()
                // One of the rows 1 and 2 is held, and returns when the other is deleted.
                for _ in 0..<2 {
                    try cluster.execute(0, "DELETE FROM person")
                    try cluster.converge()
                }
            }
        }
        func counts() throws -> [[Int]] {
            let tables = [
                "_journal_lives", "_journal_conflicts", "_journal_held", "_journal_inbox", "_journal_suspects",
                "_journal_tables", "_journal_origins",
            ]
            return try cluster.replicas.map { replica in
                try replica.read { db in
                    try tables.map { try Int.fetchOne(db, sql: "SELECT count(*) FROM \($0)") ?? -1 }
                }
            }
        }
        try rounds(6)
        let first = try counts()
        for index in 0..<2 { #expect(try cluster.content(index).isEmpty, "replica \(index)") }
        // Three keys were deleted. Both machines disagreed each time about one of them; the ledger keeps the
        // most entries that it may for that key.
        #expect(first.map { Array($0.prefix(5)) } == [[3, 5, 0, 0, 0], [3, 5, 0, 0, 0]])
        try rounds(6)
        #expect(try counts() == first)
    }

    @Test("metadata that only grows: exchanges without news add no row to any table, on either side")
    func idleExchangesAddNothing() async throws {
        let pair = try ReplicaPair(.local)
        try ReplicaPair.insert(pair.a, 1..<50)
        try ReplicaPair.insert(pair.b, 100..<120)
        try await pair.sync()
        try await pair.sync()
        let before = try [pair.a, pair.b].map { try Self.journalRows($0) }
        for _ in 0..<5 {
            let report = try await pair.sync()
            #expect(report.isLevel && report.pulledFrames == 0 && report.pushedChanges == 0)
        }
        #expect(try [pair.a, pair.b].map { try Self.journalRows($0) } == before)
    }

    /// The number of rows in each of Tandem's tables in a file.
    private static func journalRows(_ replica: Replica) throws -> [String: Int] {
        try replica.read { db in
            let names = try String.fetchAll(
                db, sql: "SELECT name FROM sqlite_master WHERE type = 'table' AND name GLOB '_journal*'")
            var rows: [String: Int] = [:]
            for name in names { rows[name] = try Int.fetchOne(db, sql: "SELECT count(*) FROM \(name)") ?? -1 }
            return rows
        }
    }

    @Test("compaction that revives rows: no delete is forgotten, and a late change revives no row on any route")
    func lateChangeRevivesNothing() throws {
        let cluster = try Cluster(4, schema: Self.schema)
        try cluster.execute(0, "INSERT INTO person VALUES(1, 'a', NULL)")
        try cluster.converge()
        try cluster.execute(3, "UPDATE person SET name = 'late', mail = 'x@y' WHERE id = 1")
        try cluster.execute(0, "DELETE FROM person")
        try cluster.pull(1, from: 0)
        try cluster.pull(2, from: 3)
        try cluster.pull(1, from: 2)
        #expect(try cluster.content(1).isEmpty)
        try cluster.converge()
        for index in 0..<4 { #expect(try cluster.content(index).isEmpty) }
    }

    // MARK: - First copies and large transactions: more in LargeTransactionTests, ManyRowsTests

    @Test("a slow first copy: each row travels once, thousands in a batch, and none is requested by itself")
    func firstCopy() throws {
        let cluster = try Cluster(2, schema: Self.schema)
        try cluster.execute(
            0,
            "WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < 9000) INSERT INTO person SELECT i, 'x', i FROM n"
        )
        let batches = try cluster.batches(from: 0, to: 1)
        #expect(batches.count <= 2)
        var report = ReceiveReport()
        for batch in batches { report = report + (try cluster.inboxes[1].receive(batch)) }
        #expect(report.applied == 9_000 && report.duplicates == 0)
        #expect(try cluster.batches(from: 0, to: 1).isEmpty)
    }

    @Test("a slow first copy: thousands of rows take a few requests and a few bytes each")
    func firstCopyRequests() async throws {
        let pair = try ReplicaPair(.local)
        try pair.b.write { db in
            try db.execute(
                sql: """
                    WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < 9000)
                    INSERT INTO person SELECT i, 'somebody ' || i, NULL, NULL FROM n
                    """)
        }
        let transport = CountingTransport(LocalTransport(pair.replicatorB.endpoint, name: "B"))
        let report = try await SyncSession(
            replica: pair.a, inbox: pair.replicatorA.inbox, transport: transport, limits: pair.limits,
            clock: SystemClock()
        ).exchange()
        #expect(report.isLevel && report.pulledChanges == 9_000 && report.duplicateChanges == 0)
        #expect(report.pulledFrames == 2)
        // A hello, a pull, and the comparison of two tables.
        #expect(transport.requests <= 6)
        // Far less than one message for each change would take: changes travel as columns (docs/PROTOCOL.md).
        #expect(report.pulledBytes < 9_000 * 40)
        #expect(try pair.count(pair.a) == 9_000)
    }

    @Test(
        "a large transaction torn in pieces: here nothing of it is visible before its end arrives, and then all of it")
    func largeTransactionIsWhole() throws {
        var limits = Limits.standard
        limits.changesPerBatch = 10
        let cluster = try Cluster(2, schema: Self.schema, limits: limits)
        try cluster.execute(
            0,
            """
            WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < 30)
            INSERT INTO person SELECT i, 'x', NULL FROM n;
            INSERT INTO note SELECT id, id, 'x' FROM person WHERE id <= 5
            """)
        let batches = try cluster.batches(from: 0, to: 1)
        #expect(batches.map(\.changes.count) == [10, 10, 10, 5])
        for batch in batches.dropLast() {
            #expect(try cluster.inboxes[1].receive(batch).applied == 0)
            #expect(try cluster.content(1).isEmpty)
        }
        let last = try #require(batches.last)
        #expect(try cluster.inboxes[1].receive(last).applied == 35)
        #expect(try cluster.content(1) == cluster.content(0))
    }

    // MARK: - Files: more in Identity

    @Test(
        "a restored file that silently loses writes (Turso #8129): here what a peer had returns, and new writes are accepted"
    )
    func restoredFileLosesNothing() async throws {
        let fleet = try Fleet(2)
        let kept = try fleet.write(0)
        try await fleet.sync(0, 1)
        try fleet[0].backUp(to: fleet.directory.file("backup"))
        let lost = try fleet.write(0)
        try await fleet.sync(0, 1)
        try fleet[0].restore(fleet.directory.file("backup"), .newFile)
        #expect(try !fleet[0].ids().contains(lost))
        // Without a new identity it would get the version of the lost note.
        let new = try fleet.write(0)
        try await fleet.converge()
        try fleet.expectEverywhere([kept, lost, new])
    }

    @Test(
        "a copied file that silently loses writes (Turso #8129): here both continue, and each gets the other's writes")
    func copiedFileLosesNothing() async throws {
        let fleet = try Fleet(2)
        let kept = try fleet.write(0)
        try await fleet.sync(0, 1)
        try fleet[0].backUp(to: fleet.path(2))
        try fleet.add(fleet.path(2), schema: nil)
        // Without a new identity both would be the next version of one origin.
        let new = try [fleet.write(0), fleet.write(2)]
        try await fleet.converge()
        try fleet.expectEverywhere(new + [kept])
    }

    // MARK: - Writes of others, errors, state: more in JournalTests/WritePathTests, SyncdTests

    @Test(
        "writes outside the library that are lost or fail (cr-sqlite #423, libSQL): here those of a plain connection arrive"
    )
    func plainConnectionsWrite() throws {
        let cluster = try Cluster(2, schema: Self.schema)
        let plain = try RawConnection(path: cluster[0].path)
        try plain.run("INSERT INTO person VALUES(1, 'a', 'x@y'), (2, 'b', 'b@y')")
        // REPLACE evicts row 1 and fires no trigger for it: recursive triggers are off by default.
        try plain.run("REPLACE INTO person VALUES(3, 'c', 'x@y')")
        try plain.run("UPDATE person SET id = 9 WHERE id = 2")
        try cluster.converge()
        #expect(try cluster.content(1) == cluster.content(0))
        #expect(try cluster[1].read { try Int64.fetchAll($0, sql: "SELECT id FROM person ORDER BY id") } == [3, 9])
        #expect(try cluster.integrity(1).isEmpty)
    }

    @Test("errors that nobody can read: a refused batch says what is wrong and what to do")
    func errorsSayWhatToDo() throws {
        let cluster = try Cluster(2, schema: Self.schema)
        try cluster.execute(0, "INSERT INTO person VALUES(1, 'a', NULL), (2, 'b', NULL)")
        var batch = try #require(try cluster.batches(from: 0, to: 1).first)
        batch.runs[0].firstVersion = 10
        let error = #expect(throws: SyncError.self) { _ = try cluster.inboxes[1].receive(batch) }
        let words = try #require(error.map { "\($0)" })
        #expect(words.contains("version 10") && words.contains("1 comes next"))
        #expect(error?.hint?.isEmpty == false)
    }

    @Test("state that nobody can see: SQL can read what lost and what is held back, with the reason")
    func stateIsVisible() throws {
        let cluster = try Cluster(2, schema: Self.schema)
        try cluster.execute(0, "INSERT INTO person VALUES(1, 'a', NULL), (2, 'c', 'x@y')")
        try cluster.execute(1, "INSERT INTO person VALUES(1, 'b', NULL), (3, 'd', 'x@y')")
        try cluster.converge()
        for index in 0..<2 {
            let entries = try cluster[index].read { try ConflictEntry.all($0) }
            #expect(entries.map(\.kind.rawValue) == ["insert/insert"])
            let reasons = try cluster[index].read { try String.fetchAll($0, sql: "SELECT reason FROM _journal_held") }
            #expect(reasons == ["unique"])
        }
    }
}

/// Counts the requests to a peer.
private final class CountingTransport: Transport {
    private let base: LocalTransport
    private let count = Mutex(0)

    init(_ base: LocalTransport) { self.base = base }

    var name: String { base.name }
    var requests: Int { count.withLock { $0 } }

    private func add() { count.withLock { $0 += 1 } }

    func hello(_ hello: Hello) async throws -> Hello {
        add()
        return try await base.hello(hello)
    }

    func pull(_ request: PullRequest, onFrame: @Sendable (Frame) async throws -> Void) async throws -> PullEnd {
        add()
        return try await base.pull(request, onFrame: onFrame)
    }

    func push(_ frames: [Frame]) async throws -> PushReply {
        add()
        return try await base.push(frames)
    }

    func digest(_ request: DigestRequest) async throws -> DigestReply {
        add()
        return try await base.digest(request)
    }
}
