import Foundation
import Testing

@Suite("A request that is broken, too large or of the wrong kind gets a 4xx, and the next good one is served")
struct RequestTests {
    let workspace = Workspace()

    /// Sends `bytes`, and expects one of the statuses and a daemon that still answers.
    private func expect(
        _ bytes: some Sequence<UInt8>, _ statuses: Set<Int>, from daemon: DaemonProcess, _ name: String = "",
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let answer = try await RawHTTP.send(bytes, to: daemon.port)
        #expect(statuses.contains(answer.status), "\(name): \(answer)", sourceLocation: sourceLocation)
        let next = try await RawHTTP.request("GET", "/v1/status", port: daemon.port)
        #expect(next.status == 200, "\(name): \(next)", sourceLocation: sourceLocation)
        #expect(daemon.isRunning, sourceLocation: sourceLocation)
    }

    private func post(_ path: String, _ lines: String..., body: String = "") -> [UInt8] {
        Array(
            ("POST \(path) HTTP/1.1\r\nHost: localhost\r\n" + lines.map { $0 + "\r\n" }.joined() + "\r\n" + body).utf8)
    }

    @Test("broken framing")
    func framing() async throws {
        let daemon = try await DaemonProcess.start(try await workspace.makeReplica())
        let type = "Content-Type: application/x-protobuf"
        let requests: [(String, [UInt8])] = [
            (
                "both lengths",
                post("/v1/hello", type, "Content-Length: 5", "Transfer-Encoding: chunked", body: "0\r\n\r\n")
            ),
            ("two lengths", post("/v1/hello", type, "Content-Length: 5", "Content-Length: 6", body: "abcdef")),
            ("a signed length", post("/v1/hello", type, "Content-Length: +5", body: "abcde")),
            ("a hexadecimal length", post("/v1/hello", type, "Content-Length: 0x5", body: "abcde")),
            ("a negative length", post("/v1/hello", type, "Content-Length: -1")),
            ("an overflowing length", post("/v1/hello", type, "Content-Length: 99999999999999999999")),
            ("a huge chunk", post("/v1/hello", type, "Transfer-Encoding: chunked", body: "FFFFFFFFFFFFFFFFF\r\n")),
            ("a negative chunk", post("/v1/hello", type, "Transfer-Encoding: chunked", body: "-1\r\n")),
            ("a blank before the colon", post("/v1/hello", type, "Transfer-Encoding : chunked", body: "0\r\n\r\n")),
            ("a null byte in a header", post("/v1/hello", type, "X-A: a\0b", "Content-Length: 0")),
            ("HTTP/2 without asking", Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)),
            ("a TLS greeting", [0x16, 0x03, 0x01, 0x00, 0x05, 0x01, 0x00, 0x00, 0x01, 0x00, 0x0D, 0x0A, 0x0D, 0x0A]),
            ("a header of 64 KiB", post("/v1/hello", "X-A: " + String(repeating: "a", count: 65_536))),
            ("4 000 headers", post("/v1/hello", (0..<4_000).map { "X-\($0): a" }.joined(separator: "\r\n"))),
            ("an address of 1 MB", Array("GET /\(String(repeating: "a", count: 1 << 20)) HTTP/1.1\r\n\r\n".utf8)),
            (
                "a method of 4 KB",
                Array("\(String(repeating: "A", count: 4_096)) / HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8)
            ),
        ]
        for (name, bytes) in requests {
            try await expect(bytes, [400, 404, 405, 411, 413, 415, 431], from: daemon, name)
        }
        #expect(await daemon.stop().status == 0)
    }

    @Test("a push beyond the size limit is refused before its body is read")
    func tooLarge() async throws {
        let daemon = try await DaemonProcess.start(try await workspace.makeReplica())
        let bytes = post(
            "/v1/push", "Content-Type: application/vnd.tandem.frames", "Content-Length: 10737418240", body: "TDM1")
        let answer = try await RawHTTP.send(bytes, to: daemon.port)
        #expect(answer.status == 413)
        #expect(answer.body.contains(#""code":"too_large""#))
        #expect(answer.head.lowercased().contains("connection: close"))
        try await expect(
            post("/v1/hello", "Content-Type: application/x-protobuf", "Content-Length: 100000000"), [413], from: daemon)
    }

    @Test(
        "another type or a content encoding is refused", arguments: ["/v1/hello", "/v1/pull", "/v1/push", "/v1/digest"])
    func contentType(path: String) async throws {
        let daemon = try await DaemonProcess.start(try await workspace.makeReplica())
        for type in ["text/html", "application/json", "application/x-www-form-urlencoded", "", "text/plain"] {
            try await expect(
                post(path, "Content-Type: \(type)", "Content-Length: 2", body: "{}"), [415], from: daemon, type)
        }
        let type = path == "/v1/push" ? "application/vnd.tandem.frames" : "application/x-protobuf"
        for encoding in ["gzip", "gzip, gzip", "zstd"] {
            try await expect(
                post(path, "Content-Type: \(type)", "Content-Encoding: \(encoding)", "Content-Length: 2", body: "{}"),
                [415], from: daemon, encoding)
        }
    }

    @Test(
        "a body that is no message, half of one, or one of another wire version, is refused",
        arguments: ["/v1/hello", "/v1/pull", "/v1/push", "/v1/digest"])
    func garbage(path: String) async throws {
        let replica = try await workspace.makeReplica()
        let daemon = try await DaemonProcess.start(replica)
        let before = try workspace.value(replica, "SELECT count(*) FROM _journal", as: Int.self)
        let type = path == "/v1/push" ? "application/vnd.tandem.frames" : "application/x-protobuf"
        let bodies = [
            "<html><body>Sign in</body></html>", "{\"a\":1}", String(repeating: "\u{1}", count: 1_000), "TDM1",
            "TDM2\0\0\0\0",
            "TDM1" + String(repeating: "\u{7F}", count: 8),
        ]
        for body in bodies {
            try await expect(
                post(path, "Content-Type: \(type)", "Content-Length: \(body.utf8.count)", body: body), [400, 413],
                from: daemon, body)
        }
        #expect(try workspace.value(replica, "SELECT count(*) FROM _journal", as: Int.self) == before)
    }
}
