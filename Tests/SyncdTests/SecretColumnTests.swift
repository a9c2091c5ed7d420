import Foundation
import TestSupport
import Testing

@testable import SyncdCore

@Suite("Secret columns")
struct SecretColumnTests {
    let workspace = Workspace()

    @Test("values of a column that is declared secret replicate, and appear in no listing, on either side")
    func listings() async throws {
        let (a, b) = (workspace.path("a.sqlite"), workspace.path("b.sqlite"))
        for path in [a, b] {
            try workspace.execute(
                path,
                "CREATE TABLE user (id TEXT PRIMARY KEY NOT NULL, name TEXT UNIQUE, password TEXT, hint TEXT)")
            let made = try await Tool.run("init", path, "--secret", "User.Password")
            #expect(made.status == 0 && made.lines.contains("Secret columns: User.Password."), "\(made)")
        }
        let canary = "canary-7f3a"
        try workspace.execute(a, "INSERT INTO user VALUES ('u', 'ann', '\(canary)-1', 'open')")
        #expect(try await Tool.run("sync", a, b).status == 0)
        try workspace.execute(a, "UPDATE user SET password = '\(canary)-2', hint = 'shown'")
        try RawConnection.writeLater(
            "UPDATE user SET password = '\(canary)-3', hint = 'other'; INSERT INTO user VALUES ('v', 'eve', '\(canary)-4', '')",
            at: b)
        try RawConnection.writeLater("INSERT INTO user VALUES ('w', 'eve', '\(canary)-5', '')", at: a)
        #expect(try await Tool.run("sync", a, b).status == 0)
        #expect(
            try workspace.value(a, "SELECT password FROM user WHERE id = 'u'", as: String.self) == "\(canary)-3")
        let daemon = try await DaemonProcess.start(a)
        var texts: [String] = []
        for path in ["/", "/conflicts", "/held", "/tables", "/history?table=user&key=u", "/v1/status", "/metrics"] {
            let answer = try await RawHTTP.request("GET", path, port: daemon.port)
            #expect(answer.status == 200, "\(path)")
            texts.append(answer.body)
        }
        for path in [a, b] {
            for arguments in [
                ["log", path], ["conflicts", path], ["held", path], ["show", path, "user", "u"], ["status", path],
            ] {
                for flags in [[], ["--json"]] {
                    let outcome = try await Tool.run([Tool.path] + arguments + flags)
                    #expect(outcome.status == 0, "\(outcome)")
                    texts.append(outcome.output)
                }
            }
            texts.append(try await Tool.run("conflicts", path, "restore", "1", "--json").output)
        }
        let held = try await Tool.run("held", a, "--json")
        let id = try #require(held.output.firstMatch(of: /"id": ?(\d+)/)?.output.1)
        texts.append(try await Tool.run("held", a, "drop", String(id), "--json").output)
        #expect(!texts.contains { $0.contains(canary) })
        for text in texts where text.contains("password") { #expect(text.contains("(secret)"), "\(text)") }
        #expect(texts.filter { $0.contains("(secret)") }.count >= 10)
        #expect(texts.contains { $0.contains("other") })
    }

    @Test("a name that is wrong, and a column of the key, leave the file unchanged")
    func refusals() async throws {
        let path = workspace.path("a.sqlite")
        try workspace.execute(path, "CREATE TABLE user (id TEXT PRIMARY KEY NOT NULL, password TEXT)")
        let before = try workspace.snapshot()
        for (argument, words) in [
            ("nothing.password", "no table"), ("user.nothing", "no column"), ("user.id", "part of the key"),
        ] {
            let outcome = try await Tool.run("init", path, "--secret", argument)
            #expect(outcome.status == 1 && outcome.errors.contains(words), "\(outcome)")
            #expect(outcome.errors.contains("Hint: "), "\(outcome)")
        }
        #expect(try await Tool.run("init", path, "--secret", "password").status == 64)
        #expect(try workspace.snapshot() == before)
    }

    @Test("a daemon declares those of its configuration, once, and refuses names that are none")
    func configured() async throws {
        let path = try await workspace.makeReplica("a.sqlite")
        func configure(_ column: String) throws -> String {
            try workspace.write("database: a.sqlite\nlisten: 127.0.0.1:0\nsecret: [\(column)]\n", to: "a.yaml")
        }
        for (column, words) in [("person.nothing", "no column"), ("person.id", "part of the key")] {
            let outcome = try await Tool.run("run", "--config", try configure(column))
            #expect(outcome.status == 1 && outcome.errors.contains(words), "\(outcome)")
        }
        let config = try configure("Person.NAME")
        for _ in 0..<2 {
            let daemon = try await DaemonProcess.start(configuration: config, environment: [:])
            #expect(await daemon.stop().status == 0)
        }
        #expect(try await Tool.run("log", path).output.contains("name='(secret)'"))
        #expect(
            try workspace.value(path, "SELECT secrets FROM _journal_replica", as: String.self) == #"["Person","NAME"]"#)
    }
}
