import Foundation
import TestSupport
import Testing

/// The daemon reads its configuration again at SIGHUP. The messages for systemd say when it has done so.
@Suite("Reload", .timeLimit(.minutes(2)))
struct ReloadTests {
    let workspace = Workspace()

    private static func certificate(_ name: String) -> String {
        URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Fixtures/tls/\(name)").path
    }

    private func configure(_ text: String) throws -> String {
        try workspace.write("database: a.sqlite\nlisten: 127.0.0.1:0\n" + text, to: "a.yaml")
    }

    private func start(_ text: String) async throws -> (daemon: DaemonProcess, socket: NotifySocket) {
        _ = try await workspace.makeReplica("a.sqlite", rows: 2)
        let socket = try NotifySocket(workspace.path("notify"))
        let daemon = try await DaemonProcess.start(
            configuration: try configure(text), environment: ["NOTIFY_SOCKET": socket.path])
        #expect(try await socket.next().contains("READY=1"))
        return (daemon, socket)
    }

    /// Sends SIGHUP, and waits until the daemon is done with it.
    private func reload(_ daemon: DaemonProcess, _ socket: NotifySocket) async throws {
        kill(daemon.processIdentifier, SIGHUP)
        #expect(try await socket.next() == "RELOADING=1")
        #expect(try await socket.next() == "READY=1")
    }

    private func status(_ daemon: DaemonProcess, token: String) async throws -> Int {
        try await RawHTTP.request(
            "GET", "/v1/status", port: daemon.port, headers: [("Authorization", "Bearer \(token)")]
        ).status
    }

    @Test("a token file that was written anew takes effect, and the old token ends")
    func token() async throws {
        _ = try workspace.write("first\n", to: "token")
        let (daemon, socket) = try await start("token-file: token\n")
        #expect(try await status(daemon, token: "first") == 200)
        _ = try workspace.write("second\n", to: "token")
        try await reload(daemon, socket)
        #expect(try await status(daemon, token: "first") == 401)
        #expect(try await status(daemon, token: "second") == 200)
        let end = await daemon.stop()
        #expect(end.status == 0 && end.log.contains("applied token-file"), "\(end.log)")
        #expect(!end.log.contains("first") && !end.log.contains("second"))
    }

