import Foundation
import GRDB
import Journal
import Testing

@testable import Sync

/// The cases of "The ledger" in docs/CONFLICTS.md.
@Suite("The ledger")
struct LedgerTests {
    static let schema = "CREATE TABLE artist(id INTEGER PRIMARY KEY, name TEXT, born INTEGER, code TEXT UNIQUE)"
    private static let later = 4_000_000_000.0

    private func cluster(_ count: Int = 2, limits: Limits = .standard) throws -> Cluster {
        let cluster = try Cluster(count, schema: Self.schema, limits: limits)
        try cluster.execute(0, "INSERT INTO artist VALUES(1, 'a', 1900, NULL)")
        try cluster.converge()
        return cluster
    }

    private func entries(_ cluster: Cluster, _ index: Int, _ filter: ConflictFilter = ConflictFilter()) throws
        -> [ConflictEntry]
    {
        try cluster[index].read { try ConflictLedger($0).entries(filter) }
    }

    private func only(_ cluster: Cluster, _ index: Int) throws -> ConflictEntry {
        let all = try entries(cluster, index)
        try #require(all.count == 1)
        return all[0]
    }

    private func rows(_ cluster: Cluster, _ index: Int) throws -> [String] {
        try cluster[index].read {
            try String.fetchAll(
                $0, sql: "SELECT id || ' ' || name || ' ' || born || coalesce(' ' || code, '') FROM artist ORDER BY id")
        }
    }

    // MARK: - Kinds

    @Test(
        "a change that lost against a key change is recorded so on every replica, through a relay and in batches of one",
        arguments: [1, 8_192])
    func keyChange(changesPerBatch: Int) throws {
        var limits = Limits.standard
        limits.changesPerBatch = changesPerBatch
        let cluster = try cluster(3, limits: limits)
        try cluster.execute(0, "UPDATE artist SET id = 2")
        try cluster.execute(1, "UPDATE artist SET name = 'late'")
        // Replica 2 gets everything from replica 1.
        try cluster.pull(1, from: 0)
        try cluster.pull(2, from: 1)
        try cluster.converge()
        for index in 0..<3 {
            let conflict = try only(cluster, index)
            #expect(conflict.kind == .keyChange)
            #expect(conflict.movedTo?.map(\.value) == [.integer(2)])
            #expect(conflict.lost.map(\.column) == ["name"])
            #expect(conflict.keptOperation == .delete && conflict.lostOperation == .update)
        }
    }

    @Test("a delete and an insert of another key in one transaction are no key change")
    func deleteAndInsert() throws {
        let cluster = try cluster()
        try cluster.execute(0, "DELETE FROM artist; INSERT INTO artist VALUES(2, 'a', 1900, NULL)")
        try cluster.execute(1, "UPDATE artist SET name = 'late'")
        try cluster.converge()
        #expect(try only(cluster, 0).kind == .updateDelete)
        #expect(try only(cluster, 1).movedTo == nil)
    }

    @Test("two machines that give one row two different keys end with both rows, and nothing is lost")
    func twoKeyChanges() throws {
        let cluster = try cluster(3)
        try cluster.execute(0, "UPDATE artist SET id = 2")
        try cluster.execute(1, "UPDATE artist SET id = 3, name = 'b'")
        try cluster.pull(2, from: 1)
        try cluster.converge()
        for index in 0..<3 {
            #expect(try rows(cluster, index) == ["2 a 1900", "3 b 1900"], "replica \(index)")
            #expect(try entries(cluster, index).isEmpty, "replica \(index)")
        }
    }

