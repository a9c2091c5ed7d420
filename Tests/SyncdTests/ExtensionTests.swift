import Foundation
import Journal
import TestSupport
import Testing

/// Property: with the library that a program loads, `syncd` is as able as the program.
@Suite("Extensions of SQLite")
struct ExtensionTests {
    private let workspace = Workspace()
    private var a: String { workspace.path("a.sqlite") }
    private var b: String { workspace.path("b.sqlite") }
    private var library: String { workspace.path("program.so") }

    /// A collation that orders backwards, and two functions that return what they get.
    private static let source = """
        #include <sqlite3ext.h>
        SQLITE_EXTENSION_INIT1
        static void same(sqlite3_context *context, int count, sqlite3_value **values) {
          (void)count;
          sqlite3_result_value(context, values[0]);
        }
        static int backwards(void *context, int count_a, const void *a, int count_b, const void *b) {
          (void)context;
          int order = __builtin_memcmp(a, b, count_a < count_b ? count_a : count_b);
          return order ? -order : count_b - count_a;
        }
        int sqlite3_extension_init(sqlite3 *db, char **error, const sqlite3_api_routines *api) {
          (void)error;
          SQLITE_EXTENSION_INIT2(api);
          sqlite3_create_collation(db, "backwards", SQLITE_UTF8, 0, backwards);
          sqlite3_create_function(db, "ST_MinX", 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC, 0, same, 0, 0);
          sqlite3_create_function(db, "same", 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC, 0, same, 0, 0);
          return SQLITE_OK;
        }
        """
    private static let schema = """
        CREATE TABLE word (k TEXT COLLATE backwards PRIMARY KEY, x CHECK (same(x) > 0)) WITHOUT ROWID;
        CREATE TABLE place (id INTEGER PRIMARY KEY, x);
        CREATE VIRTUAL TABLE place_index USING rtree(id, least, most);
        CREATE TRIGGER place_ai AFTER INSERT ON place BEGIN
          INSERT INTO place_index VALUES (NEW.id, ST_MinX(NEW.x), ST_MinX(NEW.x));
        END;
        """

    /// Finds a compiler of C: Swift's, which need not be in the path, or another one.
    private static let compile = """
        for c in "$(dirname "$(readlink -f "$(command -v swift)")")/clang" clang cc gcc; do
          command -v "$c" > /dev/null && exec "$c" -shared -fPIC -o "$1" "$2"
        done
        echo "no compiler of C"; exit 1
        """

    /// Builds the library.
    private func build() async throws {
        let source = try workspace.write(ExtensionTests.source, to: "program.c")
        let outcome = try await Tool.run(["/bin/sh", "-c", ExtensionTests.compile, "sh", library, source])
        #expect(outcome.status == 0, "\(outcome)")
    }

    /// Runs SQL in the program.
    @discardableResult
    private func execute(_ path: String, _ sql: String) async throws -> [String] {
        let outcome = try await Tool.run(["/usr/bin/env", "sqlite3", "-cmd", ".load \(library)", path, sql])
        #expect(outcome.status == 0, "\(outcome)")
        return outcome.lines
    }

    private func pair() async throws {
        try await build()
        for path in [a, b] {
            try await execute(path, ExtensionTests.schema)
            let outcome = try await Tool.run("init", path, "--extension", library)
            #expect(outcome.status == 0 && outcome.output.contains("2 tables are tracked"), "\(outcome)")
        }
    }

    @Test("what a program's functions and collations guard replicates, and its spatial index follows")
    func exchanged() async throws {
        try await pair()
        try await execute(
            a, "INSERT INTO word VALUES ('a', 1), ('b', 2), ('c', 3); INSERT INTO place (x) VALUES (2.5), (3.5)")
        #expect(try await Tool.run("sync", a, b, "--extension", library).status == 0)
        #expect(
            try await execute(b, "SELECT k FROM word ORDER BY k; SELECT least FROM place_index") == [
                "c", "b", "a", "2.5", "3.5",
            ])
        #expect(try await execute(b, "PRAGMA integrity_check") == ["ok"])
        #expect(try await Tool.run("verify", a, b, "--extension", library).status == 0)
        let without = try await Tool.run("verify", a, b)
        #expect(without.status == 3 && without.output.contains("1 not compared"), "\(without)")
    }

    @Test("without it, the table waits and nothing is lost; the daemon's configuration names it")
    func daemon() async throws {
        try await pair()
        try await execute(a, "INSERT INTO word VALUES ('a', 1)")
        #expect(try await Tool.run("sync", a, b).status == 0)
        #expect(try await execute(b, "SELECT count(*) FROM word") == ["0"])
        let config = try workspace.write(
            "database: b.sqlite\nlisten: 127.0.0.1:0\nextension:\n  - ./program.so\n", to: "b.yaml")
        #expect(try await Tool.run("config", "check", config).status == 0)
        let daemon = try await DaemonProcess.start(configuration: config, environment: [:])
        try await execute(a, "INSERT INTO word VALUES ('b', 2)")
        #expect(try await Tool.run("sync", a, daemon.url).status == 0)
        #expect(try await execute(b, "SELECT k FROM word ORDER BY k") == ["b", "a"])
        #expect(await daemon.stop().status == 0)
    }

    @Test("a library that is none is one sentence with the reason, and changes nothing")
    func refused() async throws {
        try await build()
        try await execute(a, ExtensionTests.schema)
        let before = try workspace.snapshot()
        for path in ["./no-such.so", workspace.path("program.c")] {
            for command in ["init", "check", "status"] {
                let outcome = try await Tool.run(command, a, "--extension", path)
                #expect(
                    outcome.status == 1 && outcome.errors.contains("The extension \(path) cannot be loaded: ")
                        && outcome.errors.contains("Hint: "), "\(outcome)")
            }
        }
        #expect(try workspace.snapshot() == before)
        let replica = try await workspace.makeReplica("c.sqlite")
        let outcome = try await Tool.run("run", replica, "--listen", "127.0.0.1:0", "--extension", "./no-such.so")
        #expect(outcome.status == 1 && outcome.errors.contains("./no-such.so cannot be read"), "\(outcome)")
    }
}
