import Foundation
import TestSupport
import Testing

@testable import SyncdCore

@Suite("Tokens with scopes")
struct TokenTests {
    private let workspace = Workspace()

    private func make(_ name: String, _ scopes: String...) async throws -> String {
        let flags = scopes.flatMap { ["--scope", $0] }
        let outcome = try await Tool.run([Tool.path, "token", name, "--tokens", workspace.path("tokens")] + flags)
        try #require(outcome.status == 0 && outcome.lines.count == 1, "\(outcome)")
        return outcome.lines[0]
    }

    private func status(_ daemon: DaemonProcess, _ token: String) async throws -> Int {
        try await RawHTTP.request(
            "GET", "/v1/status", port: daemon.port, headers: [("Authorization", "Bearer \(token)")]
        ).status
    }

    private func reload(_ daemon: DaemonProcess, _ token: String) async throws -> RawHTTP.Answer {
        try await RawHTTP.request(
            "POST", "/v1/admin/reload", port: daemon.port, headers: [("Authorization", "Bearer \(token)")])
    }

    @Test("the command prints a token of 256 bits once, and keeps its digest in a private file")
    func command() async throws {
        let first = try await make("berlin", "replicate")
        let second = try await make("anna", "replicate", "admin")
        #expect(first.count == 64 && first != second)
        let text = try String(contentsOfFile: workspace.path("tokens"), encoding: .utf8)
        #expect(!text.contains(first) && !text.contains(second))
        let mode = try FileManager.default.attributesOfItem(atPath: workspace.path("tokens"))[.posixPermissions]
        #expect(mode as? Int == 0o600)
        let tokens = try AccessTokens.load(from: workspace.path("tokens"))
        #expect(tokens.grant(of: first)?.scopes == [.replicate])
        #expect(tokens.grant(of: second)?.scopes == [.replicate, .admin, .read])
        #expect(tokens.grant(of: first.dropLast()) == nil)
        #expect(tokens.entries.map(\.name) == ["berlin", "anna"])
        #expect(
            !"\(tokens)".contains("sha256") && "\(tokens.entries)" == "[berlin: replicate, anna: admin,read,replicate]")

