import Foundation
import HTTPTypes
import Testing

@testable import SyncdCore

/// A credential of a request, or its absence.
struct Credential: Sendable, CustomTestStringConvertible {
    let name: String
    let headers: [(String, String)]
    /// The scopes that it gives on a daemon with the tokens of `AccessTests`.
    let scopes: Set<TokenScope>
    /// True for a password, which opens only what a browser may ask for by itself.
    let isPassword: Bool

    var testDescription: String { name }

    init(
        _ name: String, _ headers: [(String, String)], scopes: Set<TokenScope> = [], isPassword: Bool = false
    ) {
        self.name = name
        self.headers = headers
        self.scopes = scopes
        self.isPassword = isPassword
    }

    /// The status with which a route refuses the credential; nil when it opens the route.
    func refusal(of route: Route) -> Int? {
        guard !route.scopes.isEmpty else { return nil }
        if scopes.isEmpty || (isPassword && !route.takesPassword) { return 401 }
        return scopes.isDisjoint(with: route.scopes) ? 403 : nil
    }

    private static let scoped: [Credential] = AccessTests.scoped.flatMap { secret, scopes in
        [
            Credential(
                "a token of \(scopes.map(\.rawValue))", [("Authorization", "Bearer \(secret)")],
                scopes: effective(scopes)),
            Credential(
                "a password of \(scopes.map(\.rawValue))", [("Authorization", basic("any:\(secret)"))],
                scopes: effective(scopes), isPassword: true),
            Credential("a token of \(scopes.map(\.rawValue)), and more", [("Authorization", "Bearer \(secret)x")]),
        ]
    }

    private static func effective(_ scopes: [TokenScope]) -> Set<TokenScope> {
        scopes.contains(.admin) ? Set(scopes).union([.read]) : Set(scopes)
    }

    private static func basic(_ text: String) -> String { "Basic " + Data(text.utf8).base64EncodedString() }
    private static let secret = AccessTests.secret

    static let all: [Credential] =
        scoped + [
            Credential("none", []),
            Credential("the token", [("Authorization", "Bearer \(secret)")], scopes: [.replicate, .read]),
            Credential(
                "the token as a password", [("Authorization", basic("any:\(secret)"))], scopes: [.replicate, .read],
                isPassword: true),
            Credential("a wrong token", [("Authorization", "Bearer \(secret.dropLast())x")]),
            Credential("a prefix of the token", [("Authorization", "Bearer \(secret.dropLast())")]),
            Credential("the token and more", [("Authorization", "Bearer \(secret)x")]),
            Credential("no token after the scheme", [("Authorization", "Bearer ")]),
            Credential("blanks", [("Authorization", "Bearer    ")]),
            Credential("an empty header", [("Authorization", "")]),
            Credential("no scheme", [("Authorization", secret)]),
            Credential("the scheme in lower case", [("Authorization", "bearer \(secret)")]),
            Credential("two blanks after the scheme", [("Authorization", "Bearer  \(secret)")]),
            Credential("the token twice in one header", [("Authorization", "Bearer \(secret), Bearer \(secret)")]),
            Credential(
                "two headers, the first right", [("Authorization", "Bearer \(secret)"), ("Authorization", "Bearer x")]),
            Credential(
                "two headers, the second right", [("Authorization", "Bearer x"), ("Authorization", "Bearer \(secret)")]),
            Credential(
                "two right headers", [("Authorization", "Bearer \(secret)"), ("Authorization", "Bearer \(secret)")]),
            Credential("the token as user name", [("Authorization", basic("\(secret):"))]),
            Credential("a wrong password", [("Authorization", basic("any:\(secret)x"))]),
            Credential("an empty password", [("Authorization", basic("any:"))]),
            Credential("no base64", [("Authorization", "Basic %%%")]),
            Credential("a token of 8 000 bytes", [("Authorization", "Bearer " + String(repeating: "a", count: 8_000))]),
            Credential("the digest of the token", [("Authorization", "Bearer " + AccessTests.secretDigest)]),
            Credential("the token in another header", [("X-Token", secret), ("Cookie", "token=\(secret)")]),
            Credential("a proxy's word", [("X-Forwarded-For", "127.0.0.1"), ("X-User", "admin")]),
        ]
}

@Suite("Every route with every credential")
struct AccessTests {
    static let secret = "0123456789abcdef0123456789abcdef"
    /// The SHA-256 of ``secret``. It must not give access: an attacker may read it in memory or in a database
    /// of digests.
    static let secretDigest = "3eb1bd439947eb762998e566ccc2e099c791118b2f40579cc4f7da2b5061b7f9"

