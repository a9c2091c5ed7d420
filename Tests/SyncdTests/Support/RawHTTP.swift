import Foundation

/// An HTTP client that sends exactly the given bytes, right or wrong.
enum RawHTTP {
    struct Answer: Sendable {
        let status: Int
        let head: String
        let body: String
    }

    /// The seconds that a test waits for a byte.
    static let patience = 30

    /// Sends the bytes and reads until the server closes, or until the announced body is complete.
    static func send(_ bytes: some Sequence<UInt8>, to port: Int) async throws -> Answer {
        let bytes = Array(bytes)
        return try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread { continuation.resume(with: Result { try sendBlocking(bytes, to: port) }) }
        }
    }

    /// A well-formed request.
    static func request(
        _ method: String, _ path: String, port: Int, headers: [(String, String)] = [], body: [UInt8] = []
    ) async throws -> Answer {
        var head = "\(method) \(path) HTTP/1.1\r\n"
        if !headers.contains(where: { $0.0 == "Host" }) { head += "Host: 127.0.0.1:\(port)\r\n" }
        for (name, value) in headers { head += "\(name): \(value)\r\n" }
        if !body.isEmpty || method == "POST" { head += "Content-Length: \(body.count)\r\n" }
        return try await send(Array((head + "\r\n").utf8) + body, to: port)
    }

    /// - Parameter source: The source address; this machine has all of 127.0.0.0/8.
    static func connect(to port: Int, from source: String? = nil) throws -> Int32 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        if let source {
            var origin = sockaddr_in()
            origin.sin_family = sa_family_t(AF_INET)
            origin.sin_addr.s_addr = inet_addr(source)
            withUnsafePointer(to: &origin) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    _ = bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
        }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let connected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Foundation.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard connected == 0 else {
            close(descriptor)
            throw ToolError("no connection to port \(port): \(String(cString: strerror(errno)))")
        }
        var limit = timeval(tv_sec: patience, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        return descriptor
    }

    /// Sends as much as the server takes. The server may refuse before it has read everything; only its
    /// answer counts.
    static func send(_ bytes: [UInt8], on descriptor: Int32) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                Foundation.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            if count <= 0 { return }
            rest = rest.dropFirst(count)
        }
    }

    private static func sendBlocking(_ bytes: [UInt8], to port: Int) throws -> Answer {
        let descriptor = try connect(to: port)
        defer { close(descriptor) }
        send(bytes, on: descriptor)
        var received: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while !isComplete(received) {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            if count < 0 { throw ToolError("no answer within \(patience) s: \(String(cString: strerror(errno)))") }
            if count == 0 { break }
            received += buffer[..<count]
        }
        return try parse(received)
    }

    private static func split(_ bytes: [UInt8]) -> (head: String, body: [UInt8])? {
        let end = Array("\r\n\r\n".utf8)
        guard let start = bytes.indices.first(where: { bytes[$0...].starts(with: end) }) else { return nil }
        return (String(decoding: bytes[..<start], as: UTF8.self), Array(bytes[(start + 4)...]))
    }

    private static func isComplete(_ bytes: [UInt8]) -> Bool {
        guard let (head, body) = split(bytes) else { return false }
        if let length = head.firstMatch(of: /(?i)content-length: (\d+)/), let count = Int(length.1) {
            return body.count >= count
        }
        // A stream of events has no end; its beginning is the answer.
        if head.contains("text/event-stream") { return !body.isEmpty }
        return body.suffix(5) == Array("0\r\n\r\n".utf8)[...]
    }

    private static func parse(_ bytes: [UInt8]) throws -> Answer {
        guard let (head, body) = split(bytes), let match = head.firstMatch(of: /^HTTP\/1\.1 (\d{3})/),
            let status = Int(match.1)
        else { throw ToolError("this is no HTTP answer: \(String(decoding: bytes.prefix(200), as: UTF8.self))") }
        return Answer(status: status, head: head, body: String(decoding: body, as: UTF8.self))
    }
}
