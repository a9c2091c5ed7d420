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

    /// One table for each part of a schema that can use a function or a collation.
    private static let schema = """
        CREATE TABLE plain (id TEXT PRIMARY KEY, x);
        CREATE TABLE checked (id TEXT PRIMARY KEY, x CHECK (myf(x) > 0));
        CREATE TABLE keyed (k TEXT COLLATE mycoll PRIMARY KEY, x) WITHOUT ROWID;
        CREATE TABLE sorted (id TEXT PRIMARY KEY, x);
        CREATE INDEX sorted_x ON sorted (x COLLATE mycoll);
        CREATE TABLE computed (id TEXT PRIMARY KEY, x);
        CREATE INDEX computed_x ON computed (myf(x));
        CREATE TABLE partial (id TEXT PRIMARY KEY, x);
        CREATE INDEX partial_x ON partial (id) WHERE myf(x) = 1;
        CREATE TABLE made (id TEXT PRIMARY KEY, x, y AS (myf(x)));
        CREATE TABLE filled (id TEXT PRIMARY KEY, x DEFAULT (myf(1)));
        CREATE TABLE fired (id TEXT PRIMARY KEY, x);
        CREATE TRIGGER fired_x AFTER INSERT ON fired BEGIN UPDATE fired SET x = myf(NEW.x) WHERE id = NEW.id; END;
        """
    /// The tables of ``schema`` that only the program can write.
    private static let lost = ["checked", "computed", "filled", "keyed", "made", "partial", "sorted"]

    private func object(_ arguments: String...) async throws -> [String: Any] {
        let outcome = try await Tool.run([Tool.path] + arguments + ["--json"])
        return try #require(
            try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any], "\(outcome)")
    }

    @Test("init, status, verify and the metrics of both sides name such tables, and the others replicate")
    func named() async throws {
        let (a, b) = (workspace.path("a.sqlite"), workspace.path("b.sqlite"))
        for path in [a, b] {
            try execute(path, OwnProgramTests.schema)
            let before = try workspace.snapshot()
            let refused = try await Tool.run("init", path)
            #expect(refused.status == 1 && refused.output.contains("keyed"), "\(refused)")
            #expect(try workspace.snapshot() == before)
            let outcome = try await object("init", path, "--accept")
            let untracked = try #require(outcome["untracked"] as? [[String: String]])
            #expect(untracked.compactMap { $0["table"] } == OwnProgramTests.lost)
            #expect(untracked.allSatisfy { $0["cause"] == "needs_program" })
            let missing = Set(untracked.compactMap { $0["reason"]?.split(separator: ": ", maxSplits: 1).last })
            #expect(missing == ["unknown function: myf()", "no such collation sequence: mycoll"])
        }
        try execute(
            a,
            """
            INSERT INTO plain VALUES ('p', 1);
            INSERT INTO fired VALUES ('f', 1);
            INSERT INTO checked VALUES ('c', 1);
            INSERT INTO keyed VALUES ('k', 1);
            """)
        let exchanged = try await Tool.run("sync", a, b)
        #expect(exchanged.status == 0, "\(exchanged)")
        for path in [a, b] {
            #expect(try workspace.value(path, "SELECT count(*) FROM plain", as: Int.self) == 1)
            let status = try await object("status", path)
            let tables = (status["tables"] as? [[String: Any]])?.compactMap { $0["name"] as? String }
            #expect(tables == ["fired", "plain"])
            let untracked = try #require(status["untracked"] as? [[String: String]])
            #expect(untracked.compactMap { $0["table"] } == OwnProgramTests.lost)
            #expect(try await Tool.run("status", path).output.contains("untracked  keyed"))
        }
        let verified = try await Tool.run("verify", a, b)
        #expect(verified.status == 3, "\(verified)")
        #expect(verified.lines.last == "Equal in 2 tables; 7 not replicated.", "\(verified)")
        let report = try await object("verify", a, b)
        #expect(report["equal"] as? Bool == true && report["complete"] as? Bool == false)
        #expect((report["not_replicated"] as? [[String: String]])?.compactMap { $0["table"] } == OwnProgramTests.lost)
        let daemon = try await DaemonProcess.start(b)
        let metrics = try await RawHTTP.request("GET", "/metrics", port: daemon.port).body
        #expect(metrics.contains(#"tandem_untracked_tables{cause="needs_program"} 7"#), "\(metrics)")
        #expect(metrics.contains("tandem_tables 2"), "\(metrics)")
        #expect(try await RawHTTP.request("GET", "/tables", port: daemon.port).body.contains("Not replicated"))
        #expect(await daemon.stop().status == 0)
    }

    @Test("a function with side effects in a schema is never called, and stops no other table")
    func sideEffects() async throws {
        let (a, b) = (workspace.path("a.sqlite"), workspace.path("b.sqlite"))
        for path in [a, b] {
            try execute(
                path,
                """
                CREATE TABLE plain (id TEXT PRIMARY KEY, x);
                CREATE TABLE checked (id TEXT PRIMARY KEY, x);
                CREATE TABLE filled (id TEXT PRIMARY KEY, x);
                """)
        }
        try execute(
            b,
            """
            PRAGMA writable_schema = ON;
            UPDATE sqlite_master SET sql = 'CREATE TABLE checked (id TEXT PRIMARY KEY, x CHECK (load_extension(x) IS NULL))'
            WHERE name = 'checked';
            UPDATE sqlite_master SET sql = 'CREATE TABLE filled (id TEXT PRIMARY KEY, x DEFAULT (load_extension(1)))'
            WHERE name = 'filled';
            """)
        #expect(try await Tool.run("init", a).status == 0)
        let outcome = try await Tool.run("init", b, "--accept")
        #expect(outcome.status == 0 && outcome.output.contains("unsafe use of load_extension()"), "\(outcome)")
        try execute(
            a,
            """
            INSERT INTO plain VALUES ('p', 1);
            INSERT INTO checked VALUES ('c', '/no/such/library');
            INSERT INTO filled VALUES ('f', 1);
            """)
        let exchanged = try await Tool.run("sync", a, b)
        #expect(exchanged.status == 0, "\(exchanged)")
        #expect(try workspace.value(b, "SELECT count(*) FROM plain", as: Int.self) == 1)
        #expect(try workspace.value(b, "SELECT count(*) FROM checked", as: Int.self) == 0)
        #expect(try await Tool.run("held", b).output.contains("not authorized"))
    }

    @Test("a row on which a function of an index fails is held, and the rows after it arrive")
    func failingFunction() async throws {
        let (a, b) = (workspace.path("a.sqlite"), workspace.path("b.sqlite"))
        for path in [a, b] { try execute(path, "CREATE TABLE doc (id TEXT PRIMARY KEY, body TEXT)") }
        try execute(b, "CREATE INDEX doc_title ON doc (json_extract(body, '$.title'))")
        for path in [a, b] { #expect(try await Tool.run("init", path).status == 0) }
        try execute(
            a, "INSERT INTO doc VALUES ('a', '{}'), ('b', 'no JSON'), ('c', '{\"title\": 1}'), ('d', NULL), ('e', '[]')"
        )
        for _ in 0..<2 {
            let outcome = try await Tool.run("sync", a, b)
            #expect(outcome.status == 0, "\(outcome)")
        }
        #expect(try workspace.value(b, "SELECT group_concat(id, '') FROM doc", as: String.self) == "acde")
        #expect(try await Tool.run("held", b).output.contains("malformed JSON"))
        try execute(a, "UPDATE doc SET body = '{}' WHERE id = 'b'")
        #expect(try await Tool.run("sync", a, b).status == 0)
        #expect(try await Tool.run("verify", a, b).status == 0)
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
        for path in [a, b] { #expect(try await Tool.run("init", path, "--exclude", "loose").status == 0) }
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
