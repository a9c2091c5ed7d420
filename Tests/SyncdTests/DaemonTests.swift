import Foundation
import TestSupport
import Testing

@Suite("The daemon starts, stops, and refuses unsafe settings")
struct DaemonTests {
    let workspace = Workspace()

    @Test(
        "it prints its address with the real port, drains on SIGTERM or SIGINT and exits with 0",
        arguments: [SIGTERM, SIGINT])
    func lifeAndEnd(signal: Int32) async throws {
        let daemon = try await DaemonProcess.start(try await workspace.makeReplica())
        #expect(daemon.port > 0)
        #expect(daemon.greeting.hasPrefix("Listening on http://127.0.0.1:"))
        let answer = try await RawHTTP.request("GET", "/healthz", port: daemon.port)
        #expect(answer.status == 200)
        #expect(await daemon.stop(signal).status == 0)
    }

    @Test(
        "a second daemon on the same file is refused, also by another name of the file, and starts once the first has ended"
    )
    func oneDaemonPerFile() async throws {
        let path = try await workspace.makeReplica()
        try FileManager.default.createSymbolicLink(atPath: workspace.path("link.sqlite"), withDestinationPath: path)
        let first = try await DaemonProcess.start(path)
        for name in [path, workspace.path("link.sqlite")] {
            let second = try await Tool.run("run", name, "--listen", "127.0.0.1:0")
            #expect(second.status == 1)
            #expect(second.errors.contains("Another daemon already serves"), "\(second)")
            #expect(second.errors.contains("Hint: "))
        }
        #expect(await first.stop(SIGKILL).status == SIGKILL)
        let third = try await DaemonProcess.start(path)
        #expect(await third.stop().status == 0)
    }

    @Test("it ends by itself, with a sentence, when its file is moved", .timeLimit(.minutes(1)))
    func displaced() async throws {
        let path = try await workspace.makeReplica()
        let daemon = try await DaemonProcess.start(path)
        try FileManager.default.moveItem(atPath: path, toPath: workspace.path("aside.sqlite"))
        // Signal 0 only waits.
        let end = await daemon.stop(0)
        #expect(end.status == 1)
        #expect(end.log.contains("was moved away, replaced or removed while it was open"), "\(end.log)")
    }

    @Test("too few descriptors are refused", arguments: [16, 40])
    func fewDescriptors(count: Int) async throws {
        let outcome = try await Tool.run(
            "run", try await workspace.makeReplica(), "--listen", "127.0.0.1:0",
            wrapper: ["/bin/sh", "-c", "ulimit -n \(count); exec \"$@\"", "sh"])
        #expect(outcome.status == 1)
        #expect(outcome.errors.hasPrefix("Error: Only \(count) files may be open"), "\(outcome)")
    }

    @Test(
        "an address that other machines can reach is refused without a token",
        arguments: ["0.0.0.0:0", "[::]:0", "192.0.2.1:0", "example.org:0"])
    func publicAddress(address: String) async throws {
        let outcome = try await Tool.run("run", try await workspace.makeReplica(), "--listen", address)
        #expect(outcome.status == 1)
        #expect(outcome.errors.contains("without a token"), "\(outcome)")
        #expect(outcome.errors.contains("--token-file"), "\(outcome)")
    }

    @Test("with a token it listens at such an address")
    func publicAddressWithToken() async throws {
        let token = try workspace.write("secret\n", to: "token")
        let daemon = try await DaemonProcess.start(
            try await workspace.makeReplica(), "--listen", "0.0.0.0:0", "--token-file", token)
        #expect(await daemon.stop().status == 0)
    }

    @Test(
        "a token file that is empty, readable by others, too long or not text is refused",
        arguments: [
            ("", 0o600, "is empty"), ("\n \n", 0o600, "is empty"), ("secret", 0o644, "other users"),
            ("secret", 0o620, "other users"), (String(repeating: "a", count: 5_000), 0o600, "longer than"),
            ("two words", 0o600, "characters"), ("t\u{E9}", 0o600, "characters"),
        ])
    func badTokenFile(text: String, mode: Int, sentence: String) async throws {
        let token = try workspace.write(text, to: "token", mode: mode)
        let outcome = try await Tool.run("run", try await workspace.makeReplica(), "--token-file", token)
        #expect(outcome.status == 1)
        #expect(outcome.errors.contains(sentence), "\(outcome)")
        #expect(outcome.errors.contains("\nHint: "), "\(outcome)")
        #expect(text.count < 3 || !outcome.errors.contains(text.prefix(20)))
    }

