import Foundation
import GRDB
import Journal
import Sync
import TestSupport

/// One life of a hub with three tables, of another replica with all of them, and of leaves that have two, which its seed
/// determines.
///
/// All write; the hub compacts, also what leaves have not merged, so that they come back; it starts again; leaves
/// compact, and further ones are made. Properties:
/// 1. No byte of the third table is in an answer to a leaf, or in a leaf's file.
/// 2. In the end all know the same, show the same rows of the two tables, and hold the same. A new leaf that is made
///    then has the same, and the hub's ledger of the two tables.
/// 3. Whatever a leaf inserted is at the hub: nobody deletes these rows.
final class LeafLife: Life {
    private struct Leaf {
        let number: Int
        let fixture: ReplicaFixture
    }

    /// Names and values of what leaves must not get.
    static let secrets = ["zebra", "okapi", "gnu", "lemur", "tapir", "ibex", "giraffe"]

    private(set) var story: [String] = []
    private var made = 0
    private var returns = 0
    var counts: [Int] { [made, returns] }

    private var random: SplitMix
    private let directory = TemporaryDirectory()
    private let clock = ManualClock()
    private let hub: ReplicaFixture
    private let whole: ReplicaFixture
    private var leaves: [Leaf] = []
    /// The hub as leaves reach it, from its last start on.
    private var peer: LimitedPeer
    /// How many rows leaves have inserted that nobody deletes.
    private var inserted = 0
    private var values = 0

    init(seed: UInt64) throws {
        random = SplitMix(seed: seed)
        let unique = random.chance(50) ? "UNIQUE" : ""
        let action = ["CASCADE", "SET NULL", "NO ACTION"][random.below(3)]
        let schema = """
            CREATE TABLE price (id TEXT PRIMARY KEY NOT NULL, cents INTEGER \(unique), name TEXT);
            CREATE TABLE receipt (id TEXT PRIMARY KEY NOT NULL, price TEXT REFERENCES price(id) ON DELETE \(action), n);
            CREATE TABLE zebra (id TEXT PRIMARY KEY NOT NULL, okapi TEXT UNIQUE, price TEXT REFERENCES price(id));
            CREATE INDEX gnu ON zebra (okapi);
            CREATE VIEW lemur AS SELECT okapi FROM zebra;
            CREATE TRIGGER tapir AFTER DELETE ON zebra BEGIN UPDATE zebra SET okapi = 'ibex ' || id; END;
            """
        story.append(schema)
        var settings = ReplicaFixture.Settings()
        // They make copies, which would be removed after a time.
        settings.clock = StandingClock()
        let replicas = try ["hub", "whole"].enumerated().map { [directory] index, name in
            try ReplicaFixture(
                directory.file(name), schema: schema, origin: OriginID(high: UInt64(index + 1), low: 1), settings)
        }
        (hub, whole) = (replicas[0], replicas[1])
        peer = try LeafLife.peer(of: hub)
    }

    private static func peer(of hub: ReplicaFixture) throws -> LimitedPeer {
        try LimitedPeer(hub.endpoint, "price", "receipt")
    }

    /// - Throws: ``Difference``, and errors of the files.
    func run() async throws {
        for _ in 0..<4 { try write(at: hub, "hub", hasAll: true) }
        for _ in 0..<2 { try await makeLeaf() }
        _ = try await whole.exchange(with: hub)
        for _ in 0..<(20 + random.below(30)) { try await step() }
        try await level()
        try check(leaves)
        // Made of what there is by then: conflicts, held rows, lives of deleted keys.
        try restart()
        try await makeLeaf()
        _ = try await leaves[leaves.count - 1].fixture.exchange(over: peer)
        try check(leaves.suffix(1), ledger: true)
        try checkAnswers()
        for fixture in leaves.map(\.fixture) + [whole, hub] { try fixture.close() }
    }

    // MARK: - Steps

    private func step() async throws {
        let leaf = leaves[random.below(leaves.count)]
        switch random.below(20) {
        case 0...2: try write(at: hub, "hub", hasAll: true)
        case 3...4: try write(at: whole, "whole", hasAll: true)
        case 5...8: try write(at: leaf.fixture, "leaf \(leaf.number)", hasAll: false)
        case 9...12: try await exchange(leaf)
        case 13...14: try await exchangeWhole()
        case 15: story.append("the hub compacts \(try hub.compactWhatIsStable()) stable entries")
        case 16:
            // What the other replica and the hub know, as if there were no leaf.
            for _ in 0..<2 { try await exchangeWhole() }
            story.append("the hub compacts \(try hub.compact()) entries")
        case 17: story.append("leaf \(leaf.number) compacts \(try leaf.fixture.compactWhatIsStable()) entries")
        case 18: try restart()
        default: if leaves.count < 4 { try await makeLeaf() }
        }
    }

    private func restart() throws {
        story.append("the hub starts again")
        try checkAnswers()
        peer = try LeafLife.peer(of: hub)
    }

    private func makeLeaf() async throws {
        made += 1
        let path = directory.file("leaf\(made)")
        var clone = Clone(from: peer, to: path)
        clone.clock = clock
        clone.entropy = { 0 }
        _ = try await clone.run()
        var settings = ReplicaFixture.Settings()
        settings.clock = clock
        leaves.append(Leaf(number: made, fixture: try ReplicaFixture(.open(at: path, options: .unsynced), settings)))
        story.append("leaf \(made) is made")
        // Until then, nobody waits for it.
        try await exchange(leaves[leaves.count - 1])
    }

