import Foundation
import GRDB
import Journal
import Sync
import TestSupport
import Testing

@testable import Sync

/// A hub with all tables, and leaves that have two of them. Nothing of the third table may reach a leaf.
struct Tree {
    static let schema = """
        CREATE TABLE price (id TEXT PRIMARY KEY NOT NULL, cents INTEGER UNIQUE, name TEXT);
        CREATE TABLE receipt (id TEXT PRIMARY KEY NOT NULL, price TEXT REFERENCES price(id), n INTEGER);
        CREATE TABLE zebra (id TEXT PRIMARY KEY NOT NULL, okapi TEXT UNIQUE, price TEXT REFERENCES price(id));
        CREATE INDEX gnu ON zebra (okapi);
        CREATE VIEW lemur AS SELECT okapi FROM zebra;
        CREATE TRIGGER tapir AFTER INSERT ON receipt BEGIN UPDATE zebra SET okapi = 'ibex' WHERE id = 'panda'; END;
        """
    /// Names and values of what leaves must not get.
    static let secrets = ["zebra", "okapi", "gnu", "lemur", "tapir", "ibex", "panda", "giraffe"]

    let directory = TemporaryDirectory()
    let hub: ReplicaFixture
    let endpoint: Endpoint
    private let clock = ManualClock()

    init(limits: Limits = .standard) throws {
        var settings = ReplicaFixture.Settings(limits: limits)
        settings.clock = StandingClock()
        hub = try ReplicaFixture(
            directory.file("hub"), schema: Self.schema, origin: OriginID(high: 1, low: 1), settings)
        endpoint = hub.endpoint
        try later(
            hub,
            """
            INSERT INTO price VALUES ('a', 1, 'A'), ('b', 2, 'B'), ('c', 3, 'C');
            INSERT INTO zebra VALUES ('panda', 'giraffe 1', 'a'), ('panda2', 'giraffe 2', 'b')
            """)
        try later(hub, "UPDATE zebra SET okapi = 'giraffe 3' WHERE id = 'panda'; DELETE FROM price WHERE id = 'c'")
    }

    func later(_ fixture: ReplicaFixture, _ sql: String) throws {
        try RawConnection.writeLater(sql, at: fixture.path)
    }

    func peer(_ table: String = "price") throws -> LimitedPeer { try LimitedPeer(endpoint, table, "receipt") }

    /// The hub after a restart: it makes new snapshots.
    func restartedPeer() throws -> LimitedPeer { try LimitedPeer(hub.endpoint, "price", "receipt") }

    /// A new leaf, made from a snapshot of the hub.
    func leaf(_ name: String = "leaf", from peer: (any SnapshotSource)? = nil) async throws -> ReplicaFixture {
        var clone = Clone(from: try peer ?? self.peer(), to: directory.file(name))
        clone.clock = clock
        clone.entropy = { 0 }
        _ = try await clone.run()
        return try ReplicaFixture(.open(at: directory.file(name), options: .unsynced))
    }

    /// Another replica with all tables.
    func whole(_ name: String = "whole") async throws -> ReplicaFixture {
        try await leaf(name, from: LocalTransport(endpoint, name: "hub"))
    }

    func expectEqualTables(_ leaf: ReplicaFixture, sourceLocation: SourceLocation = #_sourceLocation) throws {
        for sql in [
            "SELECT id || '|' || cents || '|' || name FROM price ORDER BY id",
            "SELECT id || '|' || ifnull(price, '') || '|' || n FROM receipt ORDER BY id",
        ] { #expect(try leaf.text(sql) == hub.text(sql), sourceLocation: sourceLocation) }
        #expect(try leaf.vector == hub.vector, sourceLocation: sourceLocation)
    }
}
