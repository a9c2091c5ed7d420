import Foundation
import TestSupport
import Testing

@Suite("syncd backup, restore and show")
struct BackupCommandTests {
    let workspace = Workspace()

    @Test("a backup is one file with all rows, readable by those who may read the database")
    func backup() async throws {
        let a = try await workspace.makeReplica("a.sqlite", rows: 3)
        #expect(chmod(a, 0o640) == 0)
        let copy = workspace.path("copy.sqlite")
        let outcome = try await Tool.run("backup", a, copy)
        #expect(outcome.status == 0 && outcome.errors.isEmpty, "\(outcome)")
        let mode = try FileManager.default.attributesOfItem(atPath: copy)[.posixPermissions] as? Int
        #expect(mode == 0o640)
        let before = try workspace.snapshot()
        let again = try await Tool.run("backup", a, copy)
        #expect(again.status == 1 && again.errors.contains("A file exists already"), "\(again)")
        #expect(try workspace.snapshot()["copy.sqlite"] == before["copy.sqlite"])
        try workspace.execute(a, "INSERT INTO person VALUES ('q', 'later', 1)")
        #expect(try await Tool.run("backup", a, copy, "--replace", "--json").status == 0)
        #expect(try workspace.value(copy, "SELECT count(*) FROM person", as: Int.self) == 4)
        let onto = try await Tool.run("backup", a, a, "--replace")
        #expect(onto.status == 1 && onto.errors.contains("is the database itself"), "\(onto)")
        #expect(try workspace.value(a, "SELECT count(*) FROM person", as: Int.self) == 4)
    }

    @Test("a restored backup is a replica of its own, sends nothing again, and gets what came since from its peers")
    func restore() async throws {
        let a = try await workspace.makeReplica("a.sqlite", rows: 3)
        let copy = workspace.path("copy.sqlite")
        #expect(try await Tool.run("backup", a, copy).status == 0)
        let peer = workspace.path("peer.sqlite")
        #expect(try await Tool.run("clone", a, peer).status == 0)
        try workspace.execute(a, "UPDATE person SET age = 77 WHERE id = 'p1'; DELETE FROM person WHERE id = 'p2'")
        #expect(try await Tool.run("sync", a, peer).status == 0)
        let restored = workspace.path("r.sqlite")
        let outcome = try await Tool.run("restore", copy, restored, "--json")
        let object = try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any]
        #expect(object?["reissued"] as? Int == 0, "\(outcome)")
        let exchanged = try await Tool.run("sync", restored, peer)
        #expect(
            exchanged.output.contains("pulled 2 changes") && exchanged.output.contains("pushed 0 changes"),
            "\(exchanged)")
        #expect(try await Tool.run("verify", restored, peer).status == 0)
        #expect(try await Tool.run("conflicts", restored, "--json").output.isEmpty)
        let again = try await Tool.run("restore", copy, restored)
        #expect(again.status == 1 && again.errors.contains("A file exists already"), "\(again)")
    }

    @Test("a damaged backup is refused, and leaves nothing")
    func damaged() async throws {
        let a = try await workspace.makeReplica("a.sqlite", rows: 400)
        let copy = workspace.path("copy.sqlite")
        #expect(try await Tool.run("backup", a, copy).status == 0)
        var bytes = try Data(contentsOf: URL(fileURLWithPath: copy))
        for offset in stride(from: 8_192, to: bytes.count - 64, by: 4_096) {
            bytes.replaceSubrange(offset..<(offset + 64), with: Data(repeating: 0xA5, count: 64))
        }
        try bytes.write(to: URL(fileURLWithPath: copy))
        let restored = workspace.path("r.sqlite")
        let outcome = try await Tool.run("restore", copy, restored)
        #expect(outcome.status == 1 && outcome.errors.contains("\nHint: "), "\(outcome)")
        #expect(try workspace.snapshot().keys.allSatisfy { !$0.hasPrefix("r.sqlite") })
    }

    @Test("rows and tables as they were at a time; the time is by the clocks of the writers")
    func past() async throws {
        let a = try await workspace.makeReplica("a.sqlite", rows: 3)
        let first = try await workspace.latestTime(a)
        try workspace.execute(
            a,
            "UPDATE person SET age = 77 WHERE id = 'p1'; DELETE FROM person WHERE id = 'p2'; INSERT INTO person VALUES ('p9', 'n', 1)"
        )
        let then = try await Tool.run("show", a, "person", "p1", "--at", first, "--json")
        let now = try await Tool.run("show", a, "person", "p1", "--json")
        #expect(then.status == 0 && !then.output.contains(#""age":77"#), "\(then)")
        #expect(now.output.contains(#""age":77"#), "\(now)")
        let deleted = try await Tool.run("show", a, "PERSON", "p2")
        #expect(deleted.status == 0 && deleted.output.contains("was deleted at"), "\(deleted)")
        #expect(try await Tool.run("show", a, "person", "p2", "--at", first).output.contains("name"))
        let later = try await Tool.run("show", a, "person", "p9", "--at", first)
        #expect(later.status == 1 && later.errors.contains("up to that time"), "\(later)")
        #expect(try await Tool.run("log", a, "--at", first).lines.count == 3)
        let restored = workspace.path("then.sqlite")
        let outcome = try await Tool.run("restore", a, restored, "--at", first)
        #expect(outcome.status == 0 && outcome.output.contains("3 rows differ"), "\(outcome)")
        #expect(try workspace.value(restored, "SELECT count(*) FROM person WHERE age <> 77", as: Int.self) == 3)
        #expect(
            try workspace.value(
                restored, "SELECT count(*) FROM sqlite_master WHERE name LIKE '\\_journal%' ESCAPE '\\'", as: Int.self)
                == 0)
        let before = try await Tool.run("restore", a, workspace.path("none.sqlite"), "--at", "1999-12-31")
        #expect(before.status == 1 && before.errors.contains("history of the file begins later"), "\(before)")
        #expect(try workspace.snapshot().keys.allSatisfy { !$0.hasPrefix("none.sqlite") })
    }
}

extension Workspace {
    /// The time of the newest change; the next change is later.
    fileprivate func latestTime(_ path: String) async throws -> String {
        let log = try await Tool.run("log", path, "--json")
        let line = try #require(log.lines.last)
        let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
        return try #require(object?["time"] as? String)
    }
}
