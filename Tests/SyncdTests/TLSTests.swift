import Foundation
import TestSupport
import Testing

@Suite("HTTPS between replicas")
struct TLSTests {
    let workspace = Workspace()

    private static func file(_ name: String) -> String {
        URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Fixtures/tls/\(name)").path
    }

    private func daemon(_ certificate: String) async throws -> DaemonProcess {
        try await DaemonProcess.start(
            try await workspace.makeReplica("a.sqlite", rows: 4), "--tls-cert", TLSTests.file("\(certificate).pem"),
            "--tls-key", TLSTests.file("\(certificate).key"))
    }

    @Test("with a named authority, replicas exchange over HTTPS")
    func trusted() async throws {
        let daemon = try await daemon("server")
        #expect(daemon.greeting.contains("https://127.0.0.1:"))
        let b = try await workspace.makeReplica("b.sqlite", rows: 1)
        let url = "https://127.0.0.1:\(daemon.port)"
        let outcome = try await Tool.run("sync", b, url, "--tls-ca", TLSTests.file("ca.pem"))
        #expect(outcome.status == 0, "\(outcome)")
        let verified = try await Tool.run("verify", b, url, "--tls-ca", TLSTests.file("ca.pem"))
        #expect(verified.status == 0, "\(verified)")
        let status = try await Tool.run("status", url, "--json", "--tls-ca", TLSTests.file("ca.pem"))
        #expect(status.status == 0 && status.output.contains("\"origin\""), "\(status)")
        #expect(await daemon.stop().status == 0)
    }

    @Test("plain HTTP to a listener with TLS is told to use https://")
    func plain() async throws {
        let daemon = try await daemon("server")
        let b = try await workspace.makeReplica("b.sqlite", rows: 1)
        let outcome = try await Tool.run("sync", b, "http://127.0.0.1:\(daemon.port)")
        #expect(outcome.status == 1 && outcome.errors.contains("its address begins with https://"), "\(outcome)")
        #expect(await daemon.stop().status == 0)
    }

    @Test(
        "an unknown authority, another name and an expired certificate are refused",
        arguments: ["server", "other-name", "expired"])
    func refused(certificate: String) async throws {
        let daemon = try await daemon(certificate)
        let b = try await workspace.makeReplica("b.sqlite", rows: 1)
        let trust = certificate == "server" ? [] : ["--tls-ca", TLSTests.file("ca.pem")]
        let outcome = try await Tool.run([Tool.path, "sync", b, "https://127.0.0.1:\(daemon.port)"] + trust)
        #expect(outcome.status == 1, "\(outcome)")
        #expect(outcome.errors.lowercased().contains("certificate"), "\(outcome)")
        #expect(outcome.errors.contains("Hint: "), "\(outcome)")
        #expect(try workspace.value(b, "SELECT count(*) FROM person", as: Int.self) == 1)
        #expect(await daemon.stop().status == 0)
    }

    @Test("HTTPS to a daemon with HTTP, and HTTP to a daemon with HTTPS")
    func wrongScheme() async throws {
        let secure = try await daemon("server")
        let plain = try await DaemonProcess.start(try await workspace.makeReplica("c.sqlite"))
        let b = try await workspace.makeReplica("b.sqlite")
        for url in ["https://127.0.0.1:\(plain.port)", "http://127.0.0.1:\(secure.port)"] {
            let outcome = try await Tool.run("sync", b, url)
            #expect(outcome.status == 1, "\(outcome)")
            #expect(outcome.errors.hasPrefix("Error: "), "\(outcome)")
        }
        #expect(try await Tool.run("sync", b, plain.url).status == 0)
        #expect(secure.isRunning && plain.isRunning)
    }

    @Test("an unusable certificate or key is refused at the start")
    func badFiles() async throws {
        let replica = try await workspace.makeReplica()
        let text = try workspace.write("no certificate", to: "text.pem")
        let good = (TLSTests.file("server.pem"), TLSTests.file("server.key"))
        let pairs = [
            (workspace.path("none"), good.1), (text, good.1), (good.0, text), (good.0, TLSTests.file("expired.key")),
        ]
        for (certificate, key) in pairs {
            let outcome = try await Tool.run("run", replica, "--tls-cert", certificate, "--tls-key", key)
            #expect(outcome.status == 1, "\(outcome)")
            #expect(outcome.errors.contains("Hint: "), "\(outcome)")
        }
        let alone = try await Tool.run("run", replica, "--tls-cert", good.0)
        #expect(alone.status == 1 && alone.errors.contains("--tls-key"), "\(alone)")
    }

    @Test("a missing or invalid file of authorities is reported before any contact with a peer")
    func badAuthorities() async throws {
        let replica = try await workspace.makeReplica()
        let url = "https://127.0.0.1:1"
        for path in [workspace.path("none"), workspace.directory.path] {
            for command in [["sync", replica, url], ["run", replica, "--peer", url]] {
                let outcome = try await Tool.run([Tool.path] + command + ["--tls-ca", path])
                #expect(outcome.status == 1, "\(outcome)")
                #expect(outcome.errors.contains(path) && outcome.errors.contains("Hint: --tls-ca"), "\(outcome)")
            }
        }
    }
}
