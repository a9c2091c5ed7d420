import Foundation
import GRDB
import Journal
import TestSupport
import Testing

@testable import Sync

/// Property: each reference leads to the row that its writer meant, also where the schema does not say that
/// it is one.
@Suite("Declared references follow a row that gets another key")
struct DeclaredReferenceTests {
    private static let schema = """
        CREATE TABLE user(id INTEGER PRIMARY KEY, name TEXT);
        CREATE TABLE note(id INTEGER PRIMARY KEY, user_id INTEGER, author TEXT, body TEXT);
        """
    private static let owned =
        "SELECT name || ' ' || body FROM user JOIN note ON user_id = user.id AND author = CAST(user.id AS TEXT) ORDER BY body"

    private static func add(_ name: String) -> String {
        """
        INSERT INTO user(name) VALUES ('\(name)');
        INSERT INTO note(user_id, author, body) SELECT id, id, 'of \(name)' FROM user WHERE name = '\(name)'
        """
    }

    private static func declare(_ cluster: Cluster) throws {
        for replica in cluster.replicas {
            try replica.write { db in
                try DeclaredReference(table: "note", column: "user_id", parent: "user").declare(db)
                try DeclaredReference(table: "NOTE", column: "Author", parent: "User").declare(db)
            }
        }
    }

    @Test("numbers and texts, also through a relay, and in rows that are written before the new key is known")
    func follow() throws {
        let cluster = try Cluster(3, schema: Self.schema)
        try Self.declare(cluster)
        try cluster.executeLater(0, Self.add("Ann"))
        try cluster.executeLater(1, Self.add("Bob"))
        try cluster.pull(2, from: 1)
        try cluster.executeLater(
            2, "INSERT INTO note(user_id, author, body) SELECT id, id, 'later, of Bob' FROM user WHERE name = 'Bob'")
        try cluster.converge()
        for machine in 0..<3 {
            #expect(try cluster.text(machine, Self.owned) == ["Bob later, of Bob", "Ann of Ann", "Bob of Bob"])
        }
        try cluster.expectEqual()
    }

    @Test("that are declared after the rows have met")
    func later() throws {
        let cluster = try Cluster(2, schema: Self.schema)
        try cluster.executeLater(0, Self.add("Ann"))
        try cluster.executeLater(1, Self.add("Bob"))
        try cluster.converge()
        try Self.declare(cluster)
        for inbox in cluster.inboxes { try inbox.bringBackHeldRows() }
        try cluster.converge()
        for machine in 0..<2 { #expect(try cluster.text(machine, Self.owned) == ["Ann of Ann", "Bob of Bob"]) }
        try cluster.expectEqual()
    }

    @Test("and hold no row back whose parent is missing")
    func visible() throws {
        let cluster = try Cluster(2, schema: Self.schema)
        try Self.declare(cluster)
        try cluster.executeLater(0, "INSERT INTO note VALUES (1, 77, '77', 'of nobody')")
        try cluster.converge()
        #expect(try cluster.text(1, "SELECT user_id FROM note") == ["77"])
        #expect(try cluster.heldReasons(1) == [])
    }

    @Test("are forgotten when they are withdrawn, by any spelling of their names")
    func withdrawn() throws {
        let cluster = try Cluster(1, schema: Self.schema)
        try Self.declare(cluster)
        #expect(try cluster[0].read { try DeclaredReference.all($0) }.map(\.parent) == ["User", "user"])
        try cluster[0].write { try DeclaredReference.withdraw(table: "Note", column: "USER_ID", $0) }
        #expect(try cluster[0].read { try DeclaredReference.all($0) }.map(\.column) == ["Author"])
    }
}
