import Foundation
import TestSupport
import Testing

@Suite("Commands that only read change no byte of the file")
struct ReadOnlyCommandTests {
    private let workspace = Workspace()

    @Test(
        "not even of one without a write-ahead log",
        arguments: [
            ["check"], ["status"], ["log"], ["conflicts"], ["held"], ["clock"], ["status", "--json"],
            ["wait", "0123456789abcdef0123456789abcdef-0"],
        ])
    func unchanged(command: [String]) async throws {
        let path = try await workspace.makeReplica()
        // The last connection of a program checkpoints, and removes the log.
        try RawConnection(path: path).run("PRAGMA wal_checkpoint(TRUNCATE)")
        try #require(!FileManager.default.fileExists(atPath: path + "-wal"))
        let before = try Data(contentsOf: URL(fileURLWithPath: path))
        let outcome = try await Tool.run([Tool.path, command[0], path] + command.dropFirst())
        #expect(outcome.status == 0, "\(outcome)")
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
        let log = FileManager.default.contents(atPath: path + "-wal") ?? Data()
        #expect(log.isEmpty)
    }

    @Test("neither a comparison nor an exchange without news, on both sides", arguments: ["sync", "verify"])
    func unchangedPair(command: String) async throws {
        let a = try await workspace.makeReplica("a.sqlite")
        let b = try await workspace.makeReplica("b.sqlite", rows: 0)
        // The first exchange has news; the second one tells each side what the other one has.
        for _ in 0..<2 { #expect(try await Tool.run("sync", a, b).status == 0) }
        for path in [a, b] { try RawConnection(path: path).run("PRAGMA wal_checkpoint(TRUNCATE)") }
        for name in ["a.sqlite-wal", "b.sqlite-wal"] {
            try? FileManager.default.removeItem(atPath: workspace.path(name))
        }
        let before = try [a, b].map { try Data(contentsOf: URL(fileURLWithPath: $0)) }
        let outcome = try await Tool.run(command, a, b)
        #expect(outcome.status == 0, "\(outcome)")
        #expect(try [a, b].map { try Data(contentsOf: URL(fileURLWithPath: $0)) } == before)
        for path in [a, b] { #expect((FileManager.default.contents(atPath: path + "-wal") ?? Data()).isEmpty) }
    }
}
