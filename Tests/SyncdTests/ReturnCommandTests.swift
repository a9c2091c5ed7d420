import Foundation
import TestSupport
import Testing

@Suite("syncd return, and the return of a daemon")
struct ReturnCommandTests {
    let workspace = Workspace()

    /// Two replicas; the second one was away while the first one compacted what it lacks.
    private func apart() async throws -> (a: String, b: String) {
        let a = try await workspace.makeReplica("a.sqlite", rows: 20)
        let b = workspace.path("b.sqlite")
        #expect(try await Tool.run("clone", a, b).status == 0)
        #expect(try await Tool.run("sync", b, a).status == 0)
        try workspace.execute(
            a,
            """
            UPDATE person SET age = 40 WHERE id = 'p1'; UPDATE person SET age = 41 WHERE id = 'p1';
            UPDATE person SET age = 50 WHERE id = 'p3'; DELETE FROM person WHERE id = 'p2'
            """)
        let origin = try #require(try text(b, "SELECT lower(hex(origin)) FROM _journal_replica"))
        #expect(try await Tool.run("forget", a, origin, "--force").status == 0)
        #expect(try await Tool.run("compact", a, "--keep", "0s").status == 0)
        try workspace.execute(
            b,
            """
            UPDATE person SET name = 'mine' WHERE id = 'p1'; UPDATE person SET age = 51 WHERE id = 'p3';
            INSERT INTO person VALUES ('new', 'new', 1)
            """)
        return (a, b)
    }

    private func text(_ file: String, _ sql: String) throws -> String? {
        try workspace.value(file, "SELECT CAST((\(sql)) AS TEXT)", as: String.self)
    }

    private func expectLevel(_ a: String, _ b: String) async throws {
        let verified = try await Tool.run("verify", b, a)
        #expect(verified.status == 0, "\(verified)")
        let rows =
            "SELECT group_concat(r, ' ') FROM (SELECT id || ' ' || name || ' ' || age AS r FROM person WHERE id IN ('p1', 'p2', 'p3', 'new') ORDER BY id)"
        for file in [a, b] { #expect(try text(file, rows) == "new new 1 p1 mine 41 p3 name 3 51", "\(file)") }
        let conflicts = try await Tool.run("conflicts", a)
        #expect(conflicts.output.contains("p3"), "\(conflicts)")
    }

    @Test("the file gets the peer's content, and what it had written is written again")
    func command() async throws {
        let (a, b) = try await apart()
        let refused = try await Tool.run("sync", b, a)
        #expect(refused.status == 1 && refused.errors.contains("syncd return"), "\(refused)")
        let done = try await Tool.run("return", b, a, "--json")
        #expect(done.status == 0, "\(done)")
        let object = try #require(try JSONSerialization.jsonObject(with: Data(done.output.utf8)) as? [String: Any])
        #expect(object["unseen"] as? Int == 3 && object["contested"] as? Int == 1)
        let kept = try #require(object["kept"] as? String)
        #expect(try text(kept, "SELECT count(*) FROM person") == "21")
        #expect(try await Tool.run("sync", b, a).status == 0)
        try await expectLevel(a, b)
        #expect(try workspace.snapshot().keys.allSatisfy { !$0.contains("-return") || $0.contains("-before-return-") })
    }

    @Test("a daemon comes back by itself, under a program that has the file open")
    func daemon() async throws {
        let (a, b) = try await apart()
        let peer = try await DaemonProcess.start(a)
        let program = try RawConnection(path: b)
        try workspace.execute(a, "UPDATE person SET age = 7 WHERE id = 'p5'")
        let status = try await Tool.run("status", a, "--json")
        let object = try #require(try JSONSerialization.jsonObject(with: Data(status.output.utf8)) as? [String: Any])
        let token = try #require(object["token"] as? String)
        let daemon = try await DaemonProcess.start(b, "--peer", peer.url)
        let level = try await Tool.run("wait", b, token, "--timeout", "60")
        #expect(level.status == 0, "\(level)")
        try program.run("UPDATE person SET name = 'later' WHERE id = 'p4'")
        let log = await daemon.stop().log
        #expect(log.contains("The replica was away for longer than its lease"), "\(log)")
        #expect(await peer.stop().status == 0)
        #expect(try await Tool.run("sync", b, a).status == 0)
        try await expectLevel(a, b)
        #expect(try text(a, "SELECT name FROM person WHERE id = 'p4'") == "later")
    }

    @Test("another schema on the peer is named, and the file stays as it was")
    func refused() async throws {
        let (a, b) = try await apart()
        try workspace.execute(a, "ALTER TABLE person ADD COLUMN color TEXT")
        let refused = try await Tool.run("return", b, a)
        #expect(refused.status == 1 && refused.errors.contains("another schema"), "\(refused)")
        #expect(try text(b, "SELECT count(*) FROM person") == "21")
        #expect(try workspace.snapshot().keys.allSatisfy { !$0.contains("-before-return-") })
    }
}
