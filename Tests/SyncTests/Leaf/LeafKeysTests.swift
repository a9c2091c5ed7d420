import Journal
import Sync
import TestSupport
import Testing

@testable import Sync

@Suite("Keys that SQLite chose on a leaf and on its hub")
struct LeafKeysTests {
    private static let schema = """
        CREATE TABLE user (id INTEGER PRIMARY KEY, name TEXT);
        CREATE TABLE note (id INTEGER PRIMARY KEY, user INTEGER REFERENCES user(id), body TEXT);
        CREATE TABLE zebra (id INTEGER PRIMARY KEY, user INTEGER REFERENCES user(id), okapi TEXT);
        """
    private static let notes = "SELECT name || ':' || body FROM note JOIN user ON user.id = note.user ORDER BY 1"

    private static func add(_ name: String) -> String {
        """
        INSERT INTO user (name) VALUES ('\(name)');
        INSERT INTO note (user, body) VALUES (last_insert_rowid(), 'of \(name)')
        """
    }

    @Test("mean the same rows on both, also for the rows of a table that the leaf does not have")
    func minted() async throws {
        let directory = TemporaryDirectory()
        var settings = ReplicaFixture.Settings()
        settings.clock = StandingClock()
        let hub = try ReplicaFixture(
            directory.file("hub"), schema: Self.schema, origin: OriginID(high: 1, low: 1), settings)
        func leaf(_ name: String) async throws -> (ReplicaFixture, LimitedPeer) {
            let peer = try LimitedPeer(hub.endpoint, "user", "note")
            var clone = Clone(from: peer, to: directory.file(name))
            clone.clock = ManualClock()
            _ = try await clone.run()
            return (try ReplicaFixture(.open(at: directory.file(name), options: .unsynced)), peer)
        }
        try RawConnection.writeLater(Self.add("Ann"), at: hub.path)
        let (one, peer) = try await leaf("one")
        for name in ["Bob", "Eve"] {
            try RawConnection.writeLater(Self.add("\(name) of the leaf"), at: one.path)
            try RawConnection.writeLater(
                Self.add("\(name) of the hub")
                    + "; INSERT INTO zebra (user, okapi) SELECT max(id), 'giraffe' FROM user", at: hub.path)
            for _ in 0..<2 { _ = try await one.exchange(over: peer) }
            #expect(try one.text(Self.notes) == hub.text(Self.notes))
            #expect(
                try hub.text("SELECT name FROM zebra JOIN user ON user.id = zebra.user ORDER BY zebra.id").last
                    == "\(name) of the hub")
        }
        #expect(try one.text(Self.notes).count == 5)
        // A later leaf gets what moved.
        let (late, _) = try await leaf("late")
        #expect(try late.text(Self.notes) == hub.text(Self.notes))
        try RawConnection.writeLater(Self.add("Zoe"), at: late.path)
        try RawConnection.writeLater("UPDATE note SET body = body || '!'", at: one.path)
        for _ in 0..<2 {
            for fixture in [one, late] { _ = try await fixture.exchange(over: peer) }
        }
        #expect(try late.text(Self.notes) == hub.text(Self.notes) && one.text(Self.notes) == hub.text(Self.notes))
        #expect(!peer.hasTold(["zebra", "okapi", "giraffe"]))
    }
}
