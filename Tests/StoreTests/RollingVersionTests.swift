import Foundation
import Journal
import Store
import Sync
import TestSupport
import Testing

@Suite("Versions of a schema on machines that are upgraded one after the other")
struct RollingVersionTests {
    /// A machine whose program is replaced by newer releases.
    private final class Machine {
        private let path: String
        private var db: Store.Database?
        private var fixture: ReplicaFixture?

        init(_ path: String) { self.path = path }

        /// Starts the release that knows the first `count` of `versions`.
        func start(
            _ versions: [String], _ count: Int, _ models: (inout SchemaBuilder) -> Void = { _ in }
        ) throws {
            try stop()
            db = try Store.Database(path: path, options: TestDatabase.options) { schema in
                for (index, sql) in versions.prefix(count).enumerated() {
                    schema.version(index + 1) { step in
                        for statement in sql.split(separator: ";") { try step.execute(SQL(raw: String(statement))) }
                    }
                }
                models(&schema)
            }
            fixture = try ReplicaFixture(.open(at: path))
        }

        func stop() throws {
            try fixture?.close()
            try db?.close()
        }

        func run(_ sql: String) throws { try fixture?.execute(sql) }
        func rows(_ sql: String) throws -> [String] { try fixture?.text(sql) ?? [] }

        func pull(from other: Machine) throws {
            guard let source = other.fixture else { return }
            try fixture?.pull(from: source)
            try fixture?.inbox.bringBackHeldRows()
        }

        func conflicts() throws -> Int {
            try fixture?.replica.read { try ConflictEntry.all($0).count } ?? 0
        }
    }

    private func fleet(_ versions: [String], _ body: (Machine, Machine, () throws -> Void) throws -> Void) throws {
        let directory = TemporaryDirectory()
        let (a, b) = (Machine(directory.file("a.sqlite")), Machine(directory.file("b.sqlite")))
        for machine in [a, b] { try machine.start(versions, 1) }
        func exchange() throws {
            for _ in 0..<2 {
                try a.pull(from: b)
                try b.pull(from: a)
            }
        }
        try body(a, b, exchange)
        for machine in [a, b] { try machine.stop() }
    }

    private static let item = "CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT)"

    @Test(
        "a version that rewrites a column runs once for all machines, and takes no edit away",
        arguments: ["", "ALTER TABLE item ADD COLUMN note TEXT;"])
    func rewrittenColumn(schemaChange: String) throws {
        let cents = [
            "CREATE TABLE item (id INTEGER PRIMARY KEY, price INTEGER); INSERT INTO item VALUES (1, 5), (2, 7)",
            schemaChange + "UPDATE item SET price = price * 100",
        ]
        try fleet(cents) { a, b, exchange in
            try exchange()
            try b.run("UPDATE item SET price = 6 WHERE id = 1")
            try a.start(cents, 2)
            try exchange()
            #expect(try a.rows("SELECT price FROM item ORDER BY id") == ["6", "700"])
            try b.start(cents, 2)
            try exchange()
            for machine in [a, b] {
                #expect(try machine.rows("SELECT price FROM item ORDER BY id") == ["600", "700"])
                #expect(try machine.conflicts() == 0)
            }
        }
    }