    @Test("a token file that is missing or a FIFO is refused")
    func missingTokenFile() async throws {
        let replica = try await workspace.makeReplica()
        try #require(mkfifo(workspace.path("fifo"), 0o600) == 0)
        for name in ["none", "fifo"] {
            let outcome = try await Tool.run("run", replica, "--token-file", workspace.path(name))
            #expect(outcome.status == 1)
            #expect(outcome.errors.contains("token file"), "\(outcome)")
            #expect(outcome.errors.contains("\nHint: "), "\(outcome)")
        }
    }

    @Test("an occupied port is reported by its number")
    func occupiedPort() async throws {
        let first = try await DaemonProcess.start(try await workspace.makeReplica())
        let outcome = try await Tool.run(
            "run", try await workspace.makeReplica("b.sqlite"), "--listen", "127.0.0.1:\(first.port)")
        #expect(outcome.status == 1)
        #expect(outcome.errors.contains("127.0.0.1:\(first.port)"), "\(outcome)")
        #expect(outcome.errors.contains("Hint: Another program uses the port"), "\(outcome)")
    }

    @Test(
        "an address that this machine does not have, and an unknown name, are reported with what to do",
        arguments: [("192.0.2.1:0", "This machine has no such address"), ("nobody.invalid:0", "resolve")])
    func foreignAddress(address: String, hint: String) async throws {
        let token = try workspace.write("secret\n", to: "token")
        let outcome = try await Tool.run(
            "run", try await workspace.makeReplica(), "--listen", address, "--token-file", token)
        #expect(outcome.status == 1, "\(outcome)")
        #expect(outcome.errors.contains("Error: Listening on \(address) failed: "), "\(outcome)")
        let advice = outcome.errors.split(separator: "\n").last
        #expect(advice.map { $0.hasPrefix("Hint: ") && $0.contains(hint) } == true, "\(outcome)")
    }

    @Test("a configuration file has the same settings as flags; a flag wins")
    func configuration() async throws {
        let token = try workspace.write("secret\n", to: "token")
        let file = try workspace.write(
            #"{"listen": "192.0.2.1:1", "token-file": "\#(token)", "log-level": "warning", "peer": []}"#,
            to: "syncd.json")
        let daemon = try await DaemonProcess.start(
            try await workspace.makeReplica(), "--config", file, "--listen", "127.0.0.1:0")
        #expect(try await RawHTTP.request("GET", "/v1/status", port: daemon.port).status == 401)
        #expect(await daemon.stop().status == 0)
    }

    @Test(
        "a configuration file with an unknown key, a wrong type or without keys is refused",
        arguments: [
            (#"{"tokenfile": "x"}"#, "unknown key \"tokenfile\""), (#"{"listen": 7}"#, "\"listen\""),
            (#"{"listen": "nowhere"}"#, "\"listen\""), (#"{"log-level": "loud"}"#, "log level \"loud\""),
            ("[]", "not a list of keys with values"), ("", "not a list of keys with values"),
        ])
    func badConfiguration(text: String, sentence: String) async throws {
        let file = try workspace.write(text, to: "syncd.json")
        let outcome = try await Tool.run("run", try await workspace.makeReplica(), "--config", file)
        #expect(outcome.status == 1)
        #expect(outcome.errors.contains(sentence), "\(outcome)")
        #expect(outcome.errors.contains("Hint: "), "\(outcome)")
    }

    @Test("a configuration file that is missing, a directory, or too large is refused")
    func unreadableConfiguration() async throws {
        let replica = try await workspace.makeReplica()
        let large = try workspace.write(String(repeating: " ", count: 2 << 20), to: "large")
        for path in [workspace.path("none"), workspace.directory.path, large] {
            let outcome = try await Tool.run("run", replica, "--config", path)
            #expect(outcome.status == 1)
            #expect(outcome.errors.hasPrefix("Error: The configuration file \(path) "), "\(outcome)")
            #expect(outcome.errors.contains("\nHint: "), "\(outcome)")
        }
    }
}
