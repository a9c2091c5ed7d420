import Foundation
import Sync
import TestSupport
import Testing

@testable import SyncdCore

@Suite("Client certificates")
struct ClientCertificateTests {
    let workspace = Workspace()

    private static func file(_ name: String) -> String {
        URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Fixtures/tls/\(name)").path
    }

    private static let server = [
        "--tls-cert", file("server.pem"), "--tls-key", file("server.key"),
    ]

    private func daemon(_ authority: CertificateAuthority, tokens lines: String) async throws -> DaemonProcess {
        let tokens = try workspace.write(lines, to: "tokens")
        let server = ClientCertificateTests.server
        return try await DaemonProcess.start(
            try await workspace.makeReplica("a.sqlite", rows: 4), "--tokens", tokens, "--tls-client-ca",
            authority.certificate, server[0], server[1], server[2], server[3])
    }

    private func call(
        _ command: [String], _ daemon: DaemonProcess, _ certificate: CertificateAuthority.Issued? = nil,
        _ more: [String] = []
    ) async throws -> Outcome {
        let files = certificate.map { ["--tls-cert", $0.certificate, "--tls-key", $0.key] } ?? []
        return try await Tool.run(
            [Tool.path] + command + [
                "https://127.0.0.1:\(daemon.port)", "--tls-ca", ClientCertificateTests.file("ca.pem"),
            ]
                + files + more)
    }

    @Test("a certificate stands for a token: pinned by name or by fingerprint, with the scopes of its line")
    func pinned() async throws {
        let authority = try await CertificateAuthority("clients", in: workspace)
        let named = try await authority.issue("named", names: ["berlin.example"], usage: "clientAuth")
        let common = try await authority.issue("common", common: "oslo")
        let printed = try await authority.issue("printed")
        let other = try await authority.issue("other", common: "berlin.example", names: ["else.example"])
        let daemon = try await daemon(
            authority,
            tokens: """
                berlin replicate cert-name:Berlin.Example
                oslo   pull      cert-name:oslo
                lab    read      cert-sha256:\(try await CertificateAuthority.fingerprint(printed.certificate))
                """)
        let b = try await workspace.makeReplica("b.sqlite", rows: 1)
        #expect(try await call(["sync", b], daemon, named).status == 0)
        #expect(try workspace.value(b, "SELECT count(*) FROM person", as: Int.self) == 4)
        let status = try await call(["status"], daemon, printed)
        #expect(status.status == 0 && status.output.contains("4 rows"), "\(status)")
        for (command, certificate) in [(["status"], named), (["status"], common), (["sync", b], printed)] {
            let outcome = try await call(command, daemon, certificate)
            #expect(outcome.status == 1 && outcome.errors.contains("does not have the scope"), "\(outcome)")
        }
        // A common name does not count beside alternative names.
        let refused = try await call(["sync", b], daemon, other)
        #expect(refused.status == 1 && refused.errors.contains("no line of the daemon's tokens file"), "\(refused)")
        let digits = try await CertificateAuthority.fingerprint(other.certificate).filter { $0 != ":" }
        #expect(refused.errors.contains("cert-sha256:\(digits.lowercased())"), "\(refused)")
        #expect(await daemon.stop().status == 0)
    }

    @Test("no certificate, an expired one, one of another authority, and one for servers get a sentence each")
    func refused() async throws {
        let authority = try await CertificateAuthority("clients", in: workspace)
        let strangers = try await CertificateAuthority("strangers", in: workspace)
        let expired = try await authority.issue("expired", names: ["berlin.example"], days: -1)
        let strange = try await strangers.issue("strange", names: ["berlin.example"])
        let server = try await authority.issue("server", names: ["berlin.example"], usage: "serverAuth")
        let daemon = try await daemon(authority, tokens: "berlin replicate,admin cert-name:berlin.example")
        let b = try await workspace.makeReplica("b.sqlite", rows: 1)
        let cases: [(CertificateAuthority.Issued?, String)] = [
            (nil, "neither a token nor a client certificate"), (expired, "has expired"),
            (strange, "not of an authority that the daemon trusts"), (server, "is not for clients"),
        ]
        for (certificate, sentence) in cases {
            for command in [["sync", b], ["status"]] {
                let outcome = try await call(command, daemon, certificate)
                #expect(outcome.status == 1 && outcome.errors.contains(sentence), "\(outcome)")
                #expect(outcome.errors.contains("Hint: "), "\(outcome)")
            }
        }
        #expect(try workspace.value(b, "SELECT count(*) FROM person", as: Int.self) == 1)
        #expect(await daemon.stop().status == 0)
    }

