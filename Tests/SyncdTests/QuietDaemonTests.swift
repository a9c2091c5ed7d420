import Foundation
import Journal
import TestSupport
import Testing

@Suite("A daemon is not in the way of the programs of its file", .timeLimit(.minutes(1)))
struct QuietDaemonTests {
    let workspace = Workspace()

    @Test("400 transactions that read before they write do not fail beside a daemon with a quiet peer")
    func transactions() async throws {
        let schema = """
            CREATE TABLE author (id TEXT PRIMARY KEY, age INTEGER CHECK (age >= 0));
            CREATE TABLE book (id TEXT PRIMARY KEY, author TEXT REFERENCES author (id), n INTEGER CHECK (n >= 0))
            """
        let (a, b) = (workspace.path("a.sqlite"), workspace.path("b.sqlite"))
        for path in [a, b] {
            try workspace.execute(path, schema)
            #expect(try await Tool.run("init", path).status == 0)
        }
        try workspace.execute(a, "INSERT INTO author VALUES ('x', 1), ('y', 2)")
        let second = try await DaemonProcess.start(b)
        let first = try await DaemonProcess.start(a, "--peer", second.url)
        try await workspace.wait(for: b) { try workspace.value(b, "SELECT count(*) FROM author", as: Int.self) == 2 }

        let program = try RawConnection(path: a)
        var failures: [String] = []
        for number in 0..<400 {
            try program.run("BEGIN")
            _ = try program.rows("SELECT count(*) FROM book")
            let code = program.execute(
                """
                INSERT INTO book VALUES ('b\(number)', '\(number % 2 == 0 ? "x" : "y")', \(number));
                UPDATE author SET age = \(number) WHERE id = 'x'; COMMIT
                """)
            if code != 0 {
                failures.append("\(number): \(program.lastMessage)")
                try program.run("ROLLBACK")
            }
        }
        #expect(failures.isEmpty)
        try await workspace.wait(for: b) { try workspace.value(b, "SELECT count(*) FROM book", as: Int.self) == 400 }

        // The contact is in no table, and status tells it.
        #expect(try workspace.value(a, "SELECT count(*) FROM _journal_peers", as: Int.self) == 0)
        try await workspace.wait(for: a + "-peers") { try await contact(a) != nil }
        #expect(await first.stop().status == 0)
        #expect(try workspace.value(a, "SELECT last_contact > 0 FROM _journal_peers", as: Int.self) == 1)
        #expect(try await contact(a) != nil)
        #expect(await second.stop().status == 0)
    }

    private func contact(_ path: String) async throws -> String? {
        let outcome = try await Tool.run("status", path, "--json")
        let object = try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any]
        return (object?["peers"] as? [[String: Any]])?.first?["last_contact"] as? String
    }
}
