import Foundation
import Testing

@Suite("syncd config")
struct ConfigCommandTests {
    let workspace = Workspace()

    @Test("check says nothing wrong, and ends with 0, for a good file")
    func good() async throws {
        let database = try workspace.makeDatabase("shop.sqlite")
        let file = try workspace.write("database: shop.sqlite\ntoken-file: $CREDENTIALS_DIRECTORY/token", to: "a.yaml")
        let before = try workspace.snapshot()
        let outcome = try await Tool.run("config", "check", file)
        #expect(outcome.status == 0, "\(outcome)")
        #expect(outcome.output.contains("$CREDENTIALS_DIRECTORY/token is not checked"), "\(outcome)")
        #expect(outcome.lines.last == "No mistakes.")
        let line = try #require(try await Tool.run("config", "check", file, "--json").lines.first)
        let object = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        #expect(object["file"] as? String == file && object["database"] as? String == database)
        #expect((object["mistakes"] as? [Any])?.isEmpty == true)
        #expect(object["not_checked"] as? [String] == ["$CREDENTIALS_DIRECTORY/token"])
        #expect(try workspace.snapshot() == before)
    }

    @Test("check says every mistake with its place and what to do, and ends with 1")
    func bad() async throws {
        let file = try workspace.write("database: none.sqlite\nlisten: nowhere\nfrob: 1\n", to: "a.yaml")
        let outcome = try await Tool.run("config", "check", file)
        #expect(outcome.status == 1, "\(outcome)")
        #expect(outcome.output.contains("\(file):2:9: \"listen\" is not HOST:PORT\n  Hint: "), "\(outcome)")
        #expect(outcome.output.contains("\(file):1:1: there is no file"), "\(outcome)")
        #expect(outcome.lines.last == "3 mistakes.")
        let json = try await Tool.run("config", "check", file, "--json")
        let object = try #require(try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any])
        let mistakes = try #require(object["mistakes"] as? [[String: Any]])
        #expect(json.status == 1)
        #expect(mistakes.map { $0["line"] as? Int } == [1, 2, 3])
        #expect(mistakes.map { $0["key"] as? String } == ["database", "listen", "frob"])
        #expect(mistakes.allSatisfy { $0["column"] is Int && $0["message"] is String && $0["hint"] is String })
    }

    @Test("a file that cannot be read is an error with a hint")
    func unreadable() async throws {
        let outcome = try await Tool.run("config", "check", workspace.path("none"))
        #expect(outcome.status == 1)
        #expect(outcome.errors.hasPrefix("Error: The configuration file ") && outcome.errors.contains("\nHint: "))
    }

    @Test("run says the first mistake and how many more there are, and starts nothing")
    func run() async throws {
        let file = try workspace.write("listen: nowhere\nfrob: 1\ntls-key: x\n", to: "a.yaml")
        let before = try workspace.snapshot()
        let outcome = try await Tool.run("run", "--config", file)
        #expect(outcome.status == 1)
        #expect(outcome.errors.contains("in line 1: \"listen\" is not HOST:PORT"), "\(outcome)")
        #expect(outcome.errors.contains("`syncd config check \(file)` lists 2 more"), "\(outcome)")
        #expect(try workspace.snapshot() == before)
    }

    @Test("run without a database, in the arguments or in the file, is refused")
    func noDatabase() async throws {
        let file = try workspace.write("listen: 127.0.0.1:0\n", to: "a.yaml")
        let outcome = try await Tool.run("run", "--config", file)
        #expect(outcome.status == 1 && outcome.errors.contains("names no database"), "\(outcome)")
        #expect(try await Tool.run("run").status == 64)
    }

    @Test("a credential outside of systemd is refused by its name")
    func noCredentials() async throws {
        let file = try workspace.write("token-file: $CREDENTIALS_DIRECTORY/token\n", to: "a.yaml")
        let outcome = try await Tool.run("run", try await workspace.makeReplica(), "--config", file)
        #expect(outcome.status == 1, "\(outcome)")
        #expect(outcome.errors.contains("$CREDENTIALS_DIRECTORY/token") && outcome.errors.contains("LoadCredential"))
    }
}
