import Foundation
import GRDB
import TestSupport
import Testing

@Suite("A file that cannot be used gets a sentence, a hint and status 1, and does not change")
struct BadFileTests {
    let workspace = Workspace()

    /// Every command that takes a replica's file, with its arguments after the file.
    private static let commands = [
        ["log"], ["status"], ["conflicts"], ["conflicts", "dismiss", "1"], ["held"], ["clock"], ["clock", "repair"],
        ["clock", "accept", "00000000"], ["rekey"], ["uninit"], ["sync", "http://127.0.0.1:1"],
        ["verify", "http://127.0.0.1:1"],
        ["run"], ["show", "t", "1"], ["backup", "/dev/null/x"], ["wait", "0123456789abcdef0123456789abcdef-1"],
    ]

    /// Runs every command that takes a file against `path`, and expects the same refusal.
    private func expectRefusal(
        of path: String, _ sentence: String, commands: [[String]] = [["init"]] + BadFileTests.commands,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let before = try workspace.snapshot()
        for command in commands {
            let outcome = try await Tool.run([Tool.path, command[0], path] + command.dropFirst())
            #expect(outcome.status == 1, "\(command): \(outcome)", sourceLocation: sourceLocation)
            #expect(outcome.output.isEmpty, sourceLocation: sourceLocation)
            #expect(outcome.errors.hasPrefix("Error: "), "\(outcome)", sourceLocation: sourceLocation)
            #expect(outcome.errors.contains(sentence), "\(command): \(outcome)", sourceLocation: sourceLocation)
            #expect(outcome.errors.contains("\nHint: "), "\(command): \(outcome)", sourceLocation: sourceLocation)
            #expect(outcome.errors.split(separator: "\n").count == 2, "\(outcome)", sourceLocation: sourceLocation)
        }
        #expect(try workspace.snapshot() == before, sourceLocation: sourceLocation)
    }

    @Test("a path without a file")
    func missing() async throws {
        try await expectRefusal(of: workspace.path("none.sqlite"), "There is no file at")
    }

    @Test("a directory")
    func directory() async throws {
        try await expectRefusal(of: workspace.directory.path, "is a directory")
    }

    @Test("a FIFO, without waiting for its other end")
    func fifo() async throws {
        let path = workspace.path("fifo")
        try #require(mkfifo(path, 0o600) == 0)
        try await expectRefusal(of: path, "is not a regular file")
    }

    @Test("a text file")
    func text() async throws {
        let path = try workspace.write(String(repeating: "just text\n", count: 100), to: "a.txt")
        try await expectRefusal(of: path, "is not a SQLite database")
    }

    @Test("an encrypted file, which looks like random bytes")
    func encrypted() async throws {
        let path = workspace.path("secret.sqlite")
        try Data((0..<8_192).map { _ in UInt8.random(in: 0...255) }).write(to: URL(fileURLWithPath: path))
        try await expectRefusal(of: path, "is not a SQLite database")
    }

    @Test("a database whose end is missing")
    func truncated() async throws {
        let path = try workspace.makeDatabase(rows: 2_000)
        let size = try #require(FileManager.default.contents(atPath: path)).count
        try #require(truncate(path, size / 2) == 0)
        try await expectRefusal(of: path, "is truncated")
    }

    @Test("a replica of a later release")
    func futureFormat() async throws {
        let path = try await workspace.makeReplica()
        try workspace.execute(path, "UPDATE _journal_replica SET format = 99")
        let before = try workspace.value(path, "SELECT count(*) FROM _journal", as: Int.self)
        for command in ["init", "log", "status", "run"] {
            let outcome = try await Tool.run(command, path)
            #expect(outcome.status == 1)
            #expect(outcome.errors.contains("format 99"), "\(outcome)")
            #expect(outcome.errors.contains("Hint: Upgrade"), "\(outcome)")
        }
        #expect(try workspace.value(path, "SELECT count(*) FROM _journal", as: Int.self) == before)
        #expect(try workspace.value(path, "SELECT format FROM _journal_replica", as: Int.self) == 99)
    }

    @Test("a database that is not a replica yet, for every command but init")
    func notAReplica() async throws {
        let path = try workspace.makeDatabase()
        try await expectRefusal(of: path, "no change journal", commands: BadFileTests.commands)
    }

