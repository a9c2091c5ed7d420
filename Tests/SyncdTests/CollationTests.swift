import Foundation
import GRDB
import TestSupport
import Testing

/// Properties: a table whose text is compared by its program's own collation replicates once the collation is mapped
/// to a known one, and no merge puts a row where the program does not find it.
@Suite("Tables with a collation of their program")
struct CollationTests {
    private let workspace = Workspace()
    private var a: String { workspace.path("a.sqlite") }
    private var b: String { workspace.path("b.sqlite") }

    private static let schema = """
        CREATE TABLE deck (id INTEGER PRIMARY KEY, name TEXT NOT NULL COLLATE unicase, note TEXT);
        CREATE UNIQUE INDEX deck_name ON deck (name);
        CREATE TABLE tag (tag TEXT COLLATE unicase PRIMARY KEY, count INTEGER) WITHOUT ROWID;
        """

    /// A connection of the program, which has a collation that folds the case of all letters.
    private func program<T>(_ path: String, _ body: (Database) throws -> T) throws -> T {
        var configuration = Configuration()
        configuration.busyMode = .timeout(10)
        configuration.prepareDatabase { db in
            for name in ["unicase", "b_unicase"] {
                db.add(
                    collation: DatabaseCollation(name) { a, b in
                        let (a, b) = (
                            a.folding(options: .caseInsensitive, locale: nil),
                            b.folding(options: .caseInsensitive, locale: nil)
                        )
                        return a == b
                            ? .orderedSame
                            : Array(a.utf8).lexicographicallyPrecedes(Array(b.utf8))
                                ? .orderedAscending : .orderedDescending
                    })
            }
        }
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        defer { try? queue.close() }
        return try queue.writeWithoutTransaction(body)
    }

    private func execute(_ path: String, _ sql: String) throws { try program(path) { try $0.execute(sql: sql) } }

    private func texts(_ path: String, _ sql: String) throws -> [String] {
        try program(path) { try String.fetchAll($0, sql: sql) }
    }

    /// Both files with the schema, as replicas, with the collation mapped.
    private func pair(as known: String) async throws {
        for path in [a, b] {
            try execute(path, CollationTests.schema)
            let outcome = try await Tool.run("init", path, "--collation", "unicase=\(known)")
            #expect(outcome.status == 0 && outcome.output.contains("unicase as \(known)"), "\(outcome)")
        }
    }

    private func exchange() async throws {
        for _ in 0..<2 {
            let outcome = try await Tool.run("sync", a, b)
            #expect(outcome.status == 0, "\(outcome)")
        }
        for path in [a, b] { #expect(try texts(path, "PRAGMA integrity_check") == ["ok"]) }
    }

    @Test("replicate when it is mapped to NOCASE, by every index and key", arguments: ["nocase", "unicode"])
    func mapped(known: String) async throws {
        try await pair(as: known)
        try execute(
            a, "INSERT INTO deck (name) VALUES ('Default'), ('alpha'), ('Zulu'); INSERT INTO tag VALUES ('Foo', 1)")
        try await exchange()
        #expect(try texts(b, "SELECT name FROM deck WHERE name = 'ZULU'") == ["Zulu"])
        try execute(b, "UPDATE tag SET count = 2 WHERE tag = 'foo'; INSERT INTO tag VALUES ('bar', 0)")
        try execute(a, "INSERT INTO tag VALUES ('BAR', 7); DELETE FROM deck WHERE name = 'ALPHA'")
        try await exchange()
        for path in [a, b] {
            #expect(try texts(path, "SELECT name FROM deck ORDER BY name") == ["Default", "Zulu"])
            #expect(try texts(path, "SELECT lower(tag) || count FROM tag ORDER BY tag") == ["bar7", "foo2"])
        }
        #expect(try await Tool.run("verify", a, b).status == 0)
    }

    @Test("`unicode` folds the case of all letters: one name in two spellings is one name on both machines")
    func unicode() async throws {
        try await pair(as: "unicode")
        try execute(
            a,
            "INSERT INTO deck (name, note) VALUES ('STRASSE', 'a'), ('Ärger', 'a'); INSERT INTO tag VALUES ('Übung', 1)"
        )
        try await exchange()
        try execute(b, "INSERT INTO deck (name, note) VALUES ('öl', 'b'); UPDATE tag SET count = 5 WHERE tag = 'ÜBUNG'")
        try execute(a, "INSERT INTO deck (name, note) VALUES ('ÖL', 'a'); DELETE FROM deck WHERE name = 'straße'")
        try await exchange()
        #expect(
            try texts(a, "SELECT name || note FROM deck ORDER BY name")
                == texts(b, "SELECT name || note FROM deck ORDER BY name"))
        #expect(try texts(b, "SELECT count(*) FROM deck WHERE name = 'Öl'") == ["1"])
        #expect(try texts(a, "SELECT tag || count FROM tag") == ["Übung5"])
        let held = try await Tool.run("held", a)
        #expect(held.output.contains("UNIQUE constraint failed: deck.name"), "\(held)")
    }