    /// The tokens of the tokens file, with each set of scopes.
    static let scoped: [(secret: String, scopes: [TokenScope])] = [
        ("replicate-secret", [.replicate]), ("read-secret", [.read]), ("admin-secret", [.admin]),
        ("both-secret", [.replicate, .read]), ("all-secret", [.replicate, .read, .admin]),
        ("pull-secret", [.pull]), ("push-secret", [.push]),
    ]

    static func tokensFile() throws -> String {
        try scoped.enumerated().map { number, entry in
            AccessTokens.line("name\(number)", entry.scopes, try #require(Token(entry.secret)))
        }.joined(separator: "\n")
    }

    @Test("only a token with the scope of a route opens it, and few routes are open without one")
    func matrix() async throws {
        let workspace = Workspace()
        let token = try workspace.write(AccessTests.secret + "\n", to: "token")
        let tokens = try workspace.write(try AccessTests.tokensFile(), to: "tokens")
        let path = try await workspace.makeReplica()
        let daemon = try await DaemonProcess.start(path, "--token-file", token, "--tokens", tokens)
        let before = try workspace.value(path, "SELECT count(*) FROM _journal", as: Int.self)
        var tried = 0
        for route in Route.all {
            for credential in Credential.all {
                let refusal = credential.refusal(of: route)
                let answer = try await RawHTTP.request(
                    route.method.rawValue, route.path, port: daemon.port, headers: credential.headers)
                if let refusal {
                    #expect(answer.status == refusal, "\(route.path), \(credential.name): \(answer)")
                    let code = refusal == 401 ? "unauthorized" : "forbidden"
                    // A page asks for the token, or says what is wrong.
                    let sign = route.takesSession ? "<!doctype html>" : #""code":"\#(code)""#
                    #expect(answer.body.contains(sign), "\(route.path): \(answer)")
                    #expect(!answer.body.contains("person"))
                } else {
                    #expect(![401, 403, 500].contains(answer.status), "\(route.path), \(credential.name): \(answer)")
                }
                #expect(!AccessTests.secrets.contains { (answer.head + answer.body).contains($0) })
                tried += 1
            }
        }
        #expect(tried == Route.all.count * Credential.all.count)
        #expect(try workspace.value(path, "SELECT count(*) FROM _journal", as: Int.self) == before)
        let (status, log) = await daemon.stop()
        #expect(status == 0)
        #expect(!AccessTests.secrets.contains { log.contains($0) }, "a token is in the log")
    }

    private static var secrets: [String] { scoped.map(\.secret) + [secret, secretDigest] }

    @Test("only a certificate with the scope of a route opens it, but for the forms of the pages")
    func certificates() async throws {
        let workspace = Workspace()
        let authority = try await CertificateAuthority("clients", in: workspace)
        let fixture = URL(fileURLWithPath: #filePath).deletingLastPathComponent().path + "/Fixtures/tls/"
        var lines: [String] = []
        var callers: [(certificate: CertificateAuthority.Issued?, scopes: Set<TokenScope>)] = [(nil, [])]
        for (number, entry) in AccessTests.scoped.enumerated() {
            let names = entry.scopes.map(\.rawValue).joined(separator: ",")
            lines.append("name\(number) \(names) cert-name:caller\(number)")
            let issued = try await authority.issue("caller\(number)", common: "caller\(number)")
            callers.append((issued, Set(entry.scopes).union(entry.scopes.contains(.admin) ? [.read] : [])))
        }
        callers.append((try await authority.issue("unknown", common: "unknown"), []))
        callers.append((try await authority.issue("late", common: "caller4", days: -1), []))
        let daemon = try await DaemonProcess.start(
            try await workspace.makeReplica(), "--tokens",
            try workspace.write(lines.joined(separator: "\n"), to: "tokens"), "--tls-cert", fixture + "server.pem",
            "--tls-key", fixture + "server.key", "--tls-client-ca", authority.certificate)
        for (certificate, scopes) in callers {
            // One process asks for all routes. A stream of events has no end, but its first bytes cannot be written.
            var arguments: [String] = []
            for route in Route.all {
                if !arguments.isEmpty { arguments.append("--next") }
                arguments += [
                    "-sS", "-N", "-o", route.action == .events ? "/dev/full" : "/dev/null", "-w", "%{http_code}\n",
                    "--cacert", fixture + "ca.pem", "-X",
                    route.method.rawValue, "https://127.0.0.1:\(daemon.port)\(route.path)",
                ]
                if let certificate { arguments += ["--cert", certificate.certificate, "--key", certificate.key] }
            }
            let outcome = try await Tool.run(["/usr/bin/env", "curl"] + arguments)
            #expect(outcome.lines.count == Route.all.count, "\(outcome)")
            for (route, line) in zip(Route.all, outcome.lines) {
                let place = "\(route.path), \(certificate?.certificate ?? "none"): \(line)"
                if route.scopes.isEmpty {
                    #expect(!["401", "403", "500"].contains(line), "\(place)")
                } else if scopes.isEmpty || route.action == .form {
                    #expect(line == "401", "\(place)")
                } else if scopes.isDisjoint(with: route.scopes) {
                    #expect(line == "403", "\(place)")
                } else {
                    #expect(!["401", "403", "500", "000"].contains(line), "\(place)")
                }
            }
        }
        #expect(await daemon.stop().status == 0)
    }

    @Test("without any token, a daemon on loopback answers to everyone, and takes no orders")
    func noTokens() async throws {
        let workspace = Workspace()
        let daemon = try await DaemonProcess.start(try await workspace.makeReplica())
        for route in Route.all {
            let answer = try await RawHTTP.request(route.method.rawValue, route.path, port: daemon.port)
            #expect((answer.status == 403) == (route.access == .admin), "\(route.path): \(answer)")
            #expect(answer.status != 401, "\(route.path): \(answer)")
        }
    }

    @Test("without the token, a route that does not exist looks like one that does")
    func unknownRoute() async throws {
        let workspace = Workspace()
        let token = try workspace.write(AccessTests.secret, to: "token")
        let daemon = try await DaemonProcess.start(try await workspace.makeReplica(), "--token-file", token)
        for path in [
            "/nope", "/v1/status/", "/v1/../v1/status", "//", "/%2e%2e/etc/passwd", "/v1/status%00", "/healthz/",
        ] {
            #expect(try await RawHTTP.request("GET", path, port: daemon.port).status == 401, "\(path)")
        }
        for method in ["PUT", "DELETE", "OPTIONS", "TRACE", "PATCH", "POST"] {
            #expect(try await RawHTTP.request(method, "/v1/status", port: daemon.port).status == 401, "\(method)")
        }
        let bearer = [("Authorization", "Bearer \(AccessTests.secret)")]
        #expect(try await RawHTTP.request("GET", "/nope", port: daemon.port, headers: bearer).status == 404)
        #expect(try await RawHTTP.request("PUT", "/v1/status", port: daemon.port, headers: bearer).status == 405)
        #expect(try await RawHTTP.request("OPTIONS", "/v1/push", port: daemon.port, headers: bearer).status == 405)
    }

    @Test("the health of a daemon tells nothing about its replica")
    func health() async throws {
        let workspace = Workspace()
        let daemon = try await DaemonProcess.start(try await workspace.makeReplica(cluster: "hidden"))
        let answer = try await RawHTTP.request("GET", "/healthz", port: daemon.port)
        #expect(answer.body == "ok\n")
    }

    @Test(
        "without a token, a name that resolves to loopback is not accepted",
        arguments: ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "10.0.0.1", ""])
    func rebinding(host: String) async throws {
        let workspace = Workspace()
        let daemon = try await DaemonProcess.start(try await workspace.makeReplica())
        let answer = try await RawHTTP.request("GET", "/v1/status", port: daemon.port, headers: [("Host", host)])
        #expect(answer.status == 403 || answer.status == 400, "\(answer)")
        for good in ["localhost", "127.0.0.1:7", "[::1]:80"] {
            #expect(
                try await RawHTTP.request("GET", "/v1/status", port: daemon.port, headers: [("Host", good)]).status
                    == 200)
        }
    }

