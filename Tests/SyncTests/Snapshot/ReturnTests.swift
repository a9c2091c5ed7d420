import Foundation
import GRDB
import Journal
import Synchronization
import TestSupport
import Testing

@testable import Sync

/// Property: what a returning replica wrote unseen is visible on every replica, or in the ledger of every
/// replica; nothing else changes.
@Suite("A replica that was away beyond the horizon comes back without loss")
struct ReturnTests {
    private static let schema = """
        CREATE TABLE item(id TEXT PRIMARY KEY NOT NULL, name TEXT, price INTEGER, stock INTEGER);
        CREATE TABLE user(id INTEGER PRIMARY KEY, name TEXT);
        CREATE TABLE note(id INTEGER PRIMARY KEY, user_id INTEGER REFERENCES user(id), body TEXT);
        CREATE TABLE scratch(x);
        """

    private static let rows = """
        INSERT INTO item VALUES ('a', 'A', 1, 10), ('b', 'B', 2, 20), ('c', 'C', 3, 30), ('d', 'D', 4, 40);
        INSERT INTO user VALUES (1, 'root');
        """

    private static let twice =
        "UPDATE item SET price = 5 WHERE id = 'a'; UPDATE item SET price = 6 WHERE id = 'a'"

    private let cluster: Cluster
    private let clock = ManualClock()

    /// Replicas 0 and 1 know the same; then 1 goes away.
    init() throws {
        cluster = try Cluster(2, schema: Self.schema)
        try cluster.executeLater(0, Self.rows)
        try cluster.converge()
    }

    /// Replica 0 removes what later changes have overwritten, as after the lease of replica 1.
    private func compact(_ cluster: Cluster? = nil) throws {
        let cluster = cluster ?? self.cluster
        try cluster.executeLater(0, "INSERT INTO item (id) VALUES ('gone')")
        try cluster.executeLater(0, "DELETE FROM item WHERE id = 'gone'")
        try cluster.executeLater(0, "UPDATE user SET name = 'admin' WHERE id = 1")
        #expect(try cluster.members[0].compact() > 0)
    }

    private func comeBack(of cluster: Cluster? = nil) async throws -> Return.Report {
        let cluster = cluster ?? self.cluster
        let peer = cluster.members[0]
        let endpoint = Endpoint(
            replica: peer.replica, inbox: peer.inbox, limits: .standard, clock: StandingClock(),
            changes: { AsyncStream { _ in } })
        var back = Return(cluster.inboxes[1], from: LocalTransport(endpoint, name: "peer"))
        back.clock = clock
        return try await back.run()
    }

    private func expectLevel(sourceLocation: SourceLocation = #_sourceLocation) throws {
        try cluster.converge()
        for place in 0...1 {
            let content = try cluster.content(place).filter { !$0.hasPrefix("scratch") }
            let first = try cluster.content(0).filter { !$0.hasPrefix("scratch") }
            #expect(content == first, "replica \(place)", sourceLocation: sourceLocation)
            #expect(try cluster.ledger(place) == cluster.ledger(0), sourceLocation: sourceLocation)
            #expect(try cluster.integrity(place) == [], sourceLocation: sourceLocation)
        }
    }

    @Test("the content of a peer that has no changes does not take the place of any")
    func emptyPeer() async throws {
        let cluster = try Cluster(2, schema: Self.schema)
        try cluster.executeLater(0, Self.rows)
        let before = try cluster.content(0)
        let shelf = SnapshotShelf(cluster[1], limits: .standard)
        await #expect(throws: SyncError.self) { try await Return(cluster.inboxes[0], from: shelf).run() }
        #expect(try cluster.content(0) == before)
    }

    @Test("without a return, the two cannot exchange changes")
    func behind() throws {
        try cluster.executeLater(0, Self.twice)
        try compact()
        try cluster.executeLater(1, "UPDATE item SET price = 9 WHERE id = 'b'")
        #expect(try cluster.pull(0, from: 1).isDeferred)
    }

