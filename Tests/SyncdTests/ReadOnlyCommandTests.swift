import Foundation
import TestSupport
import Testing

@Suite("Commands that only read change no byte of the file")
struct ReadOnlyCommandTests {
    private let workspace = Workspace()

    @Test(
        "not even of one without a write-ahead log",
        arguments: [["status"], ["log"], ["conflicts"], ["held"], ["clock"], ["status", "--json"]])
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
}
