import Foundation
import TestSupport
import Testing

@Suite("syncd clone")
struct CloneCommandTests {
    let workspace = Workspace()

    @Test("from a daemon: a replica of its own with all rows, which exchanges at once")
    func fromDaemon() async throws {
        let a = try await workspace.makeReplica("a.sqlite", rows: 500)
        let daemon = try await DaemonProcess.start(a)
        let b = workspace.path("b.sqlite")
        let cloned = try await Tool.run("clone", daemon.url, b, "--json")
        #expect(cloned.status == 0 && cloned.errors.isEmpty, "\(cloned)")
        let object = try JSONSerialization.jsonObject(with: Data(cloned.output.utf8)) as? [String: Any]
        #expect(object?["rows"] as? Int == 500)
        #expect(object?["origin"] as? String != object?["peer_origin"] as? String)
        #expect(object?["bytes"] as? Int == object?["fetched_bytes"] as? Int)
        // Nothing that the clone has is sent again by it.
        let first = try await Tool.run("sync", b, daemon.url)
        #expect(first.output.contains("pulled 0 changes (0 bytes), pushed 0 changes (0 bytes)"), "\(first)")
        try workspace.execute(b, "INSERT INTO person VALUES ('q', 'new', 1)")
        try workspace.execute(a, "UPDATE person SET age = 99 WHERE id = 'p1'")
        #expect(try await Tool.run("sync", b, daemon.url).status == 0)
        let verified = try await Tool.run("verify", b, daemon.url)
        #expect(verified.status == 0 && verified.output.contains("501 rows"), "\(verified)")
        #expect(await daemon.stop().status == 0)
        // Nothing of a snapshot stays beside the file of the daemon.
        #expect(try workspace.snapshot().keys.allSatisfy { !$0.contains("snapshot") && !$0.contains("partial") })
    }

    @Test("with a token only; an existing file and another cluster are refused, with nothing written")
    func refusals() async throws {
        let a = try await workspace.makeReplica("a.sqlite", rows: 3)
        let token = try workspace.write("a-secret-token-of-some-length\n", to: "token")
        let daemon = try await DaemonProcess.start(a, "--token-file", token)
        let b = workspace.path("b.sqlite")
        let without = try await Tool.run("clone", daemon.url, b)
        #expect(without.status == 1 && without.errors.contains("401"), "\(without)")
        let elsewhere = try await Tool.run("clone", daemon.url, b, "--token-file", token, "--cluster", "other")
        #expect(elsewhere.status == 1 && elsewhere.errors.contains("cluster main, not to other"), "\(elsewhere)")
        #expect(!FileManager.default.fileExists(atPath: b))
        let onto = try await Tool.run("clone", daemon.url, a, "--token-file", token)
        #expect(onto.status == 1 && onto.errors.contains("A file exists already"), "\(onto)")
        try workspace.execute(a, "INSERT INTO person VALUES ('x', 'x', 1)")
        #expect(try await Tool.run("clone", daemon.url, b, "--token-file", token).status == 0)
        _ = try workspace.write("left over", to: "c.sqlite-wal")
        let log = try await Tool.run("clone", daemon.url, workspace.path("c.sqlite"), "--token-file", token)
        #expect(log.status == 1 && log.errors.contains("a log of another database"), "\(log)")
        #expect(await daemon.stop().status == 0)
    }

    @Test("the rows of excluded tables do not leave the machine, and notes of migrations do")
    func excluded() async throws {
        let a = workspace.path("a.sqlite")
        try workspace.execute(
            a,
            """
            CREATE TABLE open (id TEXT PRIMARY KEY NOT NULL, v); INSERT INTO open VALUES ('a', 1);
            CREATE TABLE secret (id TEXT PRIMARY KEY NOT NULL, v);
            INSERT INTO secret SELECT 'k' || value, 'CONFIDENTIAL-' || value FROM (
              WITH RECURSIVE n(value) AS (VALUES (1) UNION ALL SELECT value + 1 FROM n WHERE value < 500) SELECT * FROM n);
            CREATE TABLE plain (v); INSERT INTO plain VALUES ('x'), ('y'); DELETE FROM plain WHERE v = 'x';
            CREATE TABLE alembic_version (version_num TEXT PRIMARY KEY NOT NULL);
            INSERT INTO alembic_version VALUES ('r7')
            """)
        #expect(try await Tool.run("init", a, "--exclude", "secret", "--accept").status == 0)
        // Rows that were deleted are in free pages of the file.
        try workspace.execute(a, "DELETE FROM secret WHERE id < 'k3'")
        let b = workspace.path("b.sqlite")
        let cloned = try await Tool.run("clone", a, b)
        #expect(cloned.status == 0, "\(cloned)")
        let bytes = try Data(contentsOf: URL(fileURLWithPath: b))
        #expect(bytes.range(of: Data("CONFIDENTIAL".utf8)) == nil)
        #expect(try workspace.value(b, "SELECT count(*) FROM secret", as: Int.self) == 0)
        #expect(try workspace.value(b, "SELECT version_num FROM alembic_version", as: String.self) == "r7")
        #expect(try workspace.value(b, "SELECT v || rowid FROM plain", as: String.self) == "y2")
        #expect(try workspace.value(a, "SELECT count(*) FROM secret", as: Int.self) ?? 0 > 0)
    }

    @Test("a daemon whose file is missing can begin with a clone")
    func runWithClone() async throws {
        let a = try await workspace.makeReplica("a.sqlite", rows: 4)
        let daemon = try await DaemonProcess.start(a)
        let b = workspace.path("b.sqlite")
        // The line of the clone comes before the greeting; the port of the second daemon is not needed.
        let token = try workspace.write("another-secret-token-here\n", to: "token")
        let refused = try await Tool.run(
            "run", b, "--listen", "127.0.0.1:0", "--token-file", token, "--clone-from", "http://127.0.0.1:1")
        #expect(refused.status == 1 && !FileManager.default.fileExists(atPath: b), "\(refused)")
        #expect(try await Tool.run("clone", daemon.url, b).status == 0)
        let again = try await DaemonProcess.start(b, "--clone-from", daemon.url)
        #expect(await again.stop().status == 0)
        #expect(await daemon.stop().status == 0)
    }
}
