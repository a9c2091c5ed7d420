import Foundation
import TestSupport
import Testing

@Suite("Copied and restored files, with commands and with daemons")
struct IdentityTests {
    let workspace = Workspace()

    private func origin(_ path: String) throws -> String? {
        try workspace.value(path, "SELECT hex(origin) FROM _journal_replica", as: String.self)
    }

    private func count(_ path: String) throws -> Int? {
        try workspace.value(path, "SELECT count(*) FROM person", as: Int.self)
    }

    private func insert(_ path: String, _ id: String) throws {
        try workspace.execute(path, "INSERT INTO person VALUES ('\(id)', 'x', 1)")
    }

    /// Copies a database as `cp` does. Nobody may have it open.
    private func copy(_ path: String, to target: String) throws {
        for suffix in ["", "-wal"] where FileManager.default.fileExists(atPath: path + suffix) {
            try? FileManager.default.removeItem(atPath: target + suffix)
            try FileManager.default.copyItem(atPath: path + suffix, toPath: target + suffix)
        }
    }

    @Test("a copied file with a daemon of its own: both daemons continue, and both files get everything")
    func twoDaemons() async throws {
        let a = try await workspace.makeReplica("a.sqlite")
        let b = workspace.path("b.sqlite")
        try copy(a, to: b)
        let first = try await DaemonProcess.start(a)
        let second = try await DaemonProcess.start(b, "--peer", first.url)
        #expect(try origin(a) != origin(b))
        try insert(a, "of a")
        try insert(b, "of b")
        for _ in 0..<2 {
            let outcome = try await Tool.run("sync", b, first.url)
            #expect(outcome.status == 0, "\(outcome)")
        }
        #expect(try count(a) == 5 && count(b) == 5)
        let verified = try await Tool.run("verify", b, first.url)
        #expect(verified.status == 0, "\(verified)")
        let log = await second.stop().log
        #expect(log.contains("a copy of the one for which its identity was taken"), "\(log)")
        #expect(await first.stop().status == 0)
    }

    @Test("a restored file takes a new identity, reports it, and gets back what it had sent")
    func restored() async throws {
        let a = try await workspace.makeReplica("a.sqlite")
        let b = try await workspace.makeReplica("b.sqlite", rows: 0)
        #expect(try await Tool.run("sync", a, b).status == 0)
        try copy(a, to: workspace.path("backup"))
        try insert(a, "later")
        #expect(try await Tool.run("sync", a, b).status == 0)
        try copy(workspace.path("backup"), to: a)
        #expect(try count(a) == 3)
        let outcome = try await Tool.run("sync", a, b)
        #expect(outcome.status == 0, "\(outcome)")
        #expect(outcome.errors.contains("This replica is"), "\(outcome)")
        #expect(try count(a) == 4)
    }

    @Test("rekey gives a new identity and keeps every row; --json names both")
    func rekey() async throws {
        let a = try await workspace.makeReplica("a.sqlite")
        let b = try await workspace.makeReplica("b.sqlite", rows: 0)
        #expect(try await Tool.run("sync", a, b).status == 0)
        try insert(a, "later")
        let before = try #require(try origin(a)).lowercased()
        let outcome = try await Tool.run("rekey", a, "--json")
        #expect(outcome.status == 0, "\(outcome)")
        let object = try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any]
        let after = try #require(try origin(a)).lowercased()
        #expect(after != before)
        #expect(object?["origin"] as? String == after)
        #expect(object?["former_origin"] as? String == before)
        #expect(object?["kept"] as? Int == 3)
        #expect(object?["reissued"] as? Int == 1)
        #expect(object?["reason"] as? String == "manual")
        #expect(try await Tool.run("sync", a, b).status == 0)
        #expect(try count(b) == 4)
        #expect(try await Tool.run("verify", a, b).status == 0)
        let text = try await Tool.run("rekey", a)
        #expect(text.lines.count == 2 && text.output.contains(after), "\(text)")
    }

    @Test("reidentify is another name of rekey, which the help shows")
    func secondName() async throws {
        let help = try await Tool.run("--help")
        #expect(help.output.contains("\n  rekey, reidentify "), "\(help)")
        let own = try await Tool.run("reidentify", "--help")
        #expect(own.output == (try await Tool.run("rekey", "--help")).output, "\(own)")
        let a = try await workspace.makeReplica("a.sqlite")
        let before = try origin(a)
        let outcome = try await Tool.run("reidentify", a)
        #expect(outcome.status == 0, "\(outcome)")
        #expect(try origin(a) != before)
    }

    @Test("rekey refuses while a daemon serves the file, and refuses a file that is no replica")
    func refusals() async throws {
        let a = try await workspace.makeReplica("a.sqlite")
        let before = try origin(a)
        let daemon = try await DaemonProcess.start(a)
        let outcome = try await Tool.run("rekey", a)
        #expect(outcome.status == 1)
        #expect(outcome.errors.contains("A daemon serves"), "\(outcome)")
        #expect(outcome.errors.contains("Hint: "), "\(outcome)")
        #expect(await daemon.stop().status == 0)
        #expect(try origin(a) == before)
        let plain = try workspace.makeDatabase("plain.sqlite")
        for path in [plain, workspace.path("none"), workspace.directory.path] {
            let refused = try await Tool.run("rekey", path)
            #expect(refused.status == 1 && refused.errors.hasPrefix("Error: "), "\(refused)")
        }
    }
}