    @Test(
        "a column that a version adds and fills: edits in between stand, also in rows that the other machine has filled"
    )
    func addedColumn() throws {
        let versions = [Self.item, "ALTER TABLE item ADD COLUMN state TEXT; UPDATE item SET state = 'filled ' || id"]
        try fleet(versions) { a, b, exchange in
            try a.run("INSERT INTO item VALUES (1, 'x'), (2, 'y')")
            try exchange()
            try a.start(versions, 2)
            try a.run("UPDATE item SET state = 'edited' WHERE id = 1; INSERT INTO item VALUES (3, 'z', 'written')")
            try exchange()
            try b.start(versions, 2)
            try exchange()
            for machine in [a, b] {
                #expect(
                    try machine.rows("SELECT id || ' ' || state FROM item ORDER BY id")
                        == ["1 edited", "2 filled 2", "3 written"])
                #expect(try machine.conflicts() == 0)
            }
        }
    }

    @Test("a table that a version rebuilds: edits in between stand, and rows that it drops are deleted everywhere")
    func rebuiltTable() throws {
        let rebuild = """
            CREATE TABLE item_new (id INTEGER PRIMARY KEY, name TEXT, size INTEGER NOT NULL DEFAULT 0);
            INSERT INTO item_new (id, name) SELECT id, name FROM item WHERE id <> 3;
            DROP TABLE item;
            ALTER TABLE item_new RENAME TO item
            """
        let versions = [Self.item, rebuild]
        try fleet(versions) { a, b, exchange in
            try a.run("INSERT INTO item VALUES (1, 'x'), (2, 'y'), (3, 'z')")
            try exchange()
            try a.start(versions, 2)
            try exchange()
            try a.run("UPDATE item SET name = 'edited', size = 5 WHERE id = 1")
            try b.run("UPDATE item SET name = 'here' WHERE id = 2")
            try exchange()
            try b.start(versions, 2)
            try exchange()
            for machine in [a, b] {
                #expect(
                    try machine.rows("SELECT id || ' ' || name || ' ' || size FROM item ORDER BY id")
                        == ["1 edited 5", "2 here 0"])
                #expect(try machine.rows("SELECT name FROM _journal_tables WHERE name LIKE 'item_%'") == [])
                #expect(try machine.conflicts() == 0)
            }
        }
    }

    @Test("seed rows of a version: an edit and a delete in between stand")
    func seeds() throws {
        let versions = [
            Self.item,
            "CREATE TABLE team (id INTEGER PRIMARY KEY, name TEXT); INSERT INTO team VALUES (1, 'x'), (2, 'y')",
        ]
        try fleet(versions) { a, b, exchange in
            try a.start(versions, 2)
            try a.run("UPDATE team SET name = 'edited' WHERE id = 1; DELETE FROM team WHERE id = 2")
            try exchange()
            try b.start(versions, 2)
            try exchange()
            for machine in [a, b] { #expect(try machine.rows("SELECT id || ' ' || name FROM team") == ["1 edited"]) }
        }
    }

    @Model(table: "account") final class Account {
        var id: UUID
        var email: String = ""
        var name: String = "nobody"
    }

    @Test("an automatic schema after versions gives an upgraded and a new machine one schema, and they become equal")
    func automaticAfterVersions() throws {
        let account = """
            CREATE TABLE account (id TEXT PRIMARY KEY NOT NULL, email TEXT NOT NULL COLLATE NOCASE UNIQUE,
              name TEXT NOT NULL DEFAULT 'nobody' CHECK (name <> ''), boss TEXT REFERENCES account (id))
            """
        let directory = TemporaryDirectory()
        let (upgraded, new) = (Machine(directory.file("a.sqlite")), Machine(directory.file("b.sqlite")))
        try upgraded.start([account], 1)
        try upgraded.run("INSERT INTO account (id, email) VALUES ('0', 'old@x')")
        for machine in [upgraded, new] { try machine.start([account], 1) { $0.automatic(Account.self) } }
        let schemas = try [upgraded, new].map {
            try $0.rows("SELECT name || coalesce(sql, '') FROM sqlite_master WHERE tbl_name = 'account' ORDER BY name")
        }
        #expect(schemas[0] == schemas[1])
        #expect(schemas[0].contains { $0.hasSuffix(account) })
        try upgraded.run("INSERT INTO account (id, email, name) VALUES ('1', 'ann@x', 'Ann')")
        try new.run("INSERT INTO account (id, email, name) VALUES ('2', 'ANN@x', 'Anna')")
        for _ in 0..<2 {
            try upgraded.pull(from: new)
            try new.pull(from: upgraded)
        }
        let rows = try [upgraded, new].map { try $0.rows("SELECT id || email || name FROM account ORDER BY id") }
        #expect(rows[0] == rows[1])
        #expect(rows[0].count == 2 && rows[0].contains("0old@xnobody"))
        for machine in [upgraded, new] { #expect(try machine.rows("SELECT count(*) FROM _journal_held") == ["1"]) }
        for machine in [upgraded, new] { try machine.stop() }
    }
}