    @Test("what only it changed is on both, what both changed is in the ledger, and local tables stay")
    func changes() async throws {
        try cluster.executeLater(
            1, "INSERT INTO scratch VALUES ('mine'); UPDATE item SET price = 9, stock = 11 WHERE id = 'a'")
        try cluster.executeLater(1, "INSERT INTO item VALUES ('new', 'N', 0, 0); DELETE FROM item WHERE id = 'd'")
        try cluster.executeLater(
            0, "UPDATE item SET stock = 12 WHERE id = 'a'; UPDATE item SET name = 'X' WHERE id = 'b'")
        try cluster.executeLater(0, "UPDATE item SET stock = 13 WHERE id = 'a'; DELETE FROM item WHERE id = 'c'")
        try compact()
        let old = try cluster.members[1].origin
        let report = try await comeBack()
        #expect(report.identity.old == old)
        #expect(report.unseen == 3)
        #expect(report.contested == 1)
        #expect(try cluster.members[1].origin == report.identity.new)
        try expectLevel()
        #expect(
            try cluster.text(0, "SELECT id || name || price || ' ' || stock FROM item ORDER BY id")
                == ["aA9 13", "bX2 20", "newN0 0"])
        #expect(try cluster.text(1, "SELECT x FROM scratch") == ["mine"])
        #expect(try cluster.text(0, "SELECT x FROM scratch") == [])
        let entry = try #require(try cluster[0].read { try ConflictEntry.all($0) }.first)
        #expect(entry.lost.map(\.value) == [.integer(11)])
        #expect(try cluster.text(1, "SELECT count(*) || '' FROM _journal_conflicts") == ["1"])
        // The file goes on as before.
        try cluster.executeLater(1, "UPDATE item SET price = 77 WHERE id = 'a'")
        try cluster.executeLater(0, "UPDATE item SET name = 'AA' WHERE id = 'a'")
        try expectLevel()
        #expect(try cluster.text(0, "SELECT name || price FROM item WHERE id = 'a'") == ["AA77"])
        #expect(try cluster.ledger(0).count == 1)
        // The file as it was.
        #expect(
            try Replica.reading(report.kept).read { try String.fetchAll($0, sql: "SELECT id FROM item ORDER BY id") }
                == ["a", "b", "c", "new"])
    }

    @Test("the positions that a return skips do not count as entries, so compaction goes on")
    func entries() async throws {
        try cluster.executeLater(0, Self.twice)
        try cluster.executeLater(1, "UPDATE item SET price = 9 WHERE id = 'b'")
        try compact()
        _ = try await comeBack()
        let (counted, said) = try cluster[1].read { db in
            (
                try Int64.fetchOne(db, sql: "SELECT count(*) FROM _journal"),
                try JournalReader.lastSeq(db) - Horizon(db).removed
            )
        }
        #expect(said == counted)
    }

    @Test(
        "the former name holds compaction back only where a third replica may have what others have not seen",
        arguments: [false, true])
    func formerName(isUnseen: Bool) async throws {
        let (peer, member) = (cluster.members[0], cluster.members[1])
        try cluster.executeLater(1, "UPDATE item SET price = 9 WHERE id = 'b'")
        try cluster.converge()
        try peer.hear(member)
        let former = try member.origin
        try cluster.executeLater(0, Self.twice)
        #expect(try peer.compact(upTo: peer.vector) > 0)
        if isUnseen { try cluster.executeLater(1, "UPDATE item SET price = 10 WHERE id = 'b'") }
        #expect(try await comeBack().unseen == (isUnseen ? 1 : 0))
        try cluster.converge()
        try peer.hear(member)
        let horizon = try peer.inbox.stableHorizon(lease: .max)
        #expect(horizon.holders.map(\.origin) == (isUnseen ? [former] : []))
        let own = try member.inbox.stableHorizon(lease: .max)
        #expect(own.members.contains { $0.origin == former } == isUnseen)
    }

    @Test("the former name of one that had heard of what others have not is not kept alive")
    func formerNameOfAListener() async throws {
        let (peer, member) = (cluster.members[0], cluster.members[1])
        let third = try ReplicaFixture(cluster.directory.file("third.sqlite"), schema: Self.schema)
        try third.execute("INSERT INTO item (id) VALUES ('t')")
        try cluster.executeLater(1, "UPDATE item SET price = 9 WHERE id = 'b'")
        try cluster.converge()
        try member.pull(from: third)
        try peer.hear(member)
        let former = try member.origin
        try cluster.executeLater(0, Self.twice)
        #expect(try peer.compact(upTo: peer.vector) > 0)
        #expect(try await comeBack().unseen > 0)
        try cluster.converge()
        #expect(try !member.replica.read { try member.inbox.acknowledgements.all($0) }.map(\.origin).contains(former))
        try third.close()
    }

    @Test("what the peer lacks stays after a return until the peer has it, also when that one has never written")
    func readerCounts() async throws {
        let cluster = try Cluster(2, schema: Self.schema)
        try cluster.executeLater(1, Self.rows)
        try cluster.converge()
        let (reader, member) = (cluster.members[0], cluster.members[1])
        var back = Return(member.inbox, from: SnapshotShelf(reader.replica, limits: .standard))
        back.clock = clock
        _ = try await back.run()
        try cluster.executeLater(1, Self.twice)
        try cluster.executeLater(1, "UPDATE item SET price = 7 WHERE id = 'a'")
        #expect(try member.compactWhatIsStable() == 0)
        try cluster.converge()
        try member.hear(reader)
        #expect(try member.compactWhatIsStable() > 0)
    }

    @Test("the peers that a replica knew before a return count after it")
    func formerPeersCount() async throws {
        let member = cluster.members[1]
        let third = OriginID(high: 77, low: 7)
        var status = PeerStatus(name: "http://third")
        status.origin = third
        status.lastContactMilliseconds = ReplicaFixture.now.milliseconds
        try member.inbox.peers.record(status)
        _ = try await comeBack()
        let members = try member.inbox.stableHorizon().members
        #expect(Set(members.map(\.origin)) == [try cluster.members[0].origin, third])
        #expect(members.allSatisfy { $0.standing == .silent })
    }

    @Test("none of the names that a replica had before it came back twice holds compaction back")
    func formerNames() async throws {
        let (peer, member) = (cluster.members[0], cluster.members[1])
        for round in 1...2 {
            try cluster.executeLater(1, "UPDATE item SET price = 9 + \(round) WHERE id = 'b'")
            try cluster.executeLater(0, "UPDATE item SET stock = 9 + \(round) WHERE id = 'c'")
            try cluster.converge()
            try peer.hear(member)
            try cluster.executeLater(0, Self.twice)
            #expect(try peer.compact(upTo: peer.vector) > 0)
            _ = try await comeBack()
        }
        try cluster.converge()
        try peer.hear(member)
        let horizon = try peer.inbox.stableHorizon(lease: .max)
        #expect(horizon.members.count == 3 && horizon.holders.isEmpty)
    }

    @Test("the later of two changes of a column wins, wherever it was made")
    func laterWins() async throws {
        try cluster.executeLater(0, Self.twice)
        try cluster.executeLater(1, "UPDATE item SET price = 9 WHERE id = 'a'")
        try compact()
        #expect(try await comeBack().contested == 1)
        try expectLevel()
        #expect(try cluster.text(0, "SELECT price || '' FROM item WHERE id = 'a'") == ["9"])
        let entry = try #require(try cluster[0].read { try ConflictEntry.all($0) }.first)
        #expect(entry.lost.map(\.value) == [.integer(6)])
    }

    @Test("a row that the others deleted stays deleted, and what was written to it is in the ledger")
    func deletedThere() async throws {
        try cluster.executeLater(0, "DELETE FROM item WHERE id = 'a'; DELETE FROM item WHERE id = 'b'")
        try cluster.executeLater(1, "UPDATE item SET price = 9 WHERE id = 'a'")
        try cluster.executeLater(1, "DELETE FROM item WHERE id = 'b'; INSERT INTO item VALUES ('b', 'again', 1, 1)")
        try compact()
        _ = try await comeBack()
        try expectLevel()
        #expect(try cluster.text(0, "SELECT id || name FROM item ORDER BY id") == ["bagain", "cC", "dD"])
        let entry = try #require(try cluster[0].read { try ConflictEntry.all($0) }.first)
        #expect(entry.kind == .updateDelete)
        let restored = try cluster[0].write { try ConflictLedger($0).restore([entry.id], time: 0) }
        #expect(restored.count == 1)
        #expect(try cluster.text(0, "SELECT price || '' FROM item WHERE id = 'a'") == ["9"])
    }

    @Test("a row that it deleted is deleted, and what the others changed in it is in the ledger")
    func deletedHere() async throws {
        try cluster.executeLater(0, Self.twice)
        try cluster.executeLater(1, "DELETE FROM item WHERE id = 'a'")
        try compact()
        _ = try await comeBack()
        try expectLevel()
        #expect(try cluster.text(0, "SELECT id FROM item ORDER BY id") == ["b", "c", "d"])
        #expect(try cluster[0].read { try ConflictEntry.all($0) }.map(\.kind) == [.updateDelete])
    }

    @Test("rows for which SQLite chose the same key on both are two rows, with what refers to them")
    func minted() async throws {
        try cluster.executeLater(0, "INSERT INTO user(name) VALUES ('Ann'); UPDATE item SET price = 5 WHERE id = 'a'")
        try cluster.executeLater(0, "INSERT INTO note(user_id, body) VALUES (2, 'of Ann')")
        try cluster.executeLater(1, "INSERT INTO user(name) VALUES ('Bob')")
        try cluster.executeLater(1, "INSERT INTO note(user_id, body) VALUES (2, 'of Bob'), (1, 'of root')")
        try compact()
        let report = try await comeBack()
        #expect(report.rekeyed == 2)
        try expectLevel()
        #expect(
            try cluster.text(0, "SELECT name || ' ' || body FROM note JOIN user ON user.id = user_id ORDER BY body")
                == ["Ann of Ann", "Bob of Bob", "admin of root"])
    }

    /// Bob and Ann get one key; Bob is known to replicas 0 and 1, and Ann, who was earlier, to one of them.
    private func clash(knownTo place: Int) throws -> Cluster {
        let cluster = try Cluster(3, schema: Self.schema)
        try cluster.executeLater(0, Self.rows)
        try cluster.converge()
        try cluster.executeLater(2, "INSERT INTO user(name) VALUES ('Ann')")
        try cluster.executeLater(2, "INSERT INTO note(user_id, body) VALUES (2, 'of Ann')")
        try cluster.executeLater(0, "INSERT INTO user(name) VALUES ('Bob')")
        _ = try cluster.pull(1, from: 0)
        _ = try cluster.pull(place, from: 2)
        return cluster
    }

    private func notes(_ cluster: Cluster, _ place: Int) throws -> [String] {
        try cluster.text(
            place, "SELECT name || ' ' || ifnull(body, '') FROM user LEFT JOIN note ON user.id = user_id ORDER BY name")
    }

    @Test(
        "a row that has another key on one of the two is the same row, with what refers to it", arguments: [0, 1])
    func otherKey(place: Int) async throws {
        let cluster = try clash(knownTo: place)
        try cluster.executeLater(1, "UPDATE user SET name = 'Bobby' WHERE name = 'Bob'")
        try cluster.executeLater(
            1, "INSERT INTO note(user_id, body) SELECT id, 'of Bobby' FROM user WHERE name = 'Bobby'")
        try compact(cluster)
        _ = try await comeBack(of: cluster)
        _ = try cluster.pull(0, from: 1)
        for place in 0...1 { #expect(try notes(cluster, place) == ["Ann of Ann", "Bobby of Bobby", "admin "]) }
    }

    @Test("a row that was deleted, and whose key SQLite gave to another one, is deleted also under its key there")
    func keyAgainElsewhere() async throws {
        let cluster = try clash(knownTo: 0)
        try cluster.executeLater(1, "DELETE FROM user WHERE name = 'Bob'")
        try cluster.executeLater(1, "INSERT INTO user(name) VALUES ('Carl')")
        try cluster.executeLater(1, "INSERT INTO note(user_id, body) VALUES (2, 'of Carl')")
        try compact(cluster)
        _ = try await comeBack(of: cluster)
        _ = try cluster.pull(0, from: 1)
        for place in 0...1 { #expect(try notes(cluster, place) == ["Ann of Ann", "Carl of Carl", "admin "]) }
    }

    @Test("rows that got the key of a deleted row on both are two rows")
    func keyAgain() async throws {
        try cluster.executeLater(0, "INSERT INTO user(name) VALUES ('Old')")
        try cluster.converge()
        for (place, name) in [(0, "Ann"), (1, "Bob")] {
            try cluster.executeLater(place, "DELETE FROM user WHERE id = 2")
            try cluster.executeLater(place, "INSERT INTO user(name) VALUES ('\(name)')")
            try cluster.executeLater(place, "INSERT INTO note(user_id, body) VALUES (2, 'of \(name)')")
        }
        try compact()
        _ = try await comeBack()
        try expectLevel()
        #expect(try notes(cluster, 1) == ["Ann of Ann", "Bob of Bob", "admin "])
    }

    @Test(
        "another schema or setting on the peer is named before any part is fetched, and the file stays as it was",
        arguments: [
            ("ALTER TABLE item ADD COLUMN color TEXT", "another schema"),
            (#"UPDATE _journal_replica SET collations = '["mine", "nocase"]'"#, "other collations"),
        ])
    func otherSettings(change: String, name: String) async throws {
        try cluster.executeLater(0, Self.twice)
        try cluster.execute(0, change)
        try cluster.executeLater(1, "UPDATE item SET price = 9 WHERE id = 'b'")
        try compact()
        let before = try cluster.content(1)
        let source = CountingSource(SnapshotShelf(cluster.members[0].replica, limits: .standard))
        let error = await #expect(throws: SyncError.self) { try await Return(cluster.inboxes[1], from: source).run() }
        #expect(error?.code == .configuration && error?.message.contains(name) == true, "\(String(describing: error))")
        #expect(source.fetched.load(ordering: .relaxed) == 0)
        #expect(try cluster.content(1) == before)
        let beside = try FileManager.default.contentsOfDirectory(atPath: cluster.directory.file(""))
        #expect(beside.filter { $0.contains("return") } == [])
    }
}

/// Counts the parts that are asked for.
private final class CountingSource: SnapshotSource {
    let fetched = Atomic(0)
    private let source: SnapshotShelf
    var name: String { source.name }

    init(_ source: SnapshotShelf) { self.source = source }

    func snapshot() async throws -> SnapshotAnswer { try await source.snapshot() }

    func part(_ index: Int, of id: String, size: Int) async throws -> [UInt8] {
        fetched.add(1, ordering: .relaxed)
        return try await source.part(index, of: id, size: size)
    }
}
