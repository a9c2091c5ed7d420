import Foundation
import Journal

@testable import Sync

/// Part G of the catalogue: answers of a server that `syncd sync` must survive.
extension HostileInput {
    private static func answer(
        _ entry: Int, _ name: String, _ sentence: String = "", toPull: Bool = false,
        _ make: @escaping @Sendable (HostileScene) throws -> HostileServer.Behaviour
    ) -> HostileInput {
        HostileInput(
            entry, name,
            .client { scene, path in
                if toPull, path == WireHTTP.helloPath {
                    return .answer(type: WireHTTP.messageType, try scene.peerHello())
                }
                return try make(scene)
            }, .explained(sentence))
    }

    private static let message = WireHTTP.messageType
    private static let frames = WireHTTP.framesType

    /// B67 to B76.
    @HostileInputs static var answers: [HostileInput] {
        [301, 302, 303, 307, 308].map { status in
            answer(67, "\(status) to another host", "\(status)") { _ in
                .answer("\(status) Moved", type: message, [], headers: "Location: http://169.254.169.254/\r\n")
            }
        }
        [
            "file:///etc/passwd", "gopher://127.0.0.1:25/", "ftp://127.0.0.1/", "/v1/hello", "//evil.example/",
            "https://127.0.0.1:1/",
            "javascript:alert(1)", "ldap://127.0.0.1/",
        ].map { location in
            answer(67, "a redirect to \(location)", "302") { _ in
                .answer("302 Found", type: message, [], headers: "Location: \(location)\r\n")
            }
        }
        answer(67, "300 choices", "300") { _ in .answer("300 Multiple Choices", type: message, []) }
        answer(67, "304 without a reason", "304") { _ in .answer("304 Not Modified", type: message, []) }
        answer(69, "headers without end") { _ in
            .init(
                Array("HTTP/1.1 200 OK\r\n".utf8), endless: Array("X-A: \(String(repeating: "a", count: 60))\r\n".utf8))
        }
        answer(69, "one header without end") { _ in
            .init(Array("HTTP/1.1 200 OK\r\nX-A: ".utf8), endless: [UInt8](repeating: 0x61, count: 4_096))
        }
        answer(69, "1xx without end") { _ in .init([], endless: Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)) }
        answer(69, "a body without end") { _ in
            .init(
                Array("HTTP/1.1 200 OK\r\nContent-Type: \(message)\r\n\r\n".utf8),
                endless: [UInt8](repeating: 0x41, count: 1 << 16))
        }
        answer(69, "a body of 1 TB, by its length") { _ in
            .init(
                Array("HTTP/1.1 200 OK\r\nContent-Type: \(message)\r\nContent-Length: 1099511627776\r\n\r\n".utf8),
                endless: [UInt8](repeating: 0x41, count: 1 << 16))
        }
        answer(69, "chunks without end") { _ in
            .init(
                Array("HTTP/1.1 200 OK\r\nContent-Type: \(message)\r\nTransfer-Encoding: chunked\r\n\r\n".utf8),
                endless: Array("10000\r\n".utf8) + [UInt8](repeating: 0x41, count: 1 << 16) + Array("\r\n".utf8))
        }
        answer(69, "an error without end") { _ in
            .init(
                Array("HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\n\r\n".utf8),
                endless: [UInt8](repeating: 0x5B, count: 1 << 16))
        }
        answer(69, "nothing, and then the end") { _ in .init([]) }
        answer(69, "headers, and then the end") { _ in
            .init(Array("HTTP/1.1 200 OK\r\nContent-Type: \(message)\r\nContent-Length: 100\r\n\r\n".utf8))
        }
        answer(69, "half a head") { _ in .init(Array("HTTP/1.1 200 OK\r\nContent-".utf8)) }
        answer(69, "frames without end", toPull: true) { _ in
            // They bring nothing new, so their payloads are skipped.
            let frame = Frame(
                body: .batch(covers: [], encoding: .none, rawSize: 1 << 20),
                payload: [UInt8](repeating: 7, count: 1 << 20))
            return .init(
                Array("HTTP/1.1 200 OK\r\nContent-Type: \(frames)\r\n\r\n".utf8), endless: try frame.encoded())
        }
        answer(70, "a page of a captive portal") { _ in
            .answer(type: "text/html", Array("<html><body>Please sign in</body></html>".utf8))
        }
        answer(70, "a page that says it is a message") { _ in
            .answer(type: message, Array("<html><body>Please sign in</body></html>".utf8))
        }
        answer(70, "JSON cut off") { _ in .answer(type: "application/json", Array(#"{"error": {"code": "#.utf8)) }
        answer(70, "a message without a type") { scene in
            .init(Array("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nab".utf8))
        }
        answer(70, "an empty message") { _ in .answer(type: message, []) }
        answer(70, "204") { _ in .answer("204 No Content", type: message, []) }
        answer(70, "206, a part") { scene in .answer("206 Partial Content", type: message, try scene.peerHello()) }
        answer(70, "201, and a good message") { scene in .answer("201 Created", type: message, try scene.peerHello()) }
        answer(70, "999") { _ in .answer("999 Whatever", type: message, []) }
        answer(70, "no HTTP") { _ in .init(Array("220 mail.example ESMTP\r\n\r\n".utf8)) }
        answer(70, "HTTP/0.9") { _ in .init(Array("<html>hello</html>".utf8)) }
        answer(70, "a Content-Encoding") { scene in
            .answer(type: message, try scene.peerHello(), headers: "Content-Encoding: gzip, gzip, gzip\r\n")
        }
        answer(70, "a push for a pull", toPull: true) { scene in
            .answer(type: frames, try scene.open() + scene.end())
        }
        answer(70, "a page for a pull", toPull: true) { _ in .answer(type: "text/html", Array("<html>".utf8)) }
        answer(70, "a stream without its end", toPull: true) { scene in
            .answer(type: frames, Array(try scene.end().dropLast(3)))
        }
        answer(70, "bytes after the end of a stream", toPull: true) { scene in
            .answer(type: frames, try scene.end() + [1, 2, 3])
        }
        answer(70, "a frame with a wrong checksum", toPull: true) { scene in
            var bytes = try scene.end()
            bytes[bytes.count - 1] ^= 1
            return .answer(type: frames, bytes)
        }
        answer(70, "a hello of another version") { scene in
            .answer(type: message, try scene.hello { $0.wireVersion = 7 })
        }
        answer(70, "a hello of another cluster whose name has line breaks", "cluster") { scene in
            .answer(type: message, try scene.hello { $0.cluster = wireData("x\r\nError: forged\u{1B}[31m".utf8) })
        }
        answer(71, "an acknowledgement that is no message", toPull: true) { scene in
            .answer(type: frames, [UInt8](repeating: 0, count: 100))
        }
        answer(71, "500, after it may have stored", "500", toPull: true) { _ in
            .answer("500 Internal Server Error", type: "text/plain", Array("boom".utf8))
        }
        answer(71, "more for ever", toPull: true) { _ in
            .answer(type: frames, try Frame(body: .end(vector: VersionVector(), more: true)).encoded())
        }
        ["1000000000", "-5", "99999999999999999999999", "Wed, 21 Oct 2015 07:28:00 GMT", "", "NaN", "1.5e9"].map {
            delay in
            answer(73, "Retry-After \(delay)", "503") { _ in
                .answer("503 Service Unavailable", type: message, [], headers: "Retry-After: \(delay)\r\n")
            }
        }
        answer(74, "cookies, HSTS and another service", "401") { _ in
            .answer(
                "401 Unauthorized", type: message, [],
                headers:
                    "Set-Cookie: a=b\r\nStrict-Transport-Security: max-age=99999999\r\nAlt-Svc: h2=\"evil.example:443\"\r\n"
            )
        }
        answer(76, "the token in a header", "403") { _ in
            .answer("403 Forbidden", type: message, [], headers: "X-Echo: \(HostileScene.authorization)\r\n")
        }
        answer(76, "a row in an error that is no error body", "400") { _ in
            .answer("400 Bad Request", type: "text/plain", Array(HostileScene.canary.utf8))
        }
        answer(76, "control characters in an error", "409") { _ in
            .answer(
                "409 Conflict", type: "application/json",
                Array(#"{"error":{"code":"fork","message":"a\u001b[31m\r\nError: forged"}}"#.utf8))
        }
        answer(76, "an error of 1 000 levels", "400") { _ in
            .answer("400 Bad Request", type: "application/json", [UInt8](repeating: 0x5B, count: 15_000))
        }
    }
}

extension HostileScene {
    /// The hello of a peer that has something to send.
    fileprivate func peerHello() throws -> [UInt8] {
        try hello { message in
            var vector = VersionVector()
            vector.advance(origin, to: 1_000)
            message.vector = Tandem_V1_Vector(vector)
        }
    }
}
