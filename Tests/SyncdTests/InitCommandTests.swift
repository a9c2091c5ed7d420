import Foundation
import TestSupport
import Testing

@Suite("The report of init on tables and views")
struct InitCommandTests {
    let workspace = Workspace()

    private func makeDatabase() throws -> String {
        let path = workspace.path("a.sqlite")
        try workspace.execute(
            path,
            """
            CREATE TABLE person (id TEXT PRIMARY KEY NOT NULL, name TEXT);
            INSERT INTO person VALUES ('p1', 'a'), ('p2', 'b');
            CREATE TABLE loose (what TEXT);
            CREATE VIEW adults AS SELECT * FROM person;
            CREATE VIRTUAL TABLE search USING fts5 (body);
            CREATE TABLE _journal_notes (id TEXT PRIMARY KEY NOT NULL);
            """)
        return path
    }

    private func object(_ outcome: Outcome) throws -> [String: Any] {
        try #require(
            try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any], "\(outcome)")
    }

    @Test("views, virtual tables with their shadow tables, and Tandem's own names are not tracked, with the reason")
    func text() async throws {
        let path = try makeDatabase()
        // The journal exists at the second call, which does not list its tables.
        for arguments in [["--accept"], []] {
            let outcome = try await Tool.run([Tool.path, "init", path] + arguments)
            #expect(outcome.status == 0, "\(outcome)")
            let start = try #require(outcome.lines.firstIndex(of: "Not tracked:"))
            let lines = outcome.lines[(start + 1)...].prefix { $0.hasPrefix("  ") }.map {
                $0.split(separator: " ", maxSplits: 1).map(String.init)
            }
            let reasons = Dictionary(lines.map { ($0[0], $0[1]) }, uniquingKeysWith: { first, _ in first })
            #expect(
                Set(reasons.keys) == [
                    "loose", "adults", "search", "search_data", "search_idx", "search_content", "search_docsize",
                    "search_config", "_journal_notes",
                ], "\(outcome)")
            #expect(reasons["loose"]?.contains("primary key") == true)
            #expect(reasons["adults"]?.contains("view") == true)
            #expect(reasons["search"]?.contains("virtual table") == true)
            #expect(reasons["search_data"]?.contains("of the virtual table search") == true)
            #expect(reasons["_journal_notes"]?.contains("Tandem's own") == true)
            #expect(outcome.lines.contains("1 table is tracked:"))
        }
    }

    @Test("init says that it sets WAL, when the file was not in WAL mode")
    func writeAheadLog() async throws {
        let path = try makeDatabase()
        let line = "The file is in WAL mode from now on; `syncd uninit` takes it out again."
        #expect(try await Tool.run("init", path, "--accept").lines.contains(line))
        #expect(try await !Tool.run("init", path).lines.contains(line))
        try workspace.execute(path, "PRAGMA journal_mode = DELETE")
        #expect(try object(try await Tool.run("init", path, "--json"))["sets_wal"] as? Bool == true)
        #expect(try workspace.value(path, "PRAGMA journal_mode", as: String.self) == "wal")
        #expect(try object(try await Tool.run("init", path, "--json"))["sets_wal"] as? Bool == false)
    }

    @Test("--json is one object with the tracked and the untracked tables")
    func json() async throws {
        let path = try makeDatabase()
        let first = try object(
            try await Tool.run("init", path, "--json", "--cluster", "shop", "--policy", "person=row", "--accept"))
        #expect(first["cluster"] as? String == "shop" && (first["origin"] as? String)?.count == 32)
        let tracked = try #require(first["tracked"] as? [[String: Any]])
        #expect(tracked.map { $0["table"] as? String } == ["person"])
        #expect(tracked[0]["journalled_rows"] as? Int == 2 && tracked[0]["recovered_changes"] as? Int == 0)
        #expect(tracked[0]["policy"] as? String == "row" && tracked[0]["warnings"] as? [String] == [])
        let untracked = try #require(first["untracked"] as? [[String: String]])
        #expect(untracked.count == 9 && untracked.allSatisfy { $0["table"] != nil && $0["reason"] != nil })
        #expect(untracked.first { $0["table"] == "search" }?["cause"] == "virtual_table")
        let second = try object(try await Tool.run("init", path, "--json"))
        #expect(second["origin"] as? String == first["origin"] as? String)
        #expect((second["tracked"] as? [[String: Any]])?.first?["journalled_rows"] as? Int == 0)
    }

    @Test(
        "tables that can never be tracked are refused by name, with the reason",
        arguments: [
            ("--table", "adults", "it is a view"), ("--table", "SEARCH", "virtual table"),
            ("--table", "search_data", "virtual table search"), ("--table", "_journal_notes", "Tandem's own"),
        ])
    func refused(flag: String, name: String, reason: String) async throws {
        let path = try makeDatabase()
        let before = try workspace.snapshot()
        let outcome = try await Tool.run("init", path, flag, name)
        #expect(outcome.status == 1)
        #expect(outcome.errors.contains("cannot be tracked: ") && outcome.errors.contains(reason), "\(outcome)")
        #expect(outcome.errors.contains("\nHint: "), "\(outcome)")
        #expect(try workspace.snapshot() == before)
    }

    @Test("--references declares what no foreign key says, and names that are wrong leave the file unchanged")
    func references() async throws {
        let path = workspace.path("a.sqlite")
        try workspace.execute(
            path,
            """
            CREATE TABLE user (id INTEGER PRIMARY KEY, name TEXT); CREATE TABLE word (w TEXT PRIMARY KEY NOT NULL);
            CREATE TABLE note (id INTEGER PRIMARY KEY, user_id INTEGER, word_id INTEGER REFERENCES user(id));
            """)
        let before = try workspace.snapshot()
        for (argument, reason) in [
            ("nothing.user_id=user", "no table"), ("note.nothing=user", "no column"), ("note.user_id=x", "no table"),
            ("note.user_id=word", "does not choose"), ("note.word_id=note", "foreign key leads to user"),
        ] {
            let outcome = try await Tool.run("init", path, "--references", argument)
            #expect(outcome.status == 1 && outcome.errors.contains(reason), "\(outcome)")
            #expect(outcome.errors.contains("Hint: "), "\(outcome)")
        }
        #expect(try workspace.snapshot() == before)
        let declared = try await Tool.run("init", path, "--references", "NOTE.User_id=user")
        #expect(declared.lines.contains("Declared references: NOTE.User_id to user."), "\(declared)")
        let again = try object(try await Tool.run("init", path, "--json"))
        #expect((again["references"] as? [[String: String]])?.map { $0["parent"] } == ["user"])
        let without = try object(try await Tool.run("init", path, "--json", "--references", "note.user_id="))
        #expect((without["references"] as? [Any])?.isEmpty == true)
    }

    @Test("a file without a trackable table is reported as such")
    func nothing() async throws {
        let path = workspace.path("a.sqlite")
        try workspace.execute(path, "CREATE TABLE loose (what TEXT)")
        let outcome = try await Tool.run("init", path, "--exclude", "loose")
        #expect(outcome.status == 0 && outcome.lines.contains("No table is tracked."), "\(outcome)")
        #expect(outcome.lines.contains { $0.contains("loose") && $0.contains("excluded") }, "\(outcome)")
    }

    @Test("--exclude also takes what cannot be tracked, which says that it is meant to stay local")
    func excluded() async throws {
        let path = try makeDatabase()
        let outcome = try await Tool.run(
            "init", path, "--exclude", "loose", "--exclude", "SEARCH", "--exclude", "_journal_notes")
        #expect(outcome.status == 0, "\(outcome)")
        let check = try await Tool.run("check", path)
        #expect(check.status == 0 && check.lines.count == 1, "\(check)")
    }

    @Test("rows without a parent, which the first exchange takes out of their table, are announced")
    func orphans() async throws {
        let path = workspace.path("a.sqlite")
        // With foreign keys off, which is SQLite's default.
        try RawConnection(path: path).run(
            """
            CREATE TABLE album (id INTEGER PRIMARY KEY);
            CREATE TABLE track (id TEXT PRIMARY KEY, album REFERENCES album, disc REFERENCES disc, x REFERENCES loose(y));
            CREATE TABLE loose (id INTEGER PRIMARY KEY, y);
            CREATE TABLE song (id TEXT PRIMARY KEY, album REFERENCES album, disc REFERENCES disc);
            INSERT INTO album VALUES (1);
            INSERT INTO track VALUES ('a', 7, 9, 9);
            INSERT INTO song VALUES ('a', 1, 9), ('b', 7, 9), ('c', 8, NULL), ('d', NULL, NULL);
            """)
        let before = try workspace.snapshot()
        let refused = try await Tool.run("init", path, "--foreign-keys", "enforce")
        #expect(refused.status == 1 && refused.errors.contains("--accept"), "\(refused)")
        #expect(try workspace.snapshot() == before)
        let outcome = try await Tool.run("init", path, "--foreign-keys", "enforce", "--accept")
        #expect(outcome.status == 0)
        let warnings = outcome.lines.filter { $0.contains("lead to no row") }
        #expect(warnings.count == 1 && warnings[0].hasPrefix("Warning: 2 foreign keys"), "\(outcome)")
        #expect(warnings.first?.contains(": song (2). ") == true, "\(outcome)")
        #expect(outcome.output.contains("are held until it is there (enforce)"), "\(outcome)")
    }

    @Test("a new replica keeps rows without a parent where they are, and asks for nothing; the rule can be changed")
    func keep() async throws {
        let (a, b) = (workspace.path("a.sqlite"), workspace.path("b.sqlite"))
        let schema = """
            CREATE TABLE album (id INTEGER PRIMARY KEY);
            CREATE TABLE song (id TEXT PRIMARY KEY NOT NULL, album REFERENCES album);
            """
        try RawConnection(path: a).run(schema + "INSERT INTO song VALUES ('a', 7)")
        try RawConnection(path: b).run(schema)
        let made = try await Tool.run("init", a)
        #expect(made.status == 0 && made.output.contains("stay visible (keep)"), "\(made)")
        #expect(made.lines.contains { $0.hasPrefix("Note: 1 foreign key leads to no row") }, "\(made)")
        #expect(try object(try await Tool.run("init", b, "--json"))["foreign_keys"] as? String == "keep")
        try RawConnection(path: b).run("INSERT INTO song VALUES ('b', 8)")
        #expect(try await Tool.run("sync", a, b).status == 0)
        for path in [a, b] {
            #expect(try workspace.value(path, "SELECT count(*) FROM song", as: Int.self) == 2)
            #expect(try await Tool.run("held", path).output == "Nothing is held.\n")
        }
        #expect(try await Tool.run("verify", a, b).status == 0)
        #expect(try await Tool.run("status", a).output.contains("orphans"), "status names the rule")
        for path in [a, b] { #expect(try await Tool.run("init", path, "--foreign-keys", "enforce").status == 0) }
        #expect(try await Tool.run("sync", a, b).status == 0)
        for path in [a, b] {
            #expect(try workspace.value(path, "SELECT count(*) FROM song", as: Int.self) == 0)
            #expect(try await Tool.run("init", path).output.contains("(enforce)"))
        }
        #expect(try await Tool.run("init", a, "--foreign-keys", "perhaps").status == 64)
    }
}
