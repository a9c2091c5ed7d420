import Foundation
import Journal
import TestSupport
import Testing

/// Property: what an operator's SQL keeps beside the tables follows each merge, and nothing else makes it run.
@Suite("SQL after a merge")
struct AfterMergeTests {
    private let workspace = Workspace()
    private static let sql = "INSERT INTO seen (n) SELECT count(*) FROM person"

    private func pair() async throws -> (String, String) {
        let a = try await workspace.makeReplica("a.sqlite")
        let b = try await workspace.makeReplica("b.sqlite", rows: 0)
        try workspace.execute(b, "CREATE TABLE seen (id INTEGER PRIMARY KEY, n)")
        #expect(try await Tool.run("init", b, "--exclude", "seen").status == 0)
        return (a, b)
    }

    private func seen(_ path: String) throws -> String? {
        try workspace.value(path, "SELECT group_concat(n, ' ') FROM seen", as: String.self)
    }

    @Test("`sync` runs it once when something came, and not when nothing did")
    func sync() async throws {
        let (a, b) = try await pair()
        for _ in 0..<2 { #expect(try await Tool.run("sync", b, a, "--after-merge", Self.sql).status == 0) }
        #expect(try seen(b) == "3")
        try workspace.execute(b, "DELETE FROM person WHERE id = 'p1'")
        #expect(try await Tool.run("sync", b, a, "--after-merge", Self.sql).status == 0)
        #expect(try seen(b) == "3")
        try workspace.execute(a, "DELETE FROM person WHERE id = 'p2'")
        let failed = try await Tool.run(
            "sync", b, a, "--after-merge", "INSERT INTO seen (n) VALUES (1); INSERT INTO nowhere VALUES (1)")
        #expect(failed.status == 1 && failed.errors.contains("no such table: nowhere"), "\(failed)")
        // What was merged stays; of the SQL, nothing does.
        #expect(try seen(b) == "3")
        #expect(try workspace.value(b, "SELECT count(*) FROM person", as: Int.self) == 1)
    }

    @Test("a daemon runs it at its start and after each merge, and goes on when it fails", .timeLimit(.minutes(1)))
    func daemon() async throws {
        let (a, b) = try await pair()
        let config = try workspace.write(
            "database: b.sqlite\nlisten: 127.0.0.1:0\nafter-merge: \(Self.sql)\n", to: "b.yaml")
        let watch = try FileWatch(path: b)
        let changes = watch.changes
        func wait(for text: String) async throws {
            if try seen(b) == text { return }
            for await _ in changes where try seen(b) == text { return }
        }
        let daemon = try await DaemonProcess.start(configuration: config, environment: [:])
        try await wait(for: "0")
        #expect(try await Tool.run("sync", a, daemon.url).status == 0)
        try await wait(for: "0 3")
        // A local write is no merge, so the next line has both.
        try workspace.execute(b, "DELETE FROM person WHERE id = 'p1'")
        try workspace.execute(a, "INSERT INTO person (id) VALUES ('q1'), ('q2')")
        #expect(try await Tool.run("sync", a, daemon.url).status == 0)
        try await wait(for: "0 3 4")
        watch.stop()
        let end = await daemon.stop()
        #expect(end.status == 0 && end.log.contains("event=after_merge.done"), "\(end.log)")
        try workspace.execute(b, "DROP TABLE seen")
        let again = try await DaemonProcess.start(configuration: config, environment: [:])
        try workspace.execute(a, "INSERT INTO person (id) VALUES ('q3')")
        #expect(try await Tool.run("sync", a, again.url).status == 0)
        let log = await again.stop()
        #expect(log.status == 0 && log.log.contains("event=after_merge.failed"), "\(log.log)")
        #expect(try workspace.value(b, "SELECT count(*) FROM person WHERE id = 'q3'", as: Int.self) == 1)
    }
}