    @Test("a line with a token and a certificate needs both")
    func both() async throws {
        let authority = try await CertificateAuthority("clients", in: workspace)
        let certificate = try await authority.issue("berlin", names: ["berlin.example"])
        let other = try await authority.issue("other", names: ["other.example"])
        let token = try #require(Token("0123456789abcdef"))
        let daemon = try await daemon(
            authority, tokens: AccessTokens.line("berlin", [.read], token) + " cert-name:berlin.example")
        let file = ["--token-file", try workspace.write(token.secret, to: "token")]
        #expect(try await call(["status"], daemon, certificate, file).status == 0)
        let attempts: [(CertificateAuthority.Issued?, [String])] = [
            (certificate, []), (other, file), (nil, file), (nil, []),
        ]
        for (certificate, file) in attempts {
            let outcome = try await call(["status"], daemon, certificate, file)
            #expect(outcome.status == 1 && outcome.errors.contains("Hint: "), "\(outcome)")
        }
        #expect(await daemon.stop().status == 0)
    }

    @Test("a reload reads the authorities and the lines again, also for a connection that is open")
    func reload() async throws {
        let old = try await CertificateAuthority("old", in: workspace)
        let new = try await CertificateAuthority("new", in: workspace)
        let first = try await old.issue("first", names: ["berlin.example"])
        let second = try await new.issue("second", names: ["berlin.example"])
        let authorities = try workspace.write(
            try String(contentsOfFile: old.certificate, encoding: .utf8), to: "authorities.pem")
        let tokens = try workspace.write("berlin read,admin cert-name:berlin.example", to: "tokens")
        let server = ClientCertificateTests.server
        let daemon = try await DaemonProcess.start(
            try await workspace.makeReplica("a.sqlite"), "--tokens", tokens, "--tls-client-ca", authorities, server[0],
            server[1], server[2], server[3])
        #expect(try await call(["status"], daemon, first).status == 0)
        #expect(try await call(["status"], daemon, second).status == 1)
        _ = try workspace.write(
            try String(contentsOfFile: new.certificate, encoding: .utf8), to: "authorities.pem")
        let order = try await curl(
            daemon, first,
            [
                "-X", "POST", "https://127.0.0.1:\(daemon.port)/v1/admin/reload", "--next", "-sS", "--cacert",
                ClientCertificateTests.file("ca.pem"), "--cert", first.certificate, "--key", first.key,
                "https://127.0.0.1:\(daemon.port)/v1/status",
            ])
        #expect(order.output.contains(#""applied":["tls-client-ca"]"#), "\(order)")
        #expect(order.output.contains("not of an authority that the daemon trusts"), "\(order)")
        #expect(try await call(["status"], daemon, second).status == 0)
        let crossSite = try await curl(
            daemon, second,
            [
                "-X", "POST", "-H", "Sec-Fetch-Site: cross-site", "https://127.0.0.1:\(daemon.port)/v1/admin/reload",
            ])
        #expect(crossSite.output.contains("another site"), "\(crossSite)")
        #expect(await daemon.stop().status == 0)
    }

    private func curl(
        _ daemon: DaemonProcess, _ certificate: CertificateAuthority.Issued, _ arguments: [String]
    ) async throws -> Outcome {
        try await Tool.run(
            [
                "/usr/bin/env", "curl", "-sS", "--cacert", ClientCertificateTests.file("ca.pem"), "--cert",
                certificate.certificate, "--key", certificate.key,
            ] + arguments)
    }

