import Foundation
import TestSupport
import Testing

@Suite("The commands held restore, drop and reparent")
struct HeldDecisionCommandTests {
    let workspace = Workspace()

    /// Two replicas that hold books 1, 2 and 3, whose author was deleted meanwhile.
    private func holding() async throws -> (a: String, b: String) {
        let (a, b) = (workspace.path("a.sqlite"), workspace.path("b.sqlite"))
        for path in [a, b] {
            try workspace.execute(
                path,
                """
                CREATE TABLE author (id TEXT PRIMARY KEY NOT NULL, name TEXT);
                CREATE TABLE book (id INTEGER PRIMARY KEY, author TEXT REFERENCES author (id), title TEXT)
                """)
            #expect(try await Tool.run("init", path, "--foreign-keys", "enforce").status == 0)
        }
        try workspace.execute(a, "INSERT INTO author VALUES ('x', 'Ann'), ('y', 'Bob')")
        #expect(try await Tool.run("sync", a, b).status == 0)
        try workspace.execute(a, "DELETE FROM author WHERE id = 'x'")
        try workspace.execute(b, "INSERT INTO book VALUES (1, 'x', 'one'), (2, 'x', 'two'), (3, 'x', 'three')")
        #expect(try await Tool.run("sync", a, b).status == 0)
        return (a, b)
    }

    private func held(_ path: String) async throws -> [Int: String] {
        let lines = try await Tool.run("held", path, "--json").lines.map { line in
            try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        }
        return Dictionary(
            uniqueKeysWithValues: try lines.map { line in
                ((try #require(line["key"] as? [String: Int]))["id"] ?? 0, String(try #require(line["id"] as? Int)))
            })
    }

    @Test("each is a local write that reaches the other replica, and says what it did")
    func decisions() async throws {
        let (a, b) = try await holding()
        var ids = try await held(a)
        #expect(ids.keys.sorted() == [1, 2, 3])
        let dropped = try await Tool.run("held", a, "drop", ids[1] ?? "")
        #expect(dropped.output == "Dropped held row \(ids[1] ?? ""): book [1].\n", "\(dropped)")
        let moved = try await Tool.run("held", a, "reparent", ids[2] ?? "", "--to", "y", "--json")
        let line = try #require(
            try JSONSerialization.jsonObject(with: Data(moved.output.utf8)) as? [String: Any], "\(moved)")
        #expect(line["action"] as? String == "reparent" && line["still_held"] is NSNull, "\(moved)")
        #expect(line["key"] as? [String: Int] == ["id": 2] && line["table"] as? String == "book", "\(moved)")
        #expect(try workspace.value(a, "SELECT author FROM book WHERE id = 2", as: String.self) == "y")
        #expect(try await Tool.run("sync", a, b).status == 0)
        ids = try await held(b)
        #expect(ids.keys.sorted() == [3])
        let restored = try await Tool.run("held", "restore", b, ids[3] ?? "")
        #expect(
            restored.output == "Restored held row \(ids[3] ?? ""): book [3]. Inserted again: author ['x'].\n",
            "\(restored)")
        #expect(try await Tool.run("sync", a, b).status == 0)
        for path in [a, b] {
            #expect(
                try workspace.value(
                    path, "SELECT group_concat(book.id || name, ' ') FROM book JOIN author ON author.id = book.author",
                    as: String.self) == "2Bob 3Ann")
        }
        #expect(try await Tool.run("verify", a, b).status == 0)
    }

    @Test("wrong words are a wrong use; what cannot be done is an error with a hint, and changes nothing")
    func refusals() async throws {
        let (a, _) = try await holding()
        let id = try #require(try await held(a)[1])
        for arguments in [
            ["drop"], ["drop", "x"], ["reparent", id], ["reparent", id, "2", "--to", "y"], ["drop", id, "--to", "y"],
            ["forget", id], ["drop", id, "--table", "book"],
        ] {
            let outcome = try await Tool.run([Tool.path, "held", a] + arguments)
            #expect(outcome.status == 64, "\(arguments): \(outcome)")
        }
        let before = try await held(a)
        for (arguments, words) in [
            (["drop", "999"], "has the number 999"), (["reparent", id, "--to", "nobody"], "shows no row"),
            (["reparent", id, "--to", "y", "--column", "title"], "no missing row by title"),
        ] {
            let outcome = try await Tool.run([Tool.path, "held", a] + arguments)
            #expect(outcome.status == 1 && outcome.errors.contains(words), "\(outcome)")
            #expect(outcome.errors.contains("Hint: "), "\(outcome)")
        }
        #expect(try await held(a) == before)
    }
}
