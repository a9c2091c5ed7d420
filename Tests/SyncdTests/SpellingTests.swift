import Foundation
import TestSupport
import Testing

@testable import SyncdCore

@Suite("Tables and files with more than one name")
struct SpellingTests {
    let workspace = Workspace()

    @Test("log --table shows the changes of a peer whose schema spells the table's name differently")
    func table() async throws {
        let a = try await workspace.makeReplica("a.sqlite", rows: 2)
        let b = workspace.path("b.sqlite")
        try workspace.execute(
            b,
            """
            CREATE TABLE Person (id TEXT PRIMARY KEY NOT NULL, Name TEXT, age INTEGER);
            INSERT INTO Person VALUES ('q1', 'theirs', 1);
            """)
        #expect(try await Tool.run("init", b, "--cluster", "main").status == 0)
        #expect(try await Tool.run("sync", a, b).status == 0)
        for path in [a, b] {
            for name in ["person", "Person"] {
                #expect(try await Tool.run("log", path, "--table", name).lines.count == 3)
            }
        }
    }

    @Test("status shows the size of the file behind a symbolic link")
    func symbolicLink() async throws {
        let path = try await workspace.makeReplica()
        let link = workspace.path("link.sqlite")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
        let line = try #require(try await Tool.run("status", link, "--json").lines.first)
        let status = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        let size = try #require(try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int)
        #expect(status["file_bytes"] as? Int == size)
    }
}