        let outcome = try await Tool.run(
            "token", "x", "--scope", "read", "--tokens", workspace.path("tokens"), "--json")
        struct Answer: Decodable {
            let name: String
            let scopes: [String]
            let token: String
        }
        let answer = try JSONDecoder().decode(Answer.self, from: Data(outcome.output.utf8))
        #expect(answer.name == "x" && answer.scopes == ["read"])
        #expect(try AccessTokens.load(from: workspace.path("tokens")).grant(of: answer.token)?.scopes == [.read])
    }

    @Test("a token is exchanged while the old one is valid; a third one of a name is refused")
    func rotation() async throws {
        let old = try await make("grafana", "read")
        let admin = try await make("anna", "admin")
        let daemon = try await DaemonProcess.start(
            try await workspace.makeReplica(), "--tokens", workspace.path("tokens"))
        let new = try await make("grafana", "read")
        #expect(try await status(daemon, new) == 401)
        let answer = try await reload(daemon, admin)
        #expect(answer.status == 200 && answer.body == #"{"applied":["tokens"],"needs_restart":[]}"#, "\(answer)")
        for token in [old, new, admin] { #expect(try await status(daemon, token) == 200) }

        let before = try String(contentsOfFile: workspace.path("tokens"), encoding: .utf8)
        let third = try await Tool.run(
            "token", "grafana", "--scope", "read", "--tokens", workspace.path("tokens"))
        #expect(third.status == 1 && third.errors.contains("more than two tokens"), "\(third)")
        #expect(try String(contentsOfFile: workspace.path("tokens"), encoding: .utf8) == before)

        let lines = before.split(separator: "\n")
        _ = try workspace.write(lines.dropFirst().joined(separator: "\n"), to: "tokens")
        #expect(try await reload(daemon, admin).status == 200)
        #expect(try await status(daemon, old) == 401)
        #expect(try await status(daemon, new) == 200)
        let end = await daemon.stop()
        #expect(end.status == 0 && ![old, new, admin].contains { end.log.contains($0) }, "\(end.log)")
    }

    @Test("replicas exchange with a token of their own; a token for reading is refused with its reason")
    func peers() async throws {
        let a = try await workspace.makeReplica("a.sqlite")
        let b = try await workspace.makeReplica("b.sqlite", rows: 0)
        let peer = try workspace.write(try await make("b", "replicate"), to: "peer")
        let reader = try workspace.write(try await make("grafana", "read"), to: "reader")
        let daemon = try await DaemonProcess.start(a, "--tokens", workspace.path("tokens"))
        let refused = try await Tool.run("sync", b, daemon.url, "--token-file", reader)
        #expect(refused.status == 1 && refused.errors.contains("does not have the scope replicate"), "\(refused)")
        #expect(try await Tool.run("sync", b, daemon.url, "--token-file", peer).status == 0)
        #expect(try workspace.value(b, "SELECT count(*) FROM person", as: Int.self) == 3)
        #expect(try await Tool.run("status", daemon.url, "--token-file", reader).status == 0)
        let status = try await Tool.run("status", daemon.url, "--token-file", peer)
        #expect(status.status == 1 && status.errors.contains("the scope read"), "\(status)")
    }

    @Test("a reload with a mistake changes nothing, and says so to the caller, in the status and in the log")
    func badReload() async throws {
        let admin = try await make("anna", "admin")
        let daemon = try await DaemonProcess.start(
            try await workspace.makeReplica(), "--tokens", workspace.path("tokens"))
        let good = try String(contentsOfFile: workspace.path("tokens"), encoding: .utf8)
        _ = try workspace.write(good + "eve root sha256:00\n", to: "tokens")
        let answer = try await reload(daemon, admin)
        #expect(answer.status == 422 && answer.body.contains("mistake in line 2: unknown scope"), "\(answer)")
        #expect(answer.body.contains("replicate, pull, push, read, admin"), "\(answer)")
        let bearer = [("Authorization", "Bearer \(admin)")]
        func shown() async throws -> String {
            try await RawHTTP.request("GET", "/v1/status", port: daemon.port, headers: bearer).body
        }
        #expect(try await shown().contains(#""configuration_refused":"The tokens file"#))
        _ = try workspace.write(good, to: "tokens")
        #expect(try await reload(daemon, admin).body == #"{"applied":[],"needs_restart":[]}"#)
        #expect(try await shown().contains(#""configuration_refused":null"#))
        let end = await daemon.stop()
        #expect(end.status == 0 && end.log.contains("configuration not changed: The tokens file"), "\(end.log)")
    }

    private static let digest = "sha256:" + String(repeating: "0a", count: 32)
    private static let other = "sha256:" + String(repeating: "0B", count: 32)

    @Test("comments, empty lines and upper case are accepted")
    func good() throws {
        let tokens = try AccessTokens(
            parsing: "# all\n\n  a \t read,replicate   \(Self.digest)\r\na read \(Self.other)", path: "f")
        #expect(tokens.entries.map(\.scopes) == [[.read, .replicate], [.read]])
    }

    @Test(
        "a mistake is named with its line, and what the line has is not repeated",
        arguments: [
            ("s3cret", "three words"), ("a read", "three words"), ("a read \(digest) s3cret", "three words"),
            ("a s3cret \(digest)", "unknown scope"), ("a read, \(digest)", "unknown scope"),
            ("a READ \(digest)", "unknown scope"), ("a read s3cret", "64 hexadecimal digits"),
            ("a read sha256:\(String(repeating: "+1", count: 32))", "64 hexadecimal digits"),
            ("a read \(digest)00", "64 hexadecimal digits"), ("ä read \(digest)", "the name has"),
            ("\(String(repeating: "a", count: 65)) read \(digest)", "the name has"),
            ("a read \(other)\nb read \(other.lowercased())", "there twice"),
        ])
    func mistakes(text: String, sentence: String) throws {
        let failure = #expect(throws: Failure.self) {
            try AccessTokens(parsing: "# first\n\(text)\n", path: "f")
        }
        let line = text.contains("\n") ? 3 : 2
        #expect(failure?.message.contains("in line \(line): ") == true && failure?.message.contains(sentence) == true)
        #expect(failure?.message.contains("s3cret") == false && failure?.hint.isEmpty == false)
    }

    @Test("a file that is missing, empty, readable by others or no file is refused")
    func files() async throws {
        let replica = try await workspace.makeReplica()
        let line = "a read \(Self.digest)\n"
        let cases = [
            (workspace.path("none"), "cannot be read"), (try workspace.write("# none\n", to: "empty"), "has no token"),
            (try workspace.write(line, to: "open", mode: 0o644), "other users"),
            (workspace.directory.path, "not a regular file"),
            (try workspace.write(String(repeating: line, count: 30_000), to: "long"), "longer than"),
        ]
        for (path, sentence) in cases {
            let outcome = try await Tool.run("run", replica, "--tokens", path)
            #expect(outcome.status == 1 && outcome.errors.contains(sentence), "\(outcome)")
            #expect(outcome.errors.contains("\nHint: "), "\(outcome)")
        }
        for (path, sentence) in cases.dropFirst(2) {
            let outcome = try await Tool.run("token", "x", "--scope", "read", "--tokens", path)
            #expect(outcome.status == 1 && !outcome.errors.isEmpty, "\(sentence): \(outcome)")
        }
        let open = try await Tool.run("run", replica, "--listen", "0.0.0.0:0")
        #expect(open.status == 1 && open.errors.contains("--tokens"), "\(open)")
    }
}
