import Foundation
import Journal
import TestSupport
import Testing

/// What docs/PROGRAMS.md says of tools that copy or lock a whole file.
@Suite("Copies and locks of other tools", .timeLimit(.minutes(1)))
struct OtherToolsTests {
    let workspace = Workspace()

    private func shell(_ command: String) async throws -> Outcome {
        try await Tool.run(["/bin/sh", "-c", "cd '\(workspace.directory.path)' && \(command)"])
    }

    private func json(_ arguments: String...) async throws -> [String: Any] {
        let outcome = try await Tool.run([Tool.path] + arguments + ["--json"])
        return try #require(
            try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any], "\(outcome)")
    }

    private func names(_ path: String) throws -> String? {
        try workspace.value(path, "SELECT group_concat(name) FROM (SELECT name FROM person ORDER BY id)")
    }

    @Test(
        "a copy has everything, becomes a replica of its own, and the original goes on",
        arguments: [
            "sqlite3 a.sqlite \"VACUUM INTO 'copy.sqlite'\"", "sqlite3 a.sqlite '.backup copy.sqlite'",
            "sqlite3 a.sqlite .dump | sqlite3 copy.sqlite",
        ])
    func copies(command: String) async throws {
        let path = try await workspace.makeReplica("a.sqlite")
        let copy = workspace.path("copy.sqlite")
        let daemon = try await DaemonProcess.start(path)
        // No peer has this change yet.
        try workspace.execute(path, "UPDATE person SET name = 'new' WHERE id = 'p2'")
        let made = try await shell(command)
        #expect(made.status == 0 && made.errors.isEmpty, "\(made)")
        #expect(try workspace.value(copy, "PRAGMA integrity_check", as: String.self) == "ok")
        #expect(try names(copy) == "name 1,new,name 3")

        let origin = try await json("status", path)["origin"] as? String
        try workspace.execute(path, "UPDATE person SET name = 'here' WHERE id = 'p1'")
        try workspace.execute(copy, "UPDATE person SET name = 'there' WHERE id = 'p3'")
        let synced = try await json("sync", copy, daemon.url)
        // Each side sends its own write, and the change that nobody was sent before.
        #expect(synced["pushed_changes"] as? Int == 2 && synced["pulled_changes"] as? Int == 2, "\(synced)")
        for file in [path, copy] {
            #expect(try names(file) == "here,new,there")
            #expect(try await Tool.run("conflicts", file).output == "No conflicts.\n")
        }
        #expect(try await json("status", path)["origin"] as? String == origin)
        #expect(try await json("status", copy)["origin"] as? String != origin)
        let verified = try await Tool.run("verify", copy, daemon.url)
        #expect(verified.status == 0, "\(verified)")
        #expect(await daemon.stop().status == 0)
    }

    @Test("VACUUM and writes by ATTACH beside a daemon: everything is captured and arrives")
    func vacuumAndAttach() async throws {
        let path = try await workspace.makeReplica("a.sqlite")
        let peer = try await workspace.makeReplica("b.sqlite", rows: 0)
        let daemon = try await DaemonProcess.start(path, "--peer", peer)
        let program = try RawConnection(path: workspace.path("other.sqlite"))
        try program.run(
            """
            CREATE TABLE count (n INTEGER); ATTACH '\(path)' AS people;
            BEGIN; INSERT INTO count VALUES (1); UPDATE people.person SET name = 'attached' WHERE id = 'p1'; COMMIT;
            DELETE FROM people.person WHERE id = 'p3'; VACUUM people;
            UPDATE people.person SET name = 'later' WHERE id = 'p2'
            """)
        try await workspace.wait(for: peer) { try names(peer) == "attached,later" }
        let end = await daemon.stop()
        #expect(end.status == 0 && !end.log.contains("warning"), "\(end.log)")
        #expect(try await Tool.run("verify", path, peer).status == 0)
    }

    @Test("a daemon keeps a program from leaving WAL mode and from locking the file for itself, and goes on")
    func locks() async throws {
        let path = try await workspace.makeReplica("a.sqlite")
        let peer = try await workspace.makeReplica("b.sqlite", rows: 0)
        let daemon = try await DaemonProcess.start(path, "--peer", peer)
        for pragma in ["journal_mode = DELETE", "locking_mode = EXCLUSIVE"] {
            let program = try RawConnection(path: path)
            try program.run("PRAGMA busy_timeout = 0")
            let code = program.execute("PRAGMA \(pragma); UPDATE person SET name = 'refused'")
            #expect(code & 0xff == 5, "\(pragma): \(program.lastMessage)")
        }
        try workspace.execute(path, "UPDATE person SET name = 'later' WHERE id = 'p2'")
        try await workspace.wait(for: peer) { try names(peer) == "name 1,later,name 3" }
        let end = await daemon.stop()
        #expect(end.status == 0 && !end.log.contains("warning"), "\(end.log)")
    }

    @Test("without a daemon, a file in DELETE mode is captured, and Tandem sets WAL again at its next write")
    func rollbackJournal() async throws {
        let path = try await workspace.makeReplica("a.sqlite")
        let peer = try await workspace.makeReplica("b.sqlite", rows: 0)
        let program = try RawConnection(path: path)
        try program.run(
            "PRAGMA journal_mode = DELETE; PRAGMA locking_mode = EXCLUSIVE; UPDATE person SET name = 'alone'")
        #expect(try program.rows("PRAGMA journal_mode") == [[.text(Array("delete".utf8)[...])]])
        // The next statement gives the lock back.
        try program.run("PRAGMA locking_mode = NORMAL; SELECT 1 FROM person")
        #expect(try await Tool.run("sync", path, peer).status == 0)
        #expect(try names(peer) == "alone,alone,alone")
        #expect(try workspace.value(path, "PRAGMA journal_mode", as: String.self) == "wal")
    }
}