    @Test("filters by table, key, kind, origin, time and state")
    func filters() throws {
        let cluster = try cluster()
        try cluster.execute(0, "UPDATE artist SET name = 'x'; INSERT INTO artist VALUES(7, 'x', 1, NULL)")
        try cluster.execute(1, "UPDATE artist SET name = 'y'; INSERT INTO artist VALUES(7, 'y', 2, NULL)")
        try cluster.converge()
        func count(_ filter: ConflictFilter) throws -> Int { try entries(cluster, 0, filter).count }
        #expect(try count(ConflictFilter()) == 2)
        #expect(try count(ConflictFilter(table: "ARTIST", key: [.real(7)])) == 1)
        #expect(try count(ConflictFilter(table: "nothing")) == 0)
        #expect(try count(ConflictFilter(kind: .insertInsert)) == 1)
        #expect(try count(ConflictFilter(kind: .keyChange)) == 0)
        #expect(try count(ConflictFilter(origin: OriginID(high: 1, low: 1))) == 2)
        #expect(try count(ConflictFilter(origin: OriginID(high: 9, low: 9))) == 0)
        #expect(try count(ConflictFilter(since: Self.later + 1)) == 0)
        #expect(try count(ConflictFilter(states: [.dismissed])) == 0)
    }

    // MARK: - Restore

