import GRDB
import Journal
import Testing

@testable import Sync

/// Machines whose tables declare different types for one column: a migration that is not on all machines yet.
@Suite("A column with another type on the peer")
struct RetypedColumnTests {
    private static let other =
        "CREATE TABLE person (id INTEGER PRIMARY KEY, name TEXT NOT NULL, score TEXT, photo BLOB)"

    @Test(
        "shows each value as the local type stores it, is no damage, and is reported by verify",
        arguments: ReplicaPair.Way.allCases)
    func notDamage(way: ReplicaPair.Way) async throws {
        var limits = Limits.standard
        limits.comparisonIntervalMilliseconds = 0
        limits.recapturesByItself = false
        let pair = try ReplicaPair(way, limits: limits, schemaB: Self.other)
        try pair.a.write { try $0.execute(sql: "INSERT INTO person VALUES (1, 'x', 5, NULL)") }
        try pair.b.write { try $0.execute(sql: "INSERT INTO person VALUES (2, 'y', '7', NULL)") }
        try await pair.sync()
        let types = "SELECT group_concat(typeof(score)) FROM person"
        #expect(try pair.a.read { try String.fetchOne($0, sql: types) } == "real,real")
        #expect(try pair.b.read { try String.fetchOne($0, sql: types) } == "text,text")

        let table = try #require(
            try await pair.replicatorA.verify(pair.peerB).tables.first { $0.name == "person" })
        #expect(table.isEqual)
        #expect(table.retypedColumns == ["score"])
        #expect(try await pair.sync().mismatches.isEmpty)

        // Values that both types store alike are still compared. The merging connection writes past the
        // journal, as damage would.
        let merge = try pair.b.openMergeConnection()
        try merge.write { try $0.execute(sql: "UPDATE person SET name = 'z' WHERE id = 1") }
        try merge.close()
        #expect(try await pair.sync().mismatches.map(\.table) == ["person"])
        let damaged = try #require(
            try await pair.replicatorA.verify(pair.peerB).tables.first { $0.name == "person" })
        #expect(damaged.differing == 1)

        // Only what was written becomes a change, and not the value that this type stores in another way.
        _ = try await pair.replicatorB.repair(.init(pair.a.path))
        let entry = try pair.b.read { try JournalReader($0).entries(after: 0, limit: 1_000).last }
        #expect(entry?.columns.map(\.name) == ["name"])
    }

    @Test("types with other names that store alike are compared")
    func sameAffinity() async throws {
        let pair = try ReplicaPair(
            .local,
            schemaB: "CREATE TABLE person (id INTEGER PRIMARY KEY, name VARCHAR(9) NOT NULL, score DOUBLE, photo)")
        try pair.a.write { try $0.execute(sql: "INSERT INTO person VALUES (1, 'x', 5, NULL)") }
        try await pair.sync()
        let table = try #require(
            try await pair.replicatorA.verify(pair.peerB).tables.first { $0.name == "person" })
        #expect(table.isEqual)
        #expect(table.retypedColumns.isEmpty)
    }
}
