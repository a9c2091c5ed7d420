import Foundation
import Journal
import Sync

@testable import Sync

/// Parts A and F of the catalogue: HTTP and credentials. Each input has a socket of its own to a real daemon.
extension HostileInput {
    private static func http(
        _ entry: Int, _ name: String, _ statuses: Set<Int>, _ make: @escaping @Sendable (HostileScene) throws -> [UInt8]
    ) -> HostileInput {
        HostileInput(entry, name, .daemon(make), .status(statuses))
    }

    private static let hello = WireHTTP.helloPath
    private static let push = WireHTTP.pushPath

    /// B5 to B8, B10 to B13.
    @HostileInputs static var framing: [HostileInput] {
        http(5, "both lengths", [400]) {
            $0.post(hello, "Content-Length: 5", "Transfer-Encoding: chunked", body: Array("0\r\n\r\n".utf8))
        }
        http(5, "two lengths", [400]) {
            $0.post(hello, "Content-Length: 5", "Content-Length: 6", body: Array("abcdef".utf8))
        }
        http(5, "two equal lengths", [400]) {
            $0.post(hello, "Content-Length: 5", "Content-Length: 5", body: Array("abcde".utf8))
        }
        http(5, "a list of lengths", [400]) { $0.post(hello, "Content-Length: 5, 6", body: Array("abcdef".utf8)) }
        http(5, "a signed length", [400]) { $0.post(hello, "Content-Length: +5", body: Array("abcde".utf8)) }
        http(5, "a hexadecimal length", [400]) { $0.post(hello, "Content-Length: 0x5", body: Array("abcde".utf8)) }
        http(5, "a negative length", [400]) { $0.post(hello, "Content-Length: -1") }
        http(5, "an empty length", [400]) { $0.post(hello, "Content-Length: ") }
        http(5, "a length of 20 digits", [400]) { $0.post(hello, "Content-Length: 99999999999999999999") }
        http(5, "a length of 2^64", [400]) { $0.post(hello, "Content-Length: 18446744073709551616") }
        http(5, "a length of 2^63", [400, 413]) { $0.post(hello, "Content-Length: 9223372036854775808") }
        http(5, "a blank before the colon", [400]) {
            $0.post(hello, "Transfer-Encoding : chunked", body: Array("0\r\n\r\n".utf8))
        }
        http(5, "an encoding that is not chunked", [400, 501]) {
            $0.post(hello, "Transfer-Encoding: gzip", body: Array("0\r\n\r\n".utf8))
        }
        http(5, "chunked twice", [400]) {
            $0.post(hello, "Transfer-Encoding: chunked", "Transfer-Encoding: chunked", body: Array("0\r\n\r\n".utf8))
        }
        http(5, "chunked that is not last", [400]) {
            $0.post(hello, "Transfer-Encoding: chunked, identity", body: Array("0\r\n\r\n".utf8))
        }
        http(5, "a folded header", [400]) {
            $0.http("POST \(hello) HTTP/1.1", [HostileScene.authorization, "X-A: 1", " 2"])
        }
        http(6, "half a hello", [0, 400]) { try $0.post(hello, "Content-Length: 100", body: $0.hello()) }
        http(6, "half a push", [0, 400]) { scene in
            scene.post(push, "Content-Length: 1000", body: Array(try scene.push(scene.batch()).dropLast(60)))
        }
        http(6, "a chunked push without its last chunk", [0, 400]) { scene in
            let body = Array(try scene.push(scene.batch()).dropLast(60))
            return scene.post(
                push, "Transfer-Encoding: chunked", body: Array("\(String(body.count + 60, radix: 16))\r\n".utf8) + body
            )
        }
        http(6, "half a head", [0, 400]) { scene in Array(scene.http("GET /v1/status HTTP/1.1").dropLast(20)) }
        http(7, "a request behind a body, without a token", [400, 401]) { scene in
            scene.post(
                hello, "Content-Length: 5", body: Array("abcdeGET /v1/status HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8))
        }
        http(7, "a request inside of a body", [400]) { scene in
            let inner = scene.http("GET /v1/status HTTP/1.1")
            return scene.post(hello, "Content-Length: \(inner.count)", body: inner)
        }
        http(7, "a request inside of a chunk", [400]) { scene in
            let inner = scene.http("GET /v1/status HTTP/1.1")
            return scene.post(
                hello, "Transfer-Encoding: chunked",
                body: Array("\(String(inner.count, radix: 16))\r\n".utf8) + inner + Array("\r\n0\r\n\r\n".utf8))
        }
        http(7, "garbage behind a body", [400]) {
            $0.post(hello, "Content-Length: 2", body: Array("{}garbage\r\n\r\n".utf8))
        }
        http(7, "100 requests without a token at once", [401]) { scene in
            Array((0..<100).map { _ in "GET /v1/status HTTP/1.1\r\nHost: localhost\r\n\r\n" }.joined().utf8)
        }
        http(8, "a chunk of 2^64", [400]) {
            $0.post(hello, "Transfer-Encoding: chunked", body: Array("FFFFFFFFFFFFFFFFF\r\n".utf8))
        }
        http(8, "a chunk of 2^64 - 1", [400, 413]) {
            $0.post(hello, "Transfer-Encoding: chunked", body: Array("FFFFFFFFFFFFFFFF\r\n".utf8))
        }
        http(8, "a chunk of 2^63", [0, 400, 413]) {
            $0.post(hello, "Transfer-Encoding: chunked", body: Array("8000000000000000\r\n".utf8))
        }
        http(8, "a negative chunk", [400]) { $0.post(hello, "Transfer-Encoding: chunked", body: Array("-1\r\n".utf8)) }
        http(8, "a chunk with 0x", [400]) {
            $0.post(hello, "Transfer-Encoding: chunked", body: Array("0x2\r\nab\r\n".utf8))
        }
        http(8, "a chunk size that is empty", [400]) {
            $0.post(hello, "Transfer-Encoding: chunked", body: Array("\r\n\r\n".utf8))
        }
        http(8, "an extension of 1 MB", [0, 400, 413, 431]) { scene in
            scene.post(
                hello, "Transfer-Encoding: chunked",
                body: Array("2;\(String(repeating: "a", count: 1 << 20))\r\nab\r\n0\r\n\r\n".utf8))
        }
        http(8, "a chunk longer than it says", [400]) {
            $0.post(hello, "Transfer-Encoding: chunked", body: Array("2\r\nabcdef\r\n0\r\n\r\n".utf8))
        }
        http(10, "TRACE", [405]) { $0.http("TRACE /v1/status HTTP/1.1") }
        http(10, "CONNECT", [400, 404, 405]) { $0.http("CONNECT example.org:80 HTTP/1.1") }
        http(10, "PUT", [405]) {
            $0.http("PUT /v1/status HTTP/1.1", [HostileScene.authorization, "Content-Length: 0"])
        }
        http(10, "DELETE", [405]) { $0.http("DELETE /v1/push HTTP/1.1") }
        http(10, "OPTIONS", [405]) {
            $0.http("OPTIONS /v1/push HTTP/1.1", [HostileScene.authorization, "Origin: https://evil.example"])
        }
        http(10, "PATCH", [405]) { $0.http("PATCH / HTTP/1.1") }
        http(10, "HEAD", [405]) { $0.http("HEAD /v1/status HTTP/1.1") }
        http(10, "GET where POST belongs", [405]) { $0.http("GET /v1/push HTTP/1.1") }
        http(10, "POST where GET belongs", [405]) {
            $0.http("POST /v1/status HTTP/1.1", [HostileScene.authorization, "Content-Length: 0"])
        }
        http(10, "a method in lower case", [400, 405]) { $0.http("get /v1/status HTTP/1.1") }
        http(10, "a method of 4 KB", [400, 431]) { $0.http("\(String(repeating: "A", count: 4_096)) / HTTP/1.1") }
        http(10, "no method", [400]) { $0.http(" /v1/status HTTP/1.1") }
        http(10, "HTTP/9.9", [400, 505]) { $0.http("GET /v1/status HTTP/9.9") }
        http(10, "HTTP/0.9", [0, 400]) { _ in Array("GET /v1/status\r\n\r\n".utf8) }
        http(11, "Expect without a token", [401]) { _ in
            Array(
                "POST /v1/push HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 10\r\n\r\n".utf8)
        }
        http(11, "Expect with a body that is too large", [413]) {
            $0.post(push, "Expect: 100-continue", "Content-Length: 10737418240")
        }
        http(11, "an expectation that nobody knows", [0, 400, 417]) {
            $0.post(hello, "Expect: magic", "Content-Length: 0")
        }
        http(12, "HTTP/2 without asking", [0, 400, 401, 404, 405]) { _ in Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)
        }
        http(12, "a TLS ClientHello", [0, 400]) { _ in
            [0x16, 0x03, 0x01, 0x00, 0x05, 0x01, 0x00, 0x00, 0x01, 0x00, 0x0D, 0x0A, 0x0D, 0x0A]
        }
        http(12, "nothing at all", [0, 400]) { _ in [] }
        http(12, "10 000 zeros", [0, 400]) { _ in [UInt8](repeating: 0, count: 10_000) }
        http(12, "random bytes", [0, 400]) { _ in
            (0..<4_096).map { UInt8(truncatingIfNeeded: $0 &* 167 &+ 13 &* $0 &* $0) }
        }
        http(12, "10 000 line breaks", [0, 400]) { _ in Array(String(repeating: "\r\n", count: 10_000).utf8) }
        http(12, "a request of SMTP", [0, 400]) { _ in Array("EHLO example.org\r\n\r\n".utf8) }
        http(13, "a NUL in a value", [400]) {
            $0.http("GET /v1/status HTTP/1.1", [HostileScene.authorization, "X-A: a\0b"])
        }
        http(13, "a NUL in a name", [400]) {
            $0.http("GET /v1/status HTTP/1.1", [HostileScene.authorization, "X\0A: b"])
        }
        http(13, "a bare CR in a value", [400]) {
            $0.http("GET /v1/status HTTP/1.1", [HostileScene.authorization, "X-A: a\rb"])
        }
        http(13, "a blank in a name", [400]) {
            $0.http("GET /v1/status HTTP/1.1", [HostileScene.authorization, "X A: b"])
        }
        http(13, "a header without a colon", [400]) {
            $0.http("GET /v1/status HTTP/1.1", [HostileScene.authorization, "nonsense"])
        }
        http(13, "a type with a line break in it", [400, 415]) { _ in
            Array(
                "POST /v1/hello HTTP/1.1\r\nHost: localhost\r\n\(HostileScene.authorization)\r\nContent-Type: a\r b\r\nContent-Length: 0\r\n\r\n"
                    .utf8)
        }
    }

    /// B1, B4, B9, B14, B16, and bodies that HTTP carries.
    @HostileInputs static var resources: [HostileInput] {
        http(1, "a push of 10 GiB", [413]) { $0.post(push, "Content-Length: 10737418240", body: Array("TDM1".utf8)) }
        http(1, "a push one byte above the limit", [413]) {
            $0.post(push, "Content-Length: \(Limits.standard.largestBodyBytes + 1)")
        }
        http(1, "a hello of 100 MB", [413]) { $0.post(hello, "Content-Length: 100000000") }
        http(1, "a body where none belongs", [413]) {
            $0.http(
                "GET /v1/status HTTP/1.1", [HostileScene.authorization, "Content-Length: 5"], body: Array("abcde".utf8))
        }
        http(1, "chunks of a hello above the limit", [413]) { scene in
            let chunk = Array("100000\r\n".utf8) + [UInt8](repeating: 0x41, count: 1 << 20) + Array("\r\n".utf8)
            return scene.post(hello, "Transfer-Encoding: chunked", body: (0..<18).flatMap { _ in chunk })
        }
        http(4, "4 000 small headers", [431]) { scene in
            scene.http("GET /v1/status HTTP/1.1", [HostileScene.authorization] + (0..<4_000).map { "X-\($0): a" })
        }
        http(4, "65 headers", [431]) { scene in
            scene.http("GET /v1/status HTTP/1.1", [HostileScene.authorization] + (0..<65).map { "X-\($0): a" })
        }
        http(4, "a value of 64 KiB", [431]) {
            $0.http("GET /v1/status HTTP/1.1", ["X-A: " + String(repeating: "a", count: 65_536)])
        }
        http(4, "a name of 20 KB", [431]) {
            $0.http("GET /v1/status HTTP/1.1", [String(repeating: "a", count: 20_000) + ": 1"])
        }
        http(4, "8 MB of headers", [431]) { scene in
            scene.http(
                "GET /v1/status HTTP/1.1", (0..<8_000).map { "X-\($0): " + String(repeating: "a", count: 1_000) })
        }
        http(4, "a token of 1 MB", [431]) {
            $0.http("GET /v1/status HTTP/1.1", ["Authorization: Bearer " + String(repeating: "a", count: 1 << 20)])
        }
        http(4, "trailers without end", [0, 400, 413, 431]) { scene in
            scene.post(
                hello, "Transfer-Encoding: chunked",
                body: Array(("0\r\n" + (0..<4_000).map { "X-\($0): a\r\n" }.joined()).utf8))
        }
        http(9, "an address of 1 MB", [400, 414, 431]) {
            $0.http("GET /\(String(repeating: "a", count: 1 << 20)) HTTP/1.1")
        }
        http(9, "an address with blanks", [400]) { $0.http("GET /v1/ status HTTP/1.1") }
        http(9, "an address of UTF-16", [400]) { scene in
            Array("GET /".utf8) + [0xFF, 0xFE, 0x41, 0x00] + scene.http(" HTTP/1.1")
        }
        [
            "/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/..;/etc/passwd", "//etc/passwd", "/v1/status%00",
            "/v1/status/",
            "/v1//status", "/V1/STATUS", "/v1/status;a=b", "/v1/%73tatus/..", "/.git/config", "/v1/sync", "*",
            "http://169.254.169.254/latest/meta-data", "http://localhost/nope", "/v1/push/../status", "\\v1\\status",
            "/%c0%ae%c0%ae/etc/passwd",
        ].map { path in
            http(9, "the address \(path)", [400, 404]) { $0.http("GET \(path) HTTP/1.1") }
        }
        [
            "X-Forwarded-For: 127.0.0.1", "X-Real-IP: ::1", "X-User: admin", "X-Forwarded-User: root",
            "Forwarded: for=127.0.0.1",
            "X-Original-URL: /healthz", "X-HTTP-Method-Override: GET", "Cookie: token=\(HostileScene.token)",
            "Via: 1.1 proxy",
            "X-Token: \(HostileScene.token)",
        ].map { header in
            http(14, "\(header.prefix { $0 != ":" }) instead of a token", [401]) {
                $0.http("GET /v1/status HTTP/1.1", [header])
            }
        }
        ["Host: evil.example", "Host: 169.254.169.254", "Host: localhost:99999"].map { host in
            http(14, "\(host), without a token", [400, 401]) { _ in
                Array("GET /v1/status HTTP/1.1\r\n\(host)\r\n\r\n".utf8)
            }
        }
        ["limit=9e18", "limit=-1", "since=1e400", "since=1&since=2", "a[]=1", "%00=%00", "token=\(HostileScene.token)"]
            .map { query in
                http(16, "a status with ?\(query.prefix(12)): no parameter is looked at", [200]) {
                    $0.http("GET /v1/status?\(query) HTTP/1.1")
                }
            }
        ["gzip", "gzip, gzip", "zstd", "br", "identity, gzip", "deflate"].map { encoding in
            http(18, "Content-Encoding \(encoding)", [415]) {
                try $0.post(
                    hello, "Content-Encoding: \(encoding)", "Content-Length: \($0.hello().count)", body: $0.hello())
            }
        }
        ["text/html", "application/json", "application/x-www-form-urlencoded", "multipart/form-data", "text/plain"].map
        { type in
            http(65, "a form of \(type) from a page", [415]) { scene in
                scene.http(
                    "POST \(push) HTTP/1.1",
                    [
                        HostileScene.authorization, "Origin: https://evil.example", "Content-Type: \(type)",
                        "Content-Length: 2",
                    ],
                    body: Array("{}".utf8))
            }
        }
    }

    /// B58, B60, B62, B65, B66: credentials.
    @HostileInputs static var access: [HostileInput] {
        ([
            ("no token", []), ("an empty header", ["Authorization: "]),
            ("no token after the scheme", ["Authorization: Bearer "]),
            ("blanks for a token", ["Authorization: Bearer    "]), ("a wrong token", ["Authorization: Bearer wrong"]),
            ("a prefix of the token", ["Authorization: Bearer \(HostileScene.token.dropLast())"]),
            ("the token and a letter", ["Authorization: Bearer \(HostileScene.token)x"]),
            ("the scheme in lower case", ["Authorization: bearer \(HostileScene.token)"]),
            ("the scheme in capitals", ["Authorization: BEARER \(HostileScene.token)"]),
            ("two headers, the first right", [HostileScene.authorization, "Authorization: Bearer x"]),
            ("two headers, the second right", ["Authorization: Bearer x", HostileScene.authorization]),
            ("two right headers", [HostileScene.authorization, HostileScene.authorization]),
            ("a token of 8 000 bytes", ["Authorization: Bearer " + String(repeating: "a", count: 8_000)]),
            ("a tab after the scheme", ["Authorization: Bearer\t\(HostileScene.token)"]),
            (
                "the token as a user name",
                ["Authorization: Basic " + Data("\(HostileScene.token):".utf8).base64EncodedString()]
            ),
            ("Digest", ["Authorization: Digest username=\"a\""]), ("Negotiate", ["Authorization: Negotiate YII="]),
            ("no base64", ["Authorization: Basic %%%"]),
            (
                "1 000 colons",
                ["Authorization: Basic " + Data(String(repeating: ":", count: 1_000).utf8).base64EncodedString()]
            ),
        ] as [(String, [String])]).map { name, lines in
            http(58, "\(name) at /v1/status", [401]) { $0.http("GET /v1/status HTTP/1.1", lines) }
        }
        http(58, "a NUL in the token", [400, 401]) {
            $0.http(
                "GET /v1/status HTTP/1.1",
                ["Authorization: Bearer \(HostileScene.token.prefix(5))\0\(HostileScene.token.dropFirst(5))"])
        }
        http(58, "the token as a password, at a route of peers", [401]) {
            let basic = Data("any:\(HostileScene.token)".utf8).base64EncodedString()
            return try $0.http(
                "POST \(hello) HTTP/1.1",
                [
                    "Authorization: Basic \(basic)", "Content-Type: \(WireHTTP.messageType)",
                    "Content-Length: \($0.hello().count)",
                ],
                body: $0.hello())
        }
        http(60, "the digest of the token", [401]) { scene in
            scene.http(
                "GET /v1/status HTTP/1.1",
                ["Authorization: Bearer 0b7a1c1d6e2f4a5b8c9d0e1f2a3b4c5d6e7f8091a2b3c4d5e6f708192a3b4c5d"])
        }
        http(62, "the health, without a token", [200]) { $0.http("GET /healthz HTTP/1.1", []) }
        http(62, "the metrics, without a token", [401]) { $0.http("GET /metrics HTTP/1.1", []) }
        http(62, "the page, without a token", [401]) { $0.http("GET / HTTP/1.1", []) }
        http(65, "a page of another origin that asks before", [405]) {
            $0.http(
                "OPTIONS /v1/push HTTP/1.1",
                [HostileScene.authorization, "Origin: https://evil.example", "Access-Control-Request-Method: POST"])
        }
        ["/v1/config", "/config", "/v1/peers", "/v1/shutdown", "/_config", "/debug/pprof", "/admin"].map { path in
            http(66, "a change of configuration at \(path)", [404]) {
                $0.http(
                    "PUT \(path) HTTP/1.1", [HostileScene.authorization, "Content-Length: 2"], body: Array("{}".utf8))
            }
        }
    }
}
