import Foundation
import TestSupport
import Testing

@Suite("check says what would not replicate, one line for each kind, and touches nothing")
struct CheckCommandTests {
    private let workspace = Workspace()

    @Test("a file with everything that can be found has a line for each kind, however many tables there are")
    func everything() async throws {
        let path = workspace.path("a.sqlite")
        let many = (1...30).map { number in
            """
            CREATE TABLE loose\(number) (what TEXT);
            CREATE TABLE minted\(number) (id INTEGER PRIMARY KEY, x);
            CREATE VIRTUAL TABLE words\(number) USING fts5 (body);
            CREATE TABLE named\(number) (k TEXT PRIMARY KEY, x);
            INSERT INTO named\(number) VALUES (NULL, 1), (NULL, 2);
            CREATE TABLE child\(number) (id TEXT PRIMARY KEY NOT NULL, parent REFERENCES minted\(number));
            INSERT INTO child\(number) VALUES ('c', 7), ('d', 8), ('e', 9);
            """
        }
        try RawConnection(path: path).run(
            many.joined() + """
                CREATE TABLE wide (id TEXT PRIMARY KEY, \((1...1_990).map { "c\($0)" }.joined(separator: ", ")));
                CREATE TABLE _journal_notes (id TEXT PRIMARY KEY NOT NULL);
                CREATE TABLE django_migrations (id INTEGER PRIMARY KEY);
                CREATE VIEW everybody AS SELECT * FROM minted1;
                CREATE TABLE post (id TEXT PRIMARY KEY, body TEXT);
                CREATE VIRTUAL TABLE post_index USING fts5 (body, content = 'post', content_rowid = 'rowid');
                """)
        let before = try workspace.snapshot()
        let outcome = try await Tool.run("check", path)
        #expect(outcome.status == 3 && outcome.errors.isEmpty, "\(outcome)")
        #expect(outcome.lines.count <= 20)
        func line(_ words: String) -> String { outcome.lines.first { $0.contains(words) } ?? "" }
        #expect(
            line("no primary key").hasPrefix(
                "Warning: 30 tables have no primary key and do not replicate: loose1, loose10, loose11, loose12, loose13 and 25 more. "
            ), "\(outcome)")
        #expect(line("virtual tables").hasPrefix("Warning: 30 virtual tables"), "\(outcome)")
        #expect(line("NULL").hasPrefix("Warning: 60 rows have NULL"), "\(outcome)")
        #expect(line("lead to no row").hasPrefix("Note: 90 foreign keys"), "\(outcome)")
        let enforced = try await Tool.run("check", path, "--foreign-keys", "enforce")
        #expect(enforced.output.contains("Warning: 90 foreign keys lead to no row"), "\(enforced)")
        #expect(line("SQLite generates").hasPrefix("Note: SQLite generates the keys of 30 tables"), "\(outcome)")
        #expect(line("migration tool").hasPrefix("Note: 1 table notes"), "\(outcome)")
        #expect(line("Tandem's own").hasPrefix("Warning: 1 table has a name"), "\(outcome)")
        #expect(!outcome.output.contains("post_index") && !outcome.output.contains("everybody"), "\(outcome)")
        #expect(try workspace.snapshot() == before)
    }

    @Test("full-text indexes that triggers keep are named, and those whose triggers need their program")
    func indexes() async throws {
        let path = workspace.path("a.sqlite")
        try RawConnection(path: path).run(
            """
            CREATE TABLE post (id TEXT PRIMARY KEY NOT NULL, body TEXT); CREATE VIRTUAL TABLE words USING fts5 (body);
            CREATE TRIGGER a AFTER INSERT ON post BEGIN INSERT INTO words (rowid, body) VALUES (new.rowid, new.body); END;
            CREATE TABLE place (id TEXT PRIMARY KEY NOT NULL, x); CREATE VIRTUAL TABLE box USING rtree (id, x0, x1);
            CREATE TRIGGER b AFTER INSERT ON place BEGIN
              INSERT INTO box VALUES (new.rowid, st_minx(new.x), st_maxx(new.x)); END;
            """)
        let before = try workspace.snapshot()
        let outcome = try await Tool.run("check", path)
        #expect(outcome.status == 0, "\(outcome)")
        #expect(outcome.lines.contains { $0.contains("also gets what peers write: words.") }, "\(outcome)")
        #expect(outcome.lines.contains { $0.contains("lacks what peers write") && $0.contains(": box.") }, "\(outcome)")
        #expect(try workspace.snapshot() == before)
    }

    @Test("--json has every table, with its number of rows, and what asks for --accept")
    func json() async throws {
        let path = workspace.path("a.sqlite")
        try workspace.execute(
            path,
            """
            CREATE TABLE loose (what TEXT);
            CREATE TABLE named (k TEXT PRIMARY KEY, x);
            INSERT INTO named VALUES (NULL, 1);
            CREATE TABLE minted (id INTEGER PRIMARY KEY);
            """)
        let outcome = try await Tool.run("check", path, "--json")
        #expect(outcome.status == 3 && outcome.lines.count == 1, "\(outcome)")
        let object = try #require(try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any])
        #expect(object["replica"] as? Bool == false && object["accept"] as? Bool == true)
        #expect(object["tracked"] as? [String] == ["minted", "named"])
        let findings = try #require(object["findings"] as? [[String: Any]])
        #expect(findings.map { $0["kind"] as? String } == ["no_primary_key", "rows_without_key", "minted_keys"])
        #expect(findings.map { $0["accept"] as? Bool } == [true, true, false])
        let tables = findings.compactMap { ($0["tables"] as? [[String: Any]])?.first }
        #expect(tables.map { $0["table"] as? String } == ["loose", "named", "minted"])
        #expect(tables[1]["count"] as? Int == 1 && tables[0]["count"] is NSNull)
        #expect(findings.allSatisfy { ($0["remedy"] as? String)?.isEmpty == false })
    }

    @Test("a file of which every row replicates needs no word, and init asks nothing", arguments: [[], ["--json"]])
    func nothing(arguments: [String]) async throws {
        let path = try workspace.makeDatabase()
        let checked = try await Tool.run([Tool.path, "check", path, "--exclude", "loose"] + arguments)
        #expect(checked.status == 0 && checked.lines.count == 1, "\(checked)")
        let outcome = try await Tool.run([Tool.path, "init", path, "--exclude", "loose"] + arguments)
        #expect(outcome.status == 0 && !outcome.output.contains("Warning"), "\(outcome)")
        #expect(try await Tool.run([Tool.path, "check", path] + arguments).status == 0)
    }
}
