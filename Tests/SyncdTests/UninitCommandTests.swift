import Foundation
import GRDB
import TestSupport
import Testing

@Suite("Taking Tandem out of a file")
struct UninitCommandTests {
    let workspace = Workspace()

    private static let schema = """
        CREATE TABLE person(id TEXT PRIMARY KEY NOT NULL, name TEXT UNIQUE);
        CREATE TABLE visit(id TEXT PRIMARY KEY NOT NULL, person TEXT NOT NULL REFERENCES person(id));
        CREATE TRIGGER visits AFTER DELETE ON person BEGIN DELETE FROM visit WHERE person = OLD.id; END;
        INSERT INTO person VALUES('a', 'Ann'), ('b', 'Bob'); INSERT INTO visit VALUES('v', 'a')
        """

    /// The schema and the rows, as a program sees them.
    private func dump(_ path: String) throws -> [String] {
        let queue = try DatabaseQueue(path: path)
        defer { try? queue.close() }
        return try queue.read { db in
            try ["sqlite_master", "person", "visit"].flatMap { table in
                let columns = table == "sqlite_master" ? "type, name, tbl_name, sql" : "*"
                return try Row.fetchAll(db, sql: "SELECT \(columns) FROM \(table)").map(\.description).sorted()
            } + [
                String.fetchOne(db, sql: "PRAGMA journal_mode") ?? "",
                String.fetchOne(db, sql: "PRAGMA integrity_check") ?? "",
            ]
        }
    }

    private func make(_ name: String) throws -> String {
        let path = workspace.path(name)
        try workspace.execute(path, Self.schema)
        return path
    }

    @Test("the file is as if Tandem had never been there, and can become a replica again")
    func traceless() async throws {
        let path = try make("a.sqlite")
        let before = try dump(path)
        #expect(try await Tool.run("init", path).status == 0)
        try workspace.execute(path, "INSERT INTO person VALUES('c', 'Cid'); DELETE FROM person WHERE id = 'c'")
        let outcome = try await Tool.run("uninit", path)
        #expect(outcome.status == 0, "\(outcome)")
        #expect(outcome.output.contains("no replica any more: 5 changes and"), "\(outcome)")
        #expect(outcome.output.contains("journal mode is delete"), "\(outcome)")
        #expect(try dump(path) == before)
        #expect(try workspace.snapshot().keys.sorted() == ["a.sqlite"])
        let again = try await Tool.run("uninit", path)
        #expect(again.status == 1 && again.errors.contains("There is nothing to take out"), "\(again)")
        #expect(try workspace.snapshot().keys.sorted() == ["a.sqlite"])
        #expect(try await Tool.run("init", path).status == 0)
    }

    /// What tools do that drop tables which they do not know.
    private func dropTables(_ path: String) throws {
        let names = try workspace.value(
            path,
            "SELECT group_concat('DROP TABLE ' || name, ';') FROM sqlite_master WHERE type = 'table' AND name LIKE '\\_journal%' ESCAPE '\\'",
            as: String.self)
        try workspace.execute(path, "PRAGMA foreign_keys = OFF; " + (try #require(names)))
    }

    @Test("a file that was in WAL mode before stays in it, also after a tool has dropped the journal")
    func writeAheadLog() async throws {
        let path = try make("a.sqlite")
        try workspace.execute(path, "PRAGMA journal_mode = WAL")
        let before = try dump(path)
        for isDamaged in [false, true] {
            #expect(try await Tool.run("init", path, "--json").output.contains("\"sets_wal\":false"))
            if isDamaged {
                try dropTables(path)
                #expect(try await Tool.run("init", path).status == 0)
            }
            let outcome = try await Tool.run("uninit", path)
            #expect(outcome.status == 0, "\(outcome)")
            #expect(outcome.output.contains("journal mode is wal, as before `syncd init`"), "\(outcome)")
            #expect(try dump(path) == before)
            #expect(try workspace.snapshot().keys.sorted() == ["a.sqlite"])
        }
    }

    @Test("a file that replaced one in WAL mode, beside whose record it lies, leaves WAL mode")
    func replaced() async throws {
        let path = try make("a.sqlite")
        try workspace.execute(path, "PRAGMA journal_mode = WAL")
        #expect(try await Tool.run("init", path).status == 0)
        try FileManager.default.removeItem(atPath: path)
        _ = try make("a.sqlite")
        let made = try await Tool.run("init", path)
        #expect(made.output.contains("in WAL mode from now on"), "\(made)")
        #expect(try await Tool.run("uninit", path, "--json").output.contains("\"journal_mode\":\"delete\""))
    }

    @Test("what only the journal has is discarded on request only")
    func held() async throws {
        let path = try make("a.sqlite")
        let peer = try make("b.sqlite")
        try workspace.execute(peer, "DELETE FROM visit; DELETE FROM person")
        for file in [path, peer] { #expect(try await Tool.run("init", file).status == 0) }
        #expect(try await Tool.run("sync", path, peer).status == 0)
        try workspace.execute(path, "UPDATE person SET name = 'here' WHERE id = 'a'")
        try workspace.execute(peer, "UPDATE person SET name = 'there' WHERE id = 'a'")
        #expect(try await Tool.run("sync", path, peer).status == 0)
        let refused = try await Tool.run("uninit", path)
        #expect(refused.status == 1 && refused.errors.contains("1 open conflicts and 0 held rows"), "\(refused)")
        #expect(try await Tool.run("conflicts", path).output.contains("person"))
        let forced = try await Tool.run("uninit", path, "--force", "--json")
        #expect(forced.status == 0, "\(forced)")
        #expect(forced.output.contains("\"discarded\":1"), "\(forced)")
    }

    @Test("a file that a daemon serves is left alone")
    func served() async throws {
        let path = try await workspace.makeReplica("a.sqlite")
        let daemon = try await DaemonProcess.start(path)
        let outcome = try await Tool.run("uninit", path)
        #expect(outcome.status == 1 && outcome.errors.contains("A daemon serves"), "\(outcome)")
        #expect(await daemon.stop().status == 0)
    }
}
