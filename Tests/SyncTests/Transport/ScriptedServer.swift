import Foundation
import Synchronization

#if canImport(Glibc)
    import Glibc
#endif

/// A TCP server on loopback that answers HTTP requests with any bytes of a test, right or wrong.
///
/// Each connection has a thread that blocks, so that a test decides when a byte is sent.
final class ScriptedServer: Sendable {
    struct Request: Sendable {
        var line = ""
        /// As they were sent.
        var headerLines: [String] = []
        var headers: [String: String] = [:]
        var body: [UInt8] = []

        var path: String { line.split(separator: " ").dropFirst().first.map(String.init) ?? "" }
    }

    /// One accepted connection, controlled by a script.
    struct Connection: Sendable {
        fileprivate let socket: Int32

        /// False when the other side has disconnected.
        @discardableResult
        func send(_ bytes: [UInt8]) -> Bool {
            var sent = 0
            while sent < bytes.count {
                let count = bytes.withUnsafeBytes {
                    Glibc.send(socket, $0.baseAddress.map { $0 + sent }, bytes.count - sent, Int32(MSG_NOSIGNAL))
                }
                guard count > 0 else { return false }
                sent += count
            }
            return true
        }

        @discardableResult
        func send(_ text: String) -> Bool { send(Array(text.utf8)) }

        func respond(_ status: String = "200 OK", type: String, _ body: [UInt8], extra: String = "") {
            send("HTTP/1.1 \(status)\r\nContent-Type: \(type)\r\nContent-Length: \(body.count)\r\n\(extra)\r\n")
            send(body)
        }

        /// Returns when the other side has closed the connection.
        func waitForClose() {
            var byte: UInt8 = 0
            while recv(socket, &byte, 1, 0) > 0 {}
        }
    }

    let port: UInt16
    private let listener: Int32
    private let accepted = Mutex(0)

    var url: String { "http://127.0.0.1:\(port)" }

    /// The number of connections.
    private let stopped = Mutex(false)

    var connections: Int { accepted.withLock { $0 } }

    /// - Parameter script: Answers one request. False closes the connection.
    init(_ script: @escaping @Sendable (Request, Connection) -> Bool) throws {
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let listener = listener
        let isReady = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                bind(listener, pointer, length) == 0 && listen(listener, 64) == 0
                    && getsockname(listener, pointer, &length) == 0
            }
        }
        guard isReady else { throw POSIXError(.EADDRNOTAVAIL) }
        port = UInt16(bigEndian: address.sin_port)
        let thread = Thread { [weak self] in
            while true {
                let socket = accept(listener, nil, nil)
                guard socket >= 0 else { break }
                self?.accepted.withLock { $0 += 1 }
                Thread { ScriptedServer.serve(Connection(socket: socket), script) }.start()
            }
            // Not in `stop`: the next server may get the number of a closed descriptor, and this thread would take its calls.
            close(listener)
        }
        thread.start()
    }

    deinit { stop() }

    /// Ends the thread that accepts. Further calls do nothing: another file may have the number of the descriptor.
    func stop() {
        let isFirst = stopped.withLock { stopped in
            defer { stopped = true }
            return !stopped
        }
        guard isFirst else { return }
        shutdown(listener, Int32(SHUT_RDWR))
    }

    private static func serve(_ connection: Connection, _ script: (Request, Connection) -> Bool) {
        var buffer: [UInt8] = []
        while let request = read(connection.socket, &buffer) {
            guard script(request, connection) else { break }
        }
        close(connection.socket)
    }

    private static func read(_ socket: Int32, _ buffer: inout [UInt8]) -> Request? {
        let separator = Array("\r\n\r\n".utf8)
        var headEnd: Int?
        while headEnd == nil {
            headEnd = buffer.indices.first { buffer[$0...].starts(with: separator) }
            if headEnd == nil, !more(socket, &buffer) { return nil }
        }
        guard let headEnd else { return nil }
        var request = Request()
        let lines = String(decoding: buffer[..<headEnd], as: UTF8.self).components(separatedBy: "\r\n")
        request.line = lines[0]
        request.headerLines = Array(lines.dropFirst())
        for line in lines.dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1)
            guard parts.count == 2 else { continue }
            request.headers[parts[0].lowercased()] = parts[1].trimmingCharacters(in: .whitespaces)
        }
        buffer.removeFirst(headEnd + 4)
        let length = Int(request.headers["content-length"] ?? "") ?? 0
        while buffer.count < length { if !more(socket, &buffer) { return nil } }
        request.body = Array(buffer.prefix(length))
        buffer.removeFirst(length)
        return request
    }

    private static func more(_ socket: Int32, _ buffer: inout [UInt8]) -> Bool {
        var piece = [UInt8](repeating: 0, count: 64 << 10)
        let count = recv(socket, &piece, piece.count, 0)
        guard count > 0 else { return false }
        buffer += piece.prefix(count)
        return true
    }
}