    @Test("mapped to NOCASE, a row with letters that NOCASE may order otherwise is held until a better map is declared")
    func held() async throws {
        try await pair(as: "nocase")
        try execute(a, "INSERT INTO deck (name) VALUES ('日本語'), ('Übung'), ('plain'); INSERT INTO tag VALUES ('ß', 1)")
        try await exchange()
        #expect(try texts(b, "SELECT name FROM deck ORDER BY name") == ["plain", "日本語"])
        let held = try await Tool.run("held", b)
        #expect(
            held.output.contains(
                "deck.name has letters beyond ASCII, which NOCASE may order in another way than unicase")
                && held.output.contains("2 rows are held"), "\(held)")
        #expect(try await Tool.run("verify", a, b).output.contains("only here"))
        let daemon = try await DaemonProcess.start(b)
        #expect(try await Tool.run("init", b, "--collation", "unicase=unicode").status == 0)
        #expect(try await Tool.run("init", a, "--collation", "unicase=unicode").status == 0)
        try execute(a, "UPDATE deck SET note = 'x' WHERE name = 'plain'; INSERT INTO deck (name) VALUES ('ÄH')")
        #expect(try await Tool.run("sync", a, daemon.url).status == 0)
        #expect(try texts(b, "SELECT name FROM deck ORDER BY name") == ["plain", "ÄH", "Übung", "日本語"])
        #expect(try await Tool.run("verify", a, daemon.url).status == 0)
        #expect(await daemon.stop().status == 0)
        #expect(try texts(b, "PRAGMA integrity_check") == ["ok"])
    }

    @Test("two columns under two mapped collations are watched each, whatever their names are")
    func names() async throws {
        for path in [a, b] {
            try execute(
                path,
                """
                CREATE TABLE t (id TEXT PRIMARY KEY, a TEXT COLLATE unicase, a_b TEXT);
                CREATE INDEX i ON t (a COLLATE b_unicase, a_b COLLATE unicase)
                """)
            let outcome = try await Tool.run(
                "init", path, "--collation", "unicase=nocase", "--collation", "b_unicase=nocase")
            #expect(outcome.status == 0, "\(outcome)")
        }
        try execute(a, "INSERT INTO t VALUES ('1', 'x', 'y'), ('2', 'Ä', 'y'), ('3', 'x', 'Ä')")
        #expect(try await Tool.run("sync", a, b).status == 0)
        #expect(try texts(b, "SELECT id FROM t") == ["1"])
    }

    @Test("a map that the rows refute, a name that nobody uses, and a word that nobody knows change nothing")
    func refused() async throws {
        try execute(a, CollationTests.schema)
        try execute(a, "INSERT INTO deck (name) VALUES ('b'), ('A'), ('C'), ('Ö')")
        let before = try workspace.snapshot()
        for (argument, status, text) in [
            ("unicase=binary", 1, "An index of deck is in another order, so unicase is not binary"),
            ("unicase=nocase", 1, "deck.name has letters beyond ASCII, such as \"Ö\""),
            ("nobody=nocase", 1, "No table uses a collation named nobody"),
            ("nocase=binary", 1, "nocase is a collation of SQLite itself"),
            ("unicase=swedish", 64, "unicase=swedish"), ("unicase", 64, "unicase"), ("=nocase", 64, "=nocase"),
        ] as [(String, Int32, String)] {
            let outcome = try await Tool.run("init", a, "--collation", argument)
            #expect(outcome.status == status && outcome.errors.contains(text), "\(argument): \(outcome)")
            #expect(try workspace.snapshot() == before, "\(argument)")
        }
        #expect(try await Tool.run("check", a).output.contains("--collation"))
        let check = try await Tool.run("check", a, "--collation", "unicase=unicode")
        #expect(check.status == 0 && check.output.contains("2 tables would replicate"), "\(check)")
        #expect(try workspace.snapshot() == before)
    }

    @Test("a map is kept, shown, and taken back; a backup and a clone have it")
    func life() async throws {
        try await pair(as: "unicode")
        try execute(a, "INSERT INTO tag VALUES ('Ö', 1)")
        let (copy, clone) = (workspace.path("copy.sqlite"), workspace.path("clone.sqlite"))
        #expect(try await Tool.run("backup", a, copy).status == 0)
        let restored = workspace.path("restored.sqlite")
        #expect(try await Tool.run("restore", copy, restored).status == 0)
        #expect(try await Tool.run("clone", a, clone).status == 0)
        for path in [restored, clone] {
            let outcome = try await Tool.run("init", path, "--json")
            #expect(outcome.output.contains(#""collations":[{"name":"unicase","as":"unicode"}]"#), "\(outcome)")
            #expect(try await Tool.run("verify", a, path).status == 0)
        }
        let back = try await Tool.run("init", a, "--collation", "unicase=", "--accept")
        #expect(back.status == 0 && back.output.contains("no such collation sequence: unicase"), "\(back)")
        // The program has its collation, so what it writes is captured still; only merging waits.
        try execute(a, "INSERT INTO tag VALUES ('x', 2)")
        try execute(b, "INSERT INTO tag VALUES ('y', 3)")
        #expect(try await Tool.run("sync", a, b).status == 0)
        #expect(try texts(a, "SELECT tag FROM tag ORDER BY tag") == ["x", "Ö"])
        #expect(try await Tool.run("init", a, "--collation", "unicase=unicode").status == 0)
        try await exchange()
        for path in [a, b] { #expect(try texts(path, "SELECT tag FROM tag ORDER BY tag") == ["x", "y", "Ö"]) }
    }
}
