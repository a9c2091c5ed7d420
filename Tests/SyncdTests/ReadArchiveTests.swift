import Foundation
import TestSupport
import Testing

@testable import SyncdCore

@Suite("Commands that read an archive")
struct ReadArchiveTests {
    private let workspace = Workspace()

    @Test("log lists what is in the oldest snapshot and in later packs, and show has a row as it was")
    func reads() async throws {
        let directory = workspace.path("archive")
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
        let archive = "file://\(directory)"
        let replica = try await workspace.makeReplica(rows: 1)
        let none = try await Tool.run("log", archive)
        #expect(none.status == 1 && none.errors.contains("There is no archive at"), "\(none)")
        #expect(try await Tool.run("sync", replica, archive).status == 0)
        let noSnapshot = try await Tool.run("log", archive)
        #expect(noSnapshot.status == 1 && noSnapshot.errors.contains("holds no snapshot"), "\(noSnapshot)")
        #expect(try await Tool.run("store", "snapshot", replica, archive).status == 0)
        try workspace.execute(replica, "UPDATE person SET name = 'later' WHERE id = 'p1'")
        #expect(try await Tool.run("sync", replica, archive).status == 0)

        let own = try await Tool.run("log", replica, "--json")
        let copied = try await Tool.run("log", archive, "--json")
        #expect(copied.status == 0)
        func facts(_ outcome: Outcome) throws -> [[String]] {
            try outcome.lines.map { line in
                let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
                // The order of the keys of an object means nothing.
                let columns = try JSONSerialization.data(
                    withJSONObject: object?["columns"] ?? [String: String](), options: [.sortedKeys])
                return ["origin", "version", "op", "stamp"].map { "\(object?[$0] ?? "")" }
                    + [String(decoding: columns, as: UTF8.self)]
            }
        }
        #expect(try facts(copied) == facts(own))
        #expect(!copied.output.contains("\"local\":true"))
        let first = try #require(
            own.lines.first.flatMap { try? JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any] })
        let time = try #require(first["time"] as? String)
        let before = try await Tool.run("show", archive, "person", "p1", "--at", time)
        #expect(before.status == 0 && !before.output.contains("later"), "\(before)")
        #expect(try await Tool.run("show", archive, "person", "p1").output.contains("'later'"))
        #expect(try await Tool.run("log", archive, "--at", time).lines.count < copied.lines.count)
    }

    @Test("an archive cannot be followed")
    func follow() async throws {
        let result = try await Tool.run("log", "file:///tmp/archive", "--follow")
        #expect(result.status == 64)
        #expect(result.errors.contains("An archive cannot be followed"), "\(result)")
    }
}