    @Test("each action has a route, and each pair of path and method is unique")
    func table() {
        #expect(Set(Route.all.map(\.action)) == Set(Route.Action.allCases))
        #expect(Set(Route.all.map { "\($0.method) \($0.path)" }).count == Route.all.count)
        let open = ["/healthz", "/readyz", "/style.css", "/live.js", "/login", "/login", "/logout"]
        #expect(Route.all.filter { $0.access == .anyone }.map(\.path) == open)
        func opened(by scope: TokenScope) -> [String] { Route.all.filter { $0.scopes.contains(scope) }.map(\.path) }
        #expect(opened(by: .push) == ["/v1/hello", "/v1/push"])
        #expect(
            opened(by: .pull) == ["/v1/hello", "/v1/pull", "/v1/digest", "/v1/snapshot", "/v1/snapshot/part"])
        #expect(Set(opened(by: .replicate)) == Set(opened(by: .pull) + opened(by: .push)))
        #expect(Route.all.allSatisfy { !$0.takesPassword || $0.method == .get })
        #expect(Route.all.filter { $0.access == .reader && $0.method != .get }.map(\.action) == [.wait])
        #expect(Route.all.filter { $0.access == .admin }.map(\.path) == ["/conflicts", "/v1/admin/reload"])
        // Programs send a token, never a cookie: a page of another site can make a browser send the cookie.
        #expect(!Route.all.contains { $0.takesSession && $0.path.hasPrefix("/v1/") })
    }
}
