import Foundation
import GRDB
import Journal
import Sync
import TestSupport
import Testing

@testable import Sync

/// A peer during whose first push the caller gets news.
private struct ArrivingPeer: Transport {
    let base: LimitedPeer
    let news: @Sendable () throws -> Void

    var name: String { base.name }
    func hello(_ hello: Hello) async throws -> Hello { try await base.hello(hello) }
    func pull(_ request: PullRequest, onFrame: @Sendable (Frame) async throws -> Void) async throws -> PullEnd {
        try await base.pull(request, onFrame: onFrame)
    }
    func push(_ frames: [Frame]) async throws -> PushReply {
        try news()
        return try await base.push(frames)
    }
    func digest(_ request: DigestRequest) async throws -> DigestReply { try await base.digest(request) }
}

@Suite("A leaf has the tables of its token, and covers the rest")
struct LeafTests {
    private let tree: Tree

    init() throws { tree = try Tree() }

    @Test("a clone with a limited token has its tables, the whole vector, the mark, and nothing of another table")
    func clone() async throws {
        let peer = try tree.peer()
        let leaf = try await tree.leaf(from: peer)
        try tree.expectEqualTables(leaf)
        #expect(try leaf.replica.identity().leaf?.scope.tables == ["price", "receipt"])
        #expect(
            try leaf.text(
                """
                SELECT name FROM pragma_table_list
                WHERE schema = 'main' AND name NOT GLOB '_journal*' AND name NOT GLOB 'sqlite*' ORDER BY name
                """
            ) == ["price", "receipt"])
        #expect(!LimitedPeer.has(try leaf.bytes(), Tree.secrets))
        #expect(!peer.hasTold(Tree.secrets))
        #expect(try leaf.inbox.replica.read { try HeldEntries.counts($0) }.isEmpty)
        // The mark is part of the file.
        let copy = tree.directory.file("copy")
        _ = try DatabaseCopy(to: copy).run(of: leaf.replica)
        try leaf.whileClosed {}
        #expect(try leaf.replica.identity().leaf != nil)
        let restored = try ReplicaFixture(.open(at: copy, options: .unsynced))
        #expect(try restored.replica.identity().leaf == leaf.replica.identity().leaf)
        #expect(try restored.origin != leaf.origin)
        try restored.close()
    }

    @Test("changes of its tables arrive in whole transactions, others are covered, and no answer tells of these")
    func pull() async throws {
        let peer = try tree.peer()
        let leaf = try await tree.leaf(from: peer)
        let whole = try await tree.whole()
        try tree.later(
            tree.hub,
            """
            INSERT INTO zebra VALUES ('z1', 'giraffe 4', 'a'); UPDATE price SET cents = 10 WHERE id = 'a';
            INSERT INTO receipt VALUES ('r1', 'a', 1); INSERT INTO zebra VALUES ('z2', 'giraffe 5', 'b')
            """)
        try tree.later(tree.hub, "DELETE FROM zebra; INSERT INTO zebra VALUES ('z1', 'giraffe 6', NULL)")
        let report = try await leaf.exchange(over: peer)
        #expect(report.isLevel && report.mismatches.isEmpty)
        try await whole.exchange(with: tree.hub)
        try tree.expectEqualTables(leaf)
        #expect(try await leaf.exchange(over: peer).pulledChanges == 0)
        #expect(!peer.hasTold(Tree.secrets))
        #expect(!LimitedPeer.has(try leaf.bytes(), Tree.secrets))
        // Transactions end where they end for a replica that has all tables.
        let ends = "SELECT version || '' FROM _journal WHERE origin IS NOT NULL AND tx ORDER BY seq"
        #expect(try leaf.text(ends) == whole.text(ends) && !leaf.text(ends).isEmpty)
        try whole.close()
    }

    @Test("what it writes reaches everyone, and merges as if it had all tables")
    func writes() async throws {
        let peer = try tree.peer()
        let leaf = try await tree.leaf(from: peer)
        let whole = try await tree.whole()
        try tree.later(
            tree.hub, "UPDATE price SET name = 'hub' WHERE id = 'a'; INSERT INTO zebra VALUES ('z', 'x', 'b')")
        try tree.later(leaf, "UPDATE price SET name = 'leaf' WHERE id = 'a'; INSERT INTO receipt VALUES ('r', 'a', 1)")
        try tree.later(leaf, "DELETE FROM price WHERE id = 'b'")
        #expect(try await leaf.exchange(over: peer).pushedChanges == 3)
        #expect(try await leaf.exchange(over: peer).isLevel)
        try await whole.exchange(with: tree.hub)
        try tree.expectEqualTables(leaf)
        try tree.expectEqualTables(whole)
        #expect(try whole.text("SELECT name FROM price") == ["leaf"])
        // Both sides wrote the row unseen, and both have it in the ledger.
        for fixture in [tree.hub, whole, leaf] {
            #expect(try fixture.text("SELECT kind FROM _journal_conflicts") == ["update/update"])
        }
        try await whole.exchange(with: tree.hub)
        try whole.close()
    }

    @Test("one more machine gets what the leaf wrote under an earlier identity, too")
    func earlierIdentity() async throws {
        let peer = try tree.peer()
        let leaf = try await tree.leaf(from: peer)
        try tree.later(leaf, "INSERT INTO receipt VALUES ('r1', 'a', 1)")
        let source = FrameSource(
            replica: leaf.replica, limits: .standard, encoding: .none, keeper: leaf.inbox.keeper, ends: leaf.inbox.ends)
        // Published, and lost on the way.
        _ = try await source.portion(after: tree.hub.vector, bytes: 1 << 20)
        let before = try leaf.origin
        try leaf.replica.write { db in
            _ = try NewIdentity(.manual, of: before, shared: 1, time: 0).run(db, fingerprint: nil)
        }
        try leaf.restartInbox()
        try tree.later(leaf, "INSERT INTO receipt VALUES ('r2', 'a', 2)")
        #expect(try leaf.vector[before] == 1)
        #expect(try await leaf.exchange(over: peer).pushedChanges == 2)
        #expect(try tree.hub.text("SELECT id FROM receipt ORDER BY id") == ["r1", "r2"])
        try tree.expectEqualTables(leaf)
    }

    @Test("it has the tables of its making, whatever another token allows")
    func otherTokens() async throws {
        let leaf = try await tree.leaf()
        try tree.later(
            tree.hub, "INSERT INTO zebra VALUES ('z', 'giraffe', 'a'); INSERT INTO receipt VALUES ('r', 'a', 1)")
        // All tables.
        try await leaf.exchange(with: tree.hub)
        try tree.expectEqualTables(leaf)
        #expect(!LimitedPeer.has(try leaf.bytes(), Tree.secrets))
        // More tables.
        let more = try LimitedPeer(tree.endpoint, "price", "receipt", "zebra")
        try tree.later(tree.hub, "INSERT INTO zebra VALUES ('z2', 'giraffe 22', 'a')")
        try await leaf.exchange(over: more)
        try tree.expectEqualTables(leaf)
        #expect(!LimitedPeer.has(try leaf.bytes(), Tree.secrets))
        // A peer of a release that hides nothing.
        try tree.later(
            tree.hub, "INSERT INTO zebra VALUES ('z3', 'giraffe 33', 'a'); UPDATE price SET cents = 7 WHERE id = 'a'")
        try leaf.pull(from: tree.hub)
        try tree.expectEqualTables(leaf)
        #expect(!LimitedPeer.has(try leaf.bytes(), Tree.secrets))
        // Fewer tables.
        let fewer = try LimitedPeer(tree.endpoint, "price")
        let error = await #expect(throws: SyncError.self) { try await leaf.exchange(over: fewer) }
        #expect(error?.code == .forbidden && error?.message.contains("receipt too") == true && error?.hint != nil)
    }

    @Test("nobody gets changes, rows or a copy from it, and all are told whom to follow")
    func refuses() async throws {
        let leaf = try await tree.leaf()
        let whole = try await tree.whole()
        try tree.later(leaf, "INSERT INTO receipt VALUES ('r', 'a', 1)")
        let transport = LocalTransport(leaf.endpoint, name: "leaf")
        let hello = try whole.replica.read { try Hello($0, wallMilliseconds: 0) }
        let request = PullRequest(cluster: "main", origin: try whole.origin, have: VersionVector())
        let tries: [@Sendable () async throws -> Void] = [
            { _ = try await transport.hello(hello) },
            { _ = try await transport.pull(request) { _ in } },
            { _ = try await transport.push([Frame(body: .open(cluster: "main", origin: request.origin))]) },
            { _ = try await transport.digest(DigestRequest(cluster: "main", question: .tables)) },
            { _ = try await transport.snapshot() },
        ]
        for attempt in tries {
            let error = await #expect(throws: SyncError.self) { try await attempt() }
            #expect(error?.code == .forbidden && error?.message.contains("is a leaf") == true && error?.hint != nil)
        }
        await #expect(throws: SyncError.self) { try await whole.exchange(over: transport) }
        #expect(try whole.text("SELECT id FROM receipt").isEmpty)
        // By batches, past every check of a session.
        try tree.later(tree.hub, "INSERT INTO zebra VALUES ('z', 'y', 'a')")
        try await leaf.exchange(with: tree.hub)
        let before = try whole.vector
        let error = #expect(throws: SyncError.self) { try whole.pull(from: leaf) }
        #expect(error?.code == .invalid && error?.message.contains("hides") == true)
        #expect(try whole.vector == before)
        // An archive would keep what is hidden for ever.
        let replicator = try Replicator(replica: leaf.replica)
        let archive = try PeerConfiguration("file://\(tree.directory.file("archive"))")
        let refusal = await #expect(throws: SyncError.self) { try await replicator.syncOnce(archive) }
        #expect(refusal?.code == .configuration && refusal?.message.contains("is a leaf") == true)
        try whole.close()
    }

    @Test("changes of others that arrive while it pushes are not sent on")
    func arriving() async throws {
        let leaf = try await tree.leaf()
        for number in 1...3 { try tree.later(leaf, "INSERT INTO receipt VALUES ('r\(number)', 'a', \(number))") }
        try tree.later(
            tree.hub, "INSERT INTO zebra VALUES ('z', 'giraffe', 'a'); UPDATE price SET cents = 9 WHERE id = 'a'")
        let news = try tree.hub.batches(after: leaf.vector)
        let inbox = leaf.inbox
        let peer = ArrivingPeer(base: try tree.peer()) { for batch in news { _ = try inbox.receive(batch) } }
        var limits = Limits.standard
        limits.changesPerBatch = 1
        limits.bytesPerPush = 1
        let session = SyncSession(
            replica: leaf.replica, inbox: inbox, transport: peer, limits: limits, clock: StandingClock())
        #expect(try await session.push(lacking: VersionVector()).changes == 3)
        try tree.expectEqualTables(leaf)
    }

    @Test("it tracks no table that it does not have")
    func tracking() async throws {
        let leaf = try await tree.leaf()
        try leaf.execute(
            "CREATE TABLE mine (id TEXT PRIMARY KEY NOT NULL); CREATE TABLE zebra (id TEXT PRIMARY KEY NOT NULL)")
        for table in ["mine", "zebra"] {
            let error = #expect(throws: JournalError.self) {
                _ = try Replica.create(at: leaf.path, InitializeRequest(tables: ["price", table]))
            }
            #expect(error?.code == .refused && error?.message.contains(table) == true && error?.hint != nil)
        }
        try leaf.execute("INSERT INTO mine VALUES ('m'); INSERT INTO zebra VALUES ('z')")
        try await leaf.exchange(over: tree.peer())
        try tree.expectEqualTables(leaf)
    }
}
