import Foundation
import GRDB
import Journal
import Sync
import TestSupport
import Testing

@testable import Sync

@Suite("A caller whose token is limited to tables")
struct LimitedCallerTests {
    private let tree: Tree

    init() throws { tree = try Tree() }

    /// A replica with all tables that has never met the hub.
    private func stranger(_ schema: String = Tree.schema) throws -> ReplicaFixture {
        try ReplicaFixture(tree.directory.file("stranger"), schema: schema, origin: OriginID(high: 5, low: 5))
    }

    private func push(_ fixture: ReplicaFixture, as origin: OriginID? = nil) async throws -> PushReply {
        let peer = try tree.peer()
        let frames = try fixture.batches(after: VersionVector()).map { try Frame($0, encoding: .zstd) }
        return try await peer.push(
            [Frame(body: .open(cluster: "main", origin: try origin ?? fixture.origin))] + frames
                + [Frame(body: .end(vector: try fixture.vector, more: false))])
    }

    @Test("a push with a change of another table is refused whole, and says which table and what to do")
    func pushBeyond() async throws {
        let sender = try stranger()
        try tree.later(sender, "INSERT INTO receipt VALUES ('r', NULL, 1)")
        try tree.later(sender, "INSERT INTO receipt VALUES ('s', NULL, 1); INSERT INTO zebra VALUES ('z', 'x', NULL)")
        let before = try tree.hub.vector
        let error = await #expect(throws: SyncError.self) { try await push(sender) }
        #expect(error?.code == .forbidden && error?.isRetryable == false)
        #expect(error?.message.contains("the table zebra") == true && error?.hint?.contains("tokens file") == true)
        #expect(try tree.hub.vector == before && tree.hub.text("SELECT id FROM receipt").isEmpty)
        #expect(try tree.hub.text("SELECT count(*) || '' FROM _journal_inbox") == ["0"])
        // The error reaches the status of the sender by its session.
        let report = await #expect(throws: SyncError.self) { try await sender.exchange(over: tree.peer()) }
        #expect(report?.code == .forbidden)
    }

    @Test("a push of its own tables is taken without a mark: a sensor needs none")
    func sensor() async throws {
        let sender = try stranger("CREATE TABLE receipt (id TEXT PRIMARY KEY NOT NULL, price TEXT, n INTEGER)")
        try tree.later(sender, "INSERT INTO receipt VALUES ('r', NULL, 1)")
        #expect(try await push(sender).applied == 1)
        #expect(try tree.hub.text("SELECT id FROM receipt") == ["r"])
    }

    @Test("changes of others are not taken, nor what it says of others")
    func relay() async throws {
        let sender = try stranger()
        try tree.later(sender, "INSERT INTO receipt VALUES ('r', NULL, 1)")
        let error = await #expect(throws: SyncError.self) { try await push(sender, as: OriginID(high: 6, low: 6)) }
        #expect(error?.code == .forbidden && error?.message.contains("relays none") == true)
        #expect(try tree.hub.text("SELECT id FROM receipt").isEmpty)
        // An acknowledgement in the name of another replica.
        let other = OriginID(high: 7, low: 7)
        var hello = Hello(
            cluster: "main", origin: try sender.origin, formatVersion: 6, vector: try tree.hub.vector,
            wallMilliseconds: ReplicaFixture.now.milliseconds)
        hello.acknowledgements = [try sender.origin, other].map {
            Acknowledgement(
                origin: $0, vector: hello.vector, milliseconds: ReplicaFixture.now.milliseconds, witness: $0)
        }
        _ = try await tree.peer().hello(hello)
        let known = try tree.hub.replica.read { try tree.hub.inbox.acknowledgements.all($0) }.map(\.origin)
        #expect(known.contains(try sender.origin) && !known.contains(other))
    }

    @Test("a file with all tables cannot pull, because it could not tell what it lacks")
    func wholeFile() async throws {
        let sender = try stranger()
        let error = await #expect(throws: SyncError.self) { try await sender.exchange(over: tree.peer()) }
        #expect(error?.code == .forbidden && error?.hint?.contains("syncd clone") == true)
        #expect(try sender.vector.isEmpty)
    }