    @Test("a restored update is written back, wins everywhere, and is closed here only")
    func restoreUpdate() throws {
        let cluster = try cluster()
        try cluster.execute(0, "UPDATE artist SET name = 'first', born = 1")
        try cluster.execute(1, "UPDATE artist SET name = 'second'")
        try cluster.converge()
        let id = try only(cluster, 1).id
        let restored = try cluster[1].restoreConflicts([id], time: 7)
        #expect(restored.map(\.state) == [.restored] && restored[0].closedTime == 7)
        try cluster.converge()
        for index in 0..<2 { #expect(try rows(cluster, index) == ["1 first 1"]) }
        #expect(try entries(cluster, 1).isEmpty)
        #expect(try only(cluster, 0).state == .open)
        // The row's writer had seen both, so there is nothing to decide.
        #expect(try entries(cluster, 0, ConflictFilter(states: Set(ConflictEntry.State.allCases))).count == 1)
    }

    @Test("a restored update of a deleted row brings the row back as its writer had it")
    func restoreDeleted() throws {
        let cluster = try cluster(3)
        try cluster.execute(2, "UPDATE artist SET born = 1950, code = 'c'")
        try cluster.pull(1, from: 2)
        try cluster.execute(1, "UPDATE artist SET name = 'late'")
        try cluster.execute(0, "DELETE FROM artist")
        try cluster.converge()
        #expect(try rows(cluster, 0).isEmpty)
        let lost = try #require(try entries(cluster, 0).first { $0.lostOrigin == OriginID(high: 2, low: 1) })
        _ = try cluster[0].restoreConflicts([lost.id], time: 0)
        try cluster.converge()
        for index in 0..<3 { #expect(try rows(cluster, index) == ["1 late 1950 c"]) }
    }

    @Test("a restored update of a row that was deleted and inserted again sets the lost values in the new row")
    func restoreIntoNewLife() throws {
        let cluster = try cluster()
        try cluster.execute(0, "DELETE FROM artist; INSERT INTO artist VALUES(1, 'new', 2000, NULL)")
        try cluster.execute(1, "UPDATE artist SET born = 1")
        try cluster.converge()
        _ = try cluster[0].restoreConflicts([only(cluster, 0).id], time: 0)
        try cluster.converge()
        #expect(try rows(cluster, 1) == ["1 new 1"])
    }

    @Test("a restored insert writes the loser's values over the winner's")
    func restoreInsert() throws {
        let cluster = try cluster()
        try cluster.execute(0, "INSERT INTO artist VALUES(5, 'mine', 1, NULL)")
        try cluster.execute(1, "INSERT INTO artist VALUES(5, 'yours', 1, 'k')")
        try cluster.converge()
        let conflict = try only(cluster, 0)
        #expect(conflict.kind == .insertInsert && conflict.lost.map(\.column) == ["name", "code"])
        _ = try cluster[0].restoreConflicts([conflict.id], time: 0)
        try cluster.converge()
        #expect(try rows(cluster, 1) == ["1 a 1900", "5 mine 1"])
    }

    @Test("a change that lost against a key change is restored in the row under its new key")
    func restoreMoved() throws {
        let cluster = try cluster()
        try cluster.execute(0, "UPDATE artist SET id = 2")
        try cluster.execute(1, "UPDATE artist SET name = 'late'")
        try cluster.converge()
        _ = try cluster[1].restoreConflicts([only(cluster, 1).id], time: 0)
        try cluster.converge()
        for index in 0..<2 { #expect(try rows(cluster, index) == ["2 late 1900"]) }
    }

    @Test(
        "a row is restored together with the row that it refers to, in any order of their numbers",
        arguments: [false, true])
    func restoreTogether(namesChildFirst: Bool) throws {
        let cluster = try Cluster(
            2,
            schema: """
                CREATE TABLE artist(id INTEGER PRIMARY KEY, name TEXT);
                CREATE TABLE album(id INTEGER PRIMARY KEY, artist INTEGER NOT NULL REFERENCES artist(id), title TEXT);
                """)
        try cluster.execute(0, "INSERT INTO artist VALUES(1, 'a'); INSERT INTO album VALUES(7, 1, 'x')")
        try cluster.converge()
        try cluster.execute(0, "DELETE FROM album; DELETE FROM artist")
        try cluster.execute(1, "UPDATE artist SET name = 'b'; UPDATE album SET title = 'y'")
        try cluster.converge()
        let lost = try entries(cluster, 0)
        let artist = try #require(lost.first { $0.table == "artist" }).id
        let album = try #require(lost.first { $0.table == "album" }).id
        #expect(try refusal(cluster, [album])?.code == .refused)
        let restored = try cluster[0].restoreConflicts(namesChildFirst ? [album, artist] : [artist, album], time: 0)
        #expect(restored.map(\.state) == [.restored, .restored])
        try cluster.converge()
        for index in 0..<2 {
            #expect(
                try cluster.content(index) == [
                    "album: integer:7 | integer:1 | text:'y'", "artist: integer:1 | text:'b'",
                ], "replica \(index)")
        }
    }

    // MARK: - Refusals

    private func refusal(_ cluster: Cluster, _ ids: [Int64]) throws -> JournalError? {
        let before = (try cluster.content(0), try ledger(cluster))
        let error = #expect(throws: JournalError.self) { try cluster[0].restoreConflicts(ids, time: 0) }
        #expect(try cluster.content(0) == before.0)
        #expect(try ledger(cluster) == before.1)
        return error
    }

    private func ledger(_ cluster: Cluster) throws -> [String] {
        try cluster[0].read {
            try String.fetchAll(
                $0, sql: "SELECT id || ' ' || state || ' ' || columns FROM _journal_conflicts ORDER BY id")
        }
    }

    @Test("a number that is not in the ledger is an error")
    func unknown() throws {
        let cluster = try cluster()
        #expect(try refusal(cluster, [12])?.code == .unknownConflict)
        #expect(throws: JournalError.self) { try cluster[0].dismissConflicts([12], time: 0) }
    }

    @Test("a restore is refused when the column or the table is missing, and changes nothing")
    func schemaChanged() throws {
        let cluster = try cluster()
        try cluster.execute(0, "UPDATE artist SET name = 'x'")
        try cluster.execute(1, "UPDATE artist SET name = 'y'")
        try cluster.converge()
        let id = try only(cluster, 0).id
        try cluster.execute(0, "ALTER TABLE artist RENAME COLUMN name TO title")
        #expect(try refusal(cluster, [id])?.code == .unknownColumn)
        try cluster.execute(0, "DROP TABLE artist")
        #expect(try refusal(cluster, [id])?.code == .unknownTable)
        #expect(try cluster[0].dismissConflicts([id], time: 0).map(\.state) == [.dismissed])
    }

    @Test("a restore that a constraint refuses changes nothing, and neither do the others of the same command")
    func constraint() throws {
        let cluster = try cluster()
        try cluster.execute(0, "UPDATE artist SET code = 'taken', born = 1")
        try cluster.execute(1, "UPDATE artist SET code = 'free', born = 2")
        try cluster.converge()
        let lostCode = try only(cluster, 0).id
        try cluster.execute(0, "INSERT INTO artist VALUES(2, 'b', 1, 'taken')")
        try cluster.execute(1, "UPDATE artist SET name = 'z' WHERE id = 1")
        try cluster.execute(0, "UPDATE artist SET name = 'w' WHERE id = 1")
        try cluster.converge()
        let ids = try entries(cluster, 0).map(\.id)
        #expect(ids.count == 2)
        let error = try refusal(cluster, ids.reversed())
        #expect(error?.code == .refused && error?.message.contains("\(lostCode)") == true)
    }

    // MARK: - Dismissed and dropped

    @Test("a dismissed entry stays dismissed when its batches arrive again, and opens again when more of it is lost")
    func dismissed() throws {
        let cluster = try cluster(3)
        try cluster.execute(0, "UPDATE artist SET name = 'n0', born = 0")
        try cluster.execute(1, "UPDATE artist SET name = 'n1'")
        try cluster.execute(2, "UPDATE artist SET name = 'n2'")
        let first = try cluster.batches(from: 1, to: 0)
        for batch in first { _ = try cluster.inboxes[0].receive(batch) }
        let id = try only(cluster, 0).id
        _ = try cluster[0].dismissConflicts([id], time: 0)
        for batch in first { _ = try cluster.inboxes[0].receive(batch) }
        // Another winner of the same columns does not change this loss.
        try cluster.pull(0, from: 2)
        #expect(try !entries(cluster, 0).contains { $0.id == id })
        // A concurrent winner of another column does.
        try cluster.execute(1, "UPDATE artist SET born = 9")
        try cluster.pull(0, from: 1)
        let again = try #require(try entries(cluster, 0).first { $0.id == id })
        #expect(again.lost.map(\.column) == ["name", "born"] && again.closedTime == nil)
    }

    @Test("the ledger keeps the latest losers of a row, the same ones on every replica, and counts what it drops")
    func cap() throws {
        var limits = Limits.standard
        limits.conflictRetention.entriesPerKey = 3
        let cluster = try cluster(3, limits: limits)
        for index in 0..<5 { try cluster.execute(0, "UPDATE artist SET name = 'n\(index)'") }
        // More writes than the five, so that the last is later than those also within one millisecond.
        for id in 10..<20 { try cluster.execute(1, "INSERT INTO artist VALUES(\(id), 'other', 1, NULL)") }
        try cluster.execute(1, "UPDATE artist SET name = 'winner' WHERE id = 1")
        try cluster.converge()
        for index in 0..<3 {
            let names = try entries(cluster, index).flatMap { $0.lost.map(\.value) }
            #expect(names == ["n2", "n3", "n4"].map { Value.text($0) })
            #expect(try cluster.ledger(index) == cluster.ledger(0))
            #expect(try cluster[index].read { try ConflictLedger.dropped($0).byCap } == 2)
        }
    }

    @Test("old entries are dropped in any state, and their numbers are not used again")
    func age() throws {
        let cluster = try cluster()
        func conflict() throws {
            try cluster.execute(0, "UPDATE artist SET born = born + 1")
            try cluster.execute(1, "UPDATE artist SET born = born + 2")
            try cluster.converge()
        }
        try conflict()
        let id = try only(cluster, 0).id
        let day = Int64(86_400_000)
        func inbox(after days: Int64) throws -> Inbox {
            try Inbox(replica: cluster[0]) { Stamp(milliseconds: Cluster.now.milliseconds + days * day) }
        }
        #expect(try inbox(after: 89).dropOldConflicts() == 0)
        #expect(try inbox(after: 91).dropOldConflicts() == 1)
        #expect(try inbox(after: 91).dropOldConflicts() == 0)
        #expect(try cluster[0].read { try ConflictLedger.dropped($0).byAge } == 1)
        try conflict()
        #expect(try only(cluster, 0).id > id)
    }
}