    private func exchange(_ leaf: Leaf) async throws {
        do {
            let report = try await leaf.fixture.exchange(over: peer)
            story.append("leaf \(leaf.number) pulls \(report.pulledChanges), pushes \(report.pushedChanges)")
        } catch let error as SyncError where error.code == .behindHorizon {
            try await comeBack(leaf)
        }
    }

    private func comeBack(_ leaf: Leaf) async throws {
        // A snapshot from before the compaction would be behind the horizon as well.
        try restart()
        var back = Return(leaf.fixture.inbox, from: peer)
        back.clock = clock
        back.entropy = { 0 }
        let report = try await back.run()
        DatabaseCopy.remove(report.kept)
        returns += 1
        story.append("leaf \(leaf.number) comes back: \(report.unseen) unseen, \(report.written) written")
    }

    private func exchangeWhole() async throws {
        let report = try await whole.exchange(with: hub)
        story.append("whole pulls \(report.pulledChanges), pushes \(report.pushedChanges)")
    }

    private func write(at fixture: ReplicaFixture, _ name: String, hasAll: Bool) throws {
        let sql = (0...random.below(3)).map { _ in statement(hasAll: hasAll) }.joined(separator: "; ")
        story.append("\(name): \(sql)")
        try RawConnection.writeLater(sql, at: fixture.path)
    }

    private func statement(hasAll: Bool) -> String {
        values += 1
        let id = "'k\(random.below(6))'"
        let (text, number) = ("'v\(values)'", random.below(5))
        switch random.below(hasAll ? 10 : 7) {
        case 0: return "INSERT OR IGNORE INTO price VALUES (\(id), \(number), \(text))"
        case 1: return "INSERT OR REPLACE INTO price VALUES (\(id), \(number), \(text))"
        case 2: return "UPDATE OR IGNORE price SET cents = \(number), name = \(text) WHERE id = \(id)"
        case 3: return "DELETE FROM price WHERE id = \(id)"
        case 4: return "INSERT OR IGNORE INTO receipt VALUES (\(id), 'k\(number)', \(values))"
        case 5: return "DELETE FROM receipt WHERE id = \(id)"
        case 6:
            guard !hasAll else { return "UPDATE receipt SET n = \(values) WHERE id = \(id)" }
            inserted += 1
            return "INSERT INTO receipt VALUES ('own \(inserted)', NULL, \(values))"
        case 7: return "INSERT OR REPLACE INTO zebra VALUES (\(id), 'giraffe \(values)', 'k\(number)')"
        case 8: return "UPDATE zebra SET okapi = 'giraffe \(values)' WHERE id = \(id)"
        default: return "DELETE FROM zebra WHERE id = \(id)"
        }
    }

    // MARK: - Checks

    /// Lets all exchange until they know the same.
    private func level() async throws {
        for _ in 0..<4 {
            for leaf in leaves { try await exchange(leaf) }
            try await exchangeWhole()
        }
        for fixture in leaves.map(\.fixture) + [whole, hub] { try fixture.inbox.bringBackHeldRows() }
    }

    private static let content = """
        SELECT 'price ' || id || ' ' || quote(cents) || quote(name) FROM price UNION ALL
        SELECT 'receipt ' || id || ' ' || quote(price) || quote(n) FROM receipt UNION ALL
        SELECT 'held ' || name || ' ' || hex(key) || ' ' || reason FROM _journal_held JOIN _journal_tables USING (tbl)
        WHERE name IN ('price', 'receipt') ORDER BY 1
        """

    private static let ledger = """
        SELECT count(*) || '' FROM _journal_conflicts
        WHERE tbl IN (SELECT tbl FROM _journal_tables WHERE name IN ('price', 'receipt'))
        """

    private func check(_ leaves: some Sequence<Leaf>, ledger: Bool = false) throws {
        let expected = try hub.text(LeafLife.content)
        let replicas = leaves.map { ("leaf \($0.number)", $0.fixture) } + [("whole", whole)]
        for (name, fixture) in replicas {
            guard try fixture.vector == hub.vector else {
                throw Difference(description: "\(name) knows something else")
            }
            let content = try fixture.text(LeafLife.content)
            guard content == expected else {
                let different = Set(content).symmetricDifference(expected).sorted()
                throw Difference(description: "\(name) shows something else than the hub: \(different)")
            }
            guard name != "whole" else { continue }
            if ledger, try fixture.text(LeafLife.ledger) != hub.text(LeafLife.ledger) {
                throw Difference(description: "\(name) has another ledger than the hub")
            }
            guard try !LimitedPeer.has(fixture.bytes(), LeafLife.secrets) else {
                throw Difference(description: "The file of \(name) has something of the third table")
            }
        }
        let own = try hub.text("SELECT count(*) || '' FROM receipt WHERE id LIKE 'own %'")
        guard own == ["\(inserted)"] else {
            throw Difference(description: "Leaves inserted \(inserted) rows, and the hub has \(own[0])")
        }
    }

    private func checkAnswers() throws {
        guard peer.hasTold(LeafLife.secrets) else { return }
        throw Difference(description: "An answer to a leaf has something of the third table")
    }
}