    @Test("peers that are added are followed; what needs a restart is named")
    func peers() async throws {
        _ = try await workspace.makeReplica("b.sqlite", rows: 5)
        let (daemon, socket) = try await start("")
        _ = try workspace.write(
            "database: a.sqlite\nlisten: 127.0.0.1:1\npeer: [b.sqlite]\nlog-level: debug\n", to: "a.yaml")
        try await reload(daemon, socket)
        let answer = try await RawHTTP.request("GET", "/v1/status", port: daemon.port)
        #expect(answer.body.contains("b.sqlite"), "\(answer.body)")
        let end = await daemon.stop()
        #expect(
            end.status == 0
                && end.log.contains("configuration read again: applied peer, log-level; needs a restart: listen"),
            "\(end.log)")
    }

    @Test("a configuration with mistakes changes nothing, and each mistake is logged with its line")
    func mistakes() async throws {
        _ = try workspace.write("first\n", to: "token")
        let (daemon, socket) = try await start("token-file: token\n")
        _ = try workspace.write("second\n", to: "other")
        _ = try configure("token-file: other\nfrob: 1\nlog-level: loud\n")
        try await reload(daemon, socket)
        #expect(try await status(daemon, token: "first") == 200)
        try FileManager.default.removeItem(atPath: workspace.path("a.yaml"))
        try await reload(daemon, socket)
        #expect(try await status(daemon, token: "first") == 200)
        let end = await daemon.stop()
        #expect(end.status == 0)
        for sentence in ["line 4: unknown key \"frob\"", "line 5: unknown log level", "cannot be read"] {
            #expect(end.log.contains(sentence), "\(end.log)")
        }
    }

    @Test("a certificate that was written anew is shown to the next client")
    func certificate() async throws {
        let files = FileManager.default
        for suffix in ["pem", "key"] {
            try files.copyItem(
                atPath: ReloadTests.certificate("server.\(suffix)"), toPath: workspace.path("cert.\(suffix)"))
        }
        let b = try await workspace.makeReplica("b.sqlite", rows: 1)
        let (daemon, socket) = try await start("tls-cert: cert.pem\ntls-key: cert.key\n")
        let sync = [
            Tool.path, "sync", b, "https://127.0.0.1:\(daemon.port)", "--tls-ca", ReloadTests.certificate("ca.pem"),
        ]
        #expect(try await Tool.run(sync).status == 0)
        for suffix in ["pem", "key"] {
            try files.removeItem(atPath: workspace.path("cert.\(suffix)"))
            try files.copyItem(
                atPath: ReloadTests.certificate("other-name.\(suffix)"), toPath: workspace.path("cert.\(suffix)"))
        }
        try await reload(daemon, socket)
        let outcome = try await Tool.run(sync)
        #expect(outcome.status == 1 && outcome.errors.contains("certificate"), "\(outcome)")
        #expect(await daemon.stop().status == 0)
    }

    @Test("a daemon without a configuration file reads its token again")
    func flagsOnly() async throws {
        let token = try workspace.write("first\n", to: "token")
        let socket = try NotifySocket(workspace.path("notify"))
        let daemon = try await DaemonProcess.start(
            try await workspace.makeReplica(), "--token-file", token, environment: ["NOTIFY_SOCKET": socket.path])
        #expect(try await socket.next().contains("READY=1"))
        _ = try workspace.write("second\n", to: "token")
        try await reload(daemon, socket)
        #expect(try await status(daemon, token: "second") == 200)
        #expect(await daemon.stop().status == 0)
    }

    /// Asks again until the answer is the expected one; the suite's limit ends it.
    private func wait(_ daemon: DaemonProcess, token: String, for isExpected: (RawHTTP.Answer) -> Bool) async throws {
        var answer: RawHTTP.Answer
        repeat {
            answer = try await RawHTTP.request(
                "GET", "/v1/status", port: daemon.port, headers: [("Authorization", "Bearer \(token)")])
        } while !isExpected(answer)
    }

    @Test("a file that changes is read without a reload; a broken one is not used, and mended, it is")
    func files() async throws {
        _ = try workspace.write("first\n", to: "token")
        let (daemon, _) = try await start("token-file: token\n")
        #expect(try await status(daemon, token: "first") == 200)
        // What is not asked for is not applied.
        _ = try configure("token-file: token\nlog-level: error\n")
        _ = try workspace.write("second\n", to: "token")
        try await wait(daemon, token: "second") { $0.status == 200 }
        #expect(try await status(daemon, token: "first") == 401)
        _ = try workspace.write("third and more\n", to: "token")
        try await wait(daemon, token: "second") { $0.body.contains("holds characters that a token cannot have") }
        _ = try workspace.write("third\n", to: "token")
        try await wait(daemon, token: "third") { $0.body.contains(#""configuration_refused":null"#) }
        let end = await daemon.stop()
        #expect(end.status == 0)
        for sentence in [
            "files have changed: applied token-file", "files have changed and are not used: The token file",
        ] {
            #expect(end.log.contains(sentence), "\(end.log)")
        }
        #expect(!end.log.contains("log-level"), "\(end.log)")
    }

    @Test("a certificate that changes is shown to the next client without a reload, once its key fits")
    func changedCertificate() async throws {
        let files = FileManager.default
        func copy(_ name: String, _ suffix: String) throws {
            let path = workspace.path("cert.\(suffix)")
            try? files.removeItem(atPath: path)
            try files.copyItem(atPath: ReloadTests.certificate("\(name).\(suffix)"), toPath: path)
        }
        for suffix in ["pem", "key"] { try copy("server", suffix) }
        let b = try await workspace.makeReplica("b.sqlite", rows: 1)
        let (daemon, socket) = try await start("tls-cert: cert.pem\ntls-key: cert.key\n")
        let sync = [
            Tool.path, "sync", b, "https://127.0.0.1:\(daemon.port)", "--tls-ca", ReloadTests.certificate("ca.pem"),
        ]
        try copy("other-name", "pem")
        try await reload(daemon, socket)
        #expect(try await Tool.run(sync).status == 0)
        try copy("other-name", "key")
        var outcome: Outcome
        repeat { outcome = try await Tool.run(sync) } while outcome.status == 0
        #expect(outcome.errors.contains("certificate"), "\(outcome)")
        let end = await daemon.stop()
        #expect(end.status == 0)
        #expect(end.log.contains("do not fit together") && end.log.contains("files have changed: applied tls-cert"))
    }
}
