import Foundation
import TestSupport
import Testing

/// The daemon reads its configuration again at SIGHUP. The messages for systemd say when it has done so.
@Suite("Reload")
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
        #expect(end.status == 0 && end.log.contains("configuration read again: applied token-file"), "\(end.log)")
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
        _ = try workspace.write("second\n", to: "token")
        _ = try configure("token-file: token\nfrob: 1\nlog-level: loud\n")
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
}