    @Test("a table without a primary key is refused when it is named; otherwise it is excluded, with the reason")
    func withoutPrimaryKey() async throws {
        let path = try workspace.makeDatabase()
        try await expectRefusal(of: path, "primary key", commands: [["init", "--table", "loose"]])
        let before = try workspace.snapshot()
        let refused = try await Tool.run("init", path)
        #expect(refused.status == 1 && refused.errors.contains("would not replicate"), "\(refused)")
        #expect(refused.output.contains("loose") && refused.errors.contains("Hint: "), "\(refused)")
        #expect(try workspace.snapshot() == before)
        let outcome = try await Tool.run("init", path, "--accept")
        #expect(outcome.status == 0)
        #expect(outcome.output.contains("Not tracked:"))
        #expect(outcome.lines.contains { $0.contains("loose") && $0.contains("primary key") }, "\(outcome)")
    }

    @Test("a table that does not exist")
    func unknownTable() async throws {
        let path = try workspace.makeDatabase()
        try await expectRefusal(of: path, "no ordinary table named nobody", commands: [["init", "--table", "nobody"]])
        let replica = try await workspace.makeReplica("b.sqlite")
        let outcome = try await Tool.run("log", replica, "--table", "nobody")
        #expect(outcome.status == 1)
        #expect(outcome.errors.contains("no table named nobody"), "\(outcome)")
        #expect(outcome.errors.contains("Hint: "))
    }

    @Test("a file that another process keeps locked for writing")
    func locked() async throws {
        let path = try workspace.makeDatabase()
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        let holder = try DatabaseQueue(path: path, configuration: configuration)
        try await holder.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE") }
        let outcome = try await Tool.run("init", path, "--accept")
        #expect(outcome.status == 1)
        #expect(outcome.errors.contains("locked"), "\(outcome)")
        #expect(outcome.errors.contains("Hint: "), "\(outcome)")
        // A pipe shows no progress during the ten seconds of waiting.
        #expect(outcome.errors.split(separator: "\n").count == 2, "\(outcome)")
        try await holder.writeWithoutTransaction { try $0.execute(sql: "ROLLBACK") }
        try holder.close()
        #expect(
            try workspace.value(path, "SELECT count(*) FROM sqlite_master WHERE name LIKE '_journal%'", as: Int.self)
                == 0)
        #expect(try await Tool.run("init", path, "--accept").status == 0)
    }

    @Test("a directory without write permission", .enabled(if: Unprivileged.isAvailable))
    func readOnlyDirectory() async throws {
        let path = try workspace.makeDatabase()
        chmod(path, 0o644)
        chmod(workspace.directory.path, 0o555)
        defer { chmod(workspace.directory.path, 0o755) }
        let before = try workspace.snapshot()
        let outcome = try await Tool.run("init", path, "--accept", wrapper: Unprivileged.wrapper)
        #expect(outcome.status == 1)
        #expect(outcome.errors.hasPrefix("Error: "), "\(outcome)")
        #expect(outcome.errors.contains("Hint: "), "\(outcome)")
        #expect(try workspace.snapshot() == before)
    }

    @Test("a replica without write permission, for the commands that write", .enabled(if: Unprivileged.isAvailable))
    func readOnlyReplica() async throws {
        let path = try await workspace.makeReplica()
        for name in try workspace.snapshot().keys { chmod(workspace.path(name), 0o444) }
        chmod(workspace.directory.path, 0o555)
        defer { chmod(workspace.directory.path, 0o755) }
        let before = try workspace.snapshot()
        let refused = [["rekey"], ["uninit"], ["clock", "repair"], ["run"], ["sync", "http://127.0.0.1:1"]]
        for command in refused + [["status"], ["log"], ["held"]] {
            let outcome = try await Tool.run(
                Unprivileged.wrapper + [Tool.path, command[0], path] + command.dropFirst())
            if refused.contains(command) { #expect(outcome.status == 1, "\(command): \(outcome)") }
            // Reading succeeds when the directory has the shared memory, and may need to create it otherwise.
            guard outcome.status != 0 else { continue }
            #expect(outcome.status == 1, "\(command): \(outcome)")
            #expect(outcome.errors.contains("Error: "), "\(command): \(outcome)")
            #expect(outcome.errors.contains("\nHint: "), "\(command): \(outcome)")
        }
        #expect(try workspace.snapshot() == before)
    }
}

/// Runs a command as a user without root's rights: the tests themselves may run as root.
enum Unprivileged {
    static let wrapper =
        geteuid() == 0 ? ["/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--"] : []

    static var isAvailable: Bool {
        guard let program = wrapper.first else { return true }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = wrapper.dropFirst() + [Tool.path, "--version"]
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }
}
