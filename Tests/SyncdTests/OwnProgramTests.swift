import Foundation
import GRDB
import TestSupport
import Testing

@Suite("A table that only its own program can write affects no other table")
struct OwnProgramTests {
    let workspace = Workspace()

    /// Runs SQL in the program that has the function and the collation.
    private func execute(_ path: String, _ sql: String) throws {
        var configuration = Configuration()
        configuration.busyMode = .timeout(10)
        configuration.prepareDatabase { db in
            db.add(collation: DatabaseCollation("mycoll") { $0.compare($1) })
            db.add(function: DatabaseFunction("myf", argumentCount: 1, pure: true) { $0.first })
        }
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        try queue.writeWithoutTransaction { try $0.execute(sql: sql) }
        try queue.close()
    }

    @Test("init tracks the tables that it can read, and reports the other table with what it needs")
    func initialization() async throws {
        let path = workspace.path("a.sqlite")
        try execute(
            path,
            """
            CREATE TABLE plain (id TEXT PRIMARY KEY, x);
            INSERT INTO plain VALUES ('p', 1);
            CREATE TABLE checked (id TEXT PRIMARY KEY, x CHECK (myf(x) > 0));
            INSERT INTO checked VALUES ('c', 1);
            CREATE TABLE keyed (k TEXT COLLATE mycoll PRIMARY KEY, x) WITHOUT ROWID;
            INSERT INTO keyed VALUES ('k', 1);
            """)
        let outcome = try await Tool.run("init", path)
        #expect(outcome.status == 0, "\(outcome)")
        #expect(outcome.output.contains("keyed"), "\(outcome)")
        #expect(outcome.output.contains("only its own program can read it"), "\(outcome)")
        #expect(try workspace.value(path, "SELECT count(*) FROM _journal", as: Int.self) == 2)
        try execute(path, "INSERT INTO checked VALUES ('d', 2); INSERT INTO keyed VALUES ('l', 1)")
        #expect(try workspace.value(path, "SELECT count(*) FROM _journal", as: Int.self) == 3)
        #expect(try await Tool.run("status", path).status == 0)
    }

    @Test("such a table, made while the file is a replica, stops no exchange")
    func later() async throws {
        let a = try await workspace.makeReplica("a.sqlite")
        let b = try await workspace.makeReplica("b.sqlite", rows: 0)
        try execute(
            a, "CREATE TABLE keyed (k TEXT COLLATE mycoll PRIMARY KEY) WITHOUT ROWID; INSERT INTO keyed VALUES ('k')")
        for (from, to) in [(a, b), (b, a)] {
            let outcome = try await Tool.run("sync", from, to)
            #expect(outcome.status == 0, "\(outcome)")
        }
        #expect(try workspace.value(b, "SELECT count(*) FROM person", as: Int.self) == 3)
    }

    @Test("changes of a table that cannot be written here wait in the journal, are listed, and raise no alarm")
    func receiving() async throws {
        let a = try await workspace.makeReplica("a.sqlite")
        let b = try await workspace.makeReplica("b.sqlite", rows: 0)
        try workspace.execute(a, "CREATE TABLE checked (id TEXT PRIMARY KEY, x); INSERT INTO checked VALUES ('c', 1)")
        try execute(b, "CREATE TABLE checked (id TEXT PRIMARY KEY, x CHECK (myf(x) > 0))")
        for path in [a, b] { #expect(try await Tool.run("init", path).status == 0) }
        let outcome = try await Tool.run("sync", a, b)
        #expect(outcome.status == 0 && !outcome.output.contains("Different"), "\(outcome)")
        #expect(try workspace.value(b, "SELECT count(*) FROM person", as: Int.self) == 3)
        #expect(try workspace.value(b, "SELECT count(*) FROM checked", as: Int.self) == 0)
        let held = try await Tool.run("held", b)
        #expect(held.output.contains("only the table's own program can write it"), "\(held)")
        // Without the function in its schema, the table shows the waiting changes.
        try execute(
            b,
            """
            DROP TABLE checked;
            CREATE TABLE checked (id TEXT PRIMARY KEY, x);
            """)
        #expect(try await Tool.run("sync", a, b).status == 0)
        #expect(try workspace.value(b, "SELECT x FROM checked WHERE id = 'c'", as: Int.self) == 1)
    }

    @Test("JSON functions of SQLite itself, in constraints, indexes and generated columns, stop nothing")
    func json() async throws {
        let schema = """
            CREATE TABLE doc (
              id TEXT PRIMARY KEY, body TEXT CHECK (json_valid(body)),
              title TEXT AS (body ->> '$.title'), size INTEGER AS (json_array_length(body, '$.items')) STORED);
            CREATE INDEX doc_title ON doc (json_extract(body, '$.title'));
            CREATE INDEX doc_large ON doc (id) WHERE json_extract(body, '$.large') = 1;
            CREATE TABLE plain (id TEXT PRIMARY KEY);
            """
        for name in ["a.sqlite", "b.sqlite"] {
            try execute(workspace.path(name), schema)
            #expect(try await Tool.run("init", workspace.path(name)).status == 0)
        }
        let (a, b) = (workspace.path("a.sqlite"), workspace.path("b.sqlite"))
        try execute(
            a,
            """
            INSERT INTO doc (id, body) VALUES ('x', '{"title": "T", "items": [1, 2], "large": 1}');
            INSERT INTO plain VALUES ('p')
            """)
        let outcome = try await Tool.run("sync", a, b)
        #expect(outcome.status == 0, "\(outcome)")
        #expect(try workspace.value(b, "SELECT title || size FROM doc", as: String.self) == "T2")
        #expect(try workspace.value(b, "SELECT id FROM plain", as: String.self) == "p")
        #expect(try await Tool.run("verify", a, b).status == 0)
    }
}
