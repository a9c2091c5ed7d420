import Foundation
import HTTPTypes
import Testing

@testable import SyncdCore

/// A credential of a request, or its absence.
struct Credential: Sendable, CustomTestStringConvertible {
    let name: String
    let headers: [(String, String)]
    /// The access that it gives on a daemon whose token is `AccessTests.secret`.
    let opens: Set<Access>

    enum Access { case peer, reader }

    var testDescription: String { name }

    init(_ name: String, _ headers: [(String, String)], opens: Set<Access> = []) {
        self.name = name
        self.headers = headers
        self.opens = opens
    }

    private static func basic(_ text: String) -> String { "Basic " + Data(text.utf8).base64EncodedString() }
    private static let secret = AccessTests.secret

    static let all: [Credential] = [
        Credential("none", []),
        Credential("the token", [("Authorization", "Bearer \(secret)")], opens: [.peer, .reader]),
        Credential("the token as a password", [("Authorization", basic("any:\(secret)"))], opens: [.reader]),
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

    @Test("only the token opens a route, and only /healthz is open without it")
    func matrix() async throws {
        let workspace = Workspace()
        let token = try workspace.write(AccessTests.secret + "\n", to: "token")
        let path = try await workspace.makeReplica()
        let daemon = try await DaemonProcess.start(path, "--token-file", token)
        let before = try workspace.value(path, "SELECT count(*) FROM _journal", as: Int.self)
        var tried = 0
        for route in Route.all {
            for credential in Credential.all {
                let opens =
                    switch route.access {
                    case .anyone: true
                    case .peer: credential.opens.contains(.peer)
                    case .reader: credential.opens.contains(.reader)
                    }
                let answer = try await RawHTTP.request(
                    route.method.rawValue, route.path, port: daemon.port, headers: credential.headers)
                #expect((answer.status != 401) == opens, "\(route.path), \(credential.name): \(answer)")
                #expect(answer.status != 500, "\(route.path), \(credential.name): \(answer)")
                if !opens {
                    #expect(answer.body.contains(#""code":"unauthorized""#), "\(route.path): \(answer)")
                    #expect(!answer.body.contains("person"))
                }
                #expect(!answer.head.contains(AccessTests.secret) && !answer.body.contains(AccessTests.secret))
                tried += 1
            }
        }
        #expect(tried == Route.all.count * Credential.all.count)
        #expect(try workspace.value(path, "SELECT count(*) FROM _journal", as: Int.self) == before)
        let (status, log) = await daemon.stop()
        #expect(status == 0)
        #expect(!log.contains(AccessTests.secret), "the token is in the log")
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
        #expect(Route.all.filter { $0.access == .anyone }.map(\.path) == ["/healthz"])
        #expect(Route.all.allSatisfy { $0.access != .reader || $0.method == .get || $0.action == .wait })
    }
}