    @Test("questions about another table get the same answer as about one that does not exist")
    func questions() async throws {
        let peer = try tree.peer()
        for table in ["zebra", "ZEBRA", "unicorn", "_journal"] {
            let shape = TableShape(table: table, columns: ["id"], keyCount: 1)
            for question: DigestRequest.Question in [
                .digests(shape: shape, after: nil, rowsPerDigest: 1), .rows(shape: shape, after: nil, through: nil),
                .recapture(shape: shape, keys: [[.text("panda")]]),
            ] {
                let error = await #expect(throws: SyncError.self) {
                    _ = try await peer.digest(DigestRequest(cluster: "main", question: question))
                }
                #expect(error?.code == .notFound)
            }
        }
        let tables = try await peer.digest(DigestRequest(cluster: "main", question: .tables))
        #expect(tables.tables.map(\.table) == ["price", "receipt"] && tables.affinities.count == 2)
        #expect(!peer.hasTold(Tree.secrets))
    }

    @Test("samples of a history leave out the changes of other tables, whoever the caller says that it is")
    func samples() async throws {
        let hello = Hello(
            cluster: "main", origin: try tree.hub.origin, formatVersion: 6, vector: try tree.hub.vector,
            wallMilliseconds: 0)
        let told = Set(try await tree.peer().hello(hello).samples.map(\.version))
        let own = try tree.hub.origin
        let hidden = Set(
            try tree.hub.batches(after: VersionVector()).flatMap { batch in
                batch.runs.flatMap { run in
                    run.changes.filter { batch.shapes[batch.changes[$0].shape].table == "zebra" }
                        .map { run.firstVersion + Int64($0 - run.changes.lowerBound) }
                }
            })
        #expect(!told.isEmpty && !hidden.isEmpty && told.isDisjoint(with: hidden))
        let all = try tree.hub.replica.read { try JournalReader($0).samples(of: own, upTo: .max) }
        #expect(!Set(all.map(\.version)).isDisjoint(with: hidden), "the test needs a sample that is hidden")
    }

    @Test("what refers to a table that is left out is refused, without that table's name")
    func references() async throws {
        let peer = try LimitedPeer(tree.endpoint, "zebra")
        let error = await #expect(throws: SyncError.self) { _ = try await tree.leaf(from: peer) }
        #expect(error?.code == .forbidden && error?.message.contains("zebra refers to") == true)
        #expect(!peer.hasTold(["price"]))
        let missing = try LimitedPeer(tree.endpoint, "prize")
        let other = await #expect(throws: SyncError.self) { _ = try await tree.leaf(from: missing) }
        #expect(other?.message.contains("prize") == true && other?.hint?.contains("spelling") == true)
        // A foreign key that comes later.
        let leaf = try await tree.leaf()
        try tree.hub.execute("ALTER TABLE price ADD COLUMN keeper TEXT REFERENCES zebra(id)")
        let late = try tree.peer()
        let refusal = await #expect(throws: SyncError.self) { try await leaf.exchange(over: late) }
        #expect(refusal?.code == .forbidden && !late.hasTold(Tree.secrets))
    }

    @Test("all names of a renamed table mean it")
    func renamed() async throws {
        _ = try Replica.create(at: tree.hub.path, InitializeRequest(renamed: [.init(old: "price", new: "tariff")]))
        try tree.hub.execute("ALTER TABLE price RENAME TO tariff")
        try tree.later(tree.hub, "INSERT INTO tariff VALUES ('d', 4, 'D')")
        for (number, name) in ["price", "tariff"].enumerated() {
            let peer = try tree.peer(name)
            let leaf = try await tree.leaf("leaf\(number)", from: peer)
            #expect(
                try leaf.text("SELECT id FROM tariff ORDER BY id") == tree.hub.text("SELECT id FROM tariff ORDER BY id")
            )
            try tree.later(tree.hub, "UPDATE tariff SET cents = \(40 + number) WHERE id = 'd'")
            try tree.later(leaf, "INSERT INTO tariff VALUES ('n\(number)', \(90 + number), 'N')")
            #expect(try await leaf.exchange(over: peer).isLevel)
            #expect(try leaf.text("SELECT cents || '' FROM tariff WHERE id = 'd'") == ["\(40 + number)"])
            #expect(!peer.hasTold(Tree.secrets))
        }
    }
}