    @Test("a peer shows the certificate that its file has at the time, once the old one no longer counts")
    func rotated() async throws {
        let authority = try await CertificateAuthority("clients", in: workspace)
        let first = try await authority.issue("first")
        let second = try await authority.issue("second")
        let lines = [
            "berlin read,admin cert-sha256:\(try await CertificateAuthority.fingerprint(first.certificate))",
            "berlin read,admin cert-sha256:\(try await CertificateAuthority.fingerprint(second.certificate))",
        ]
        let daemon = try await daemon(authority, tokens: lines.joined(separator: "\n"))
        let shown = TLSFiles(
            authorities: ClientCertificateTests.file("ca.pem"), certificate: workspace.path("shown.pem"),
            key: workspace.path("shown.key"))
        func show(_ certificate: CertificateAuthority.Issued) throws {
            for (from, to) in [(certificate.certificate, "shown.pem"), (certificate.key, "shown.key")] {
                _ = try workspace.write(try String(contentsOfFile: from, encoding: .utf8), to: to)
            }
        }
        try show(first)
        let transport = try CurlTransport(
            try PeerConfiguration("https://127.0.0.1:\(daemon.port)", tls: shown))
        _ = try await transport.get("/v1/status", type: ContentType.json)
        try show(second)
        _ = try workspace.write(lines[1], to: "tokens")
        let order = try await curl(
            daemon, second,
            [
                "-X", "POST", "https://127.0.0.1:\(daemon.port)/v1/admin/reload",
            ])
        #expect(order.output.contains(#""applied":["tokens"]"#), "\(order)")
        let error = await #expect(throws: SyncError.self) {
            _ = try await transport.get("/v1/status", type: ContentType.json)
        }
        #expect(error?.code == .unauthorized, "\(String(describing: error))")
        _ = try await transport.get("/v1/status", type: ContentType.json)
        #expect(daemon.isRunning)
    }

    @Test("a peer whose key is pinned is trusted with that key only")
    func pinnedServer() async throws {
        let daemon = try await DaemonProcess.start(
            try await workspace.makeReplica(), ClientCertificateTests.server[0], ClientCertificateTests.server[1],
            ClientCertificateTests.server[2], ClientCertificateTests.server[3])
        let digest = try await Tool.run([
            "/bin/sh", "-c",
            "openssl x509 -in \(ClientCertificateTests.file("server.pem")) -noout -pubkey "
                + "| openssl pkey -pubin -outform der | openssl dgst -sha256 -binary | base64",
        ]).output.trimmingCharacters(in: .whitespacesAndNewlines)
        func answer(_ pin: String) async throws {
            var files = TLSFiles(authorities: ClientCertificateTests.file("ca.pem"))
            files.serverKey = pin
            let transport = try CurlTransport(
                try PeerConfiguration("https://127.0.0.1:\(daemon.port)", tls: files))
            _ = try await transport.get("/v1/status", type: ContentType.json)
        }
        let other = "sha256//YhKJKSzoTt2b5FP18fvpHo7fJYqQCjAa3HWY3tvRMwE="
        try await answer("\(other);sha256//\(digest)")
        let error = await #expect(throws: SyncError.self) { try await answer(other) }
        #expect(error?.code == .tls && error?.message.contains("another key than the pinned one") == true)
        #expect(daemon.isRunning)
    }

    @Test("a daemon follows a peer that knows it by its certificate")
    func followed() async throws {
        let authority = try await CertificateAuthority("clients", in: workspace)
        let certificate = try await authority.issue("berlin", names: ["berlin.example"])
        let hub = try await daemon(authority, tokens: "berlin replicate cert-name:berlin.example")
        let b = try await workspace.makeReplica("b.sqlite", rows: 0)
        let configuration = try workspace.write(
            """
            database: \(b)
            listen: 127.0.0.1:0
            peer:
              - url: https://127.0.0.1:\(hub.port)
                tls-ca: \(ClientCertificateTests.file("ca.pem"))
                tls-cert: \(certificate.certificate)
                tls-key: \(certificate.key)
            """, to: "b.yaml")
        let follower = try await DaemonProcess.start(configuration: configuration, environment: [:])
        try await workspace.wait(for: b) {
            try workspace.value(b, "SELECT count(*) FROM person", as: Int.self) == 4
        }
        try workspace.execute(b, "INSERT INTO person VALUES ('back', 'back', 1)")
        let a = workspace.path("a.sqlite")
        try await workspace.wait(for: a) {
            try workspace.value(a, "SELECT count(*) FROM person", as: Int.self) == 5
        }
        #expect(await follower.stop().status == 0)
        #expect(await hub.stop().status == 0)
    }

    @Test("a setting that does not fit the others, and files that cannot be used, are refused at the start")
    func mistakes() async throws {
        let authority = try await CertificateAuthority("clients", in: workspace)
        let certificate = try await authority.issue("client")
        let other = try await authority.issue("other")
        let replica = try await workspace.makeReplica()
        let named = ["--tokens", try workspace.write("berlin read cert-name:berlin.example", to: "named")]
        let digest = String(repeating: "0", count: 64)
        let plain = ["--tokens", try workspace.write("berlin read sha256:\(digest)", to: "plain")]
        let asks = ["--tls-client-ca", authority.certificate]
        let server = ClientCertificateTests.server
        let text = try workspace.write("no certificate", to: "text.pem")
        let peer = { (certificate: String, key: String) throws -> [String] in
            let peer = "{peer: [{url: 'https://127.0.0.1:1', tls-cert: '\(certificate)', tls-key: '\(key)'}]}"
            return ["--config", try workspace.write(peer, to: "\(UUID()).yaml")]
        }
        let unreadable = try workspace.write("x", to: "unreadable.key", mode: 0)
        let cases: [([String], String)] = [
            (named + server, "the listener asks for none"), (named + asks, "without --tls-cert"),
            (plain + server + asks, "no line of a tokens file"), (server + asks, "no line of a tokens file"),
            (named + server + ["--tls-client-ca", text], "holds no certificate"),
            (named + server + ["--tls-client-ca", workspace.path("none")], "cannot be read"),
            (try peer(certificate.certificate, other.key), "do not fit together"),
            (try peer(certificate.certificate, text), "cannot be used"),
            (try peer(certificate.certificate, getuid() == 0 ? workspace.path("none") : unreadable), "cannot be read"),
        ]
        for (arguments, sentence) in cases {
            let outcome = try await Tool.run([Tool.path, "run", replica] + arguments)
            #expect(outcome.status == 1 && outcome.errors.contains(sentence), "\(outcome)")
            #expect(outcome.errors.contains("Hint: "), "\(outcome)")
        }
        let alone = try await Tool.run("status", "https://127.0.0.1:1", "--tls-cert", certificate.certificate)
        #expect(alone.status == 1 && alone.errors.contains("--tls-key"), "\(alone)")
    }

    @Test("a line with a pin that cannot be used, or that is there twice, is refused")
    func lines() throws {
        let digest = String(repeating: "0", count: 64)
        let bad = [
            "a read cert-name:", "a read cert-name:.example", "a read cert-sha256:12", "a read cert-what:x",
            "a read cert-name:a cert-name:b", "a read sha256:\(digest) sha256:\(digest)",
            "a read cert-name:a\nb read cert-name:a", "a read sha256:\(digest) cert-name:a\nb read sha256:\(digest)",
            "a read cert-name:a\na read cert-name:b\na read cert-name:c",
        ]
        for text in bad {
            #expect(throws: Failure.self, "\(text)") { try AccessTokens(parsing: text, path: "f") }
        }
        let good = try AccessTokens(
            parsing: "a read sha256:\(digest) cert-name:a\na read sha256:\(digest) cert-name:b", path: "f")
        #expect(good.entries.count == 2 && good.haveCertificates)
    }
}
