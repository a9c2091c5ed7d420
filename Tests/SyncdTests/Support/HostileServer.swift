import Foundation
import Synchronization

/// A server that answers every connection with the same bytes, for any request. It does what a peer must
/// never do.
final class HostileServer: Sendable {
    /// What the server sends after it has read a request.
    struct Behaviour: Sendable {
        /// Sent first.
        var bytes: [UInt8]
        /// Sent repeatedly after that, until the client closes the connection.
        var endless: [UInt8]?
        /// True to leave the connection open and silent instead of closing it.
        var staysOpen = false

        init(_ bytes: [UInt8], endless: [UInt8]? = nil, staysOpen: Bool = false) {
            self.bytes = bytes
            self.endless = endless
            self.staysOpen = staysOpen
        }

        /// A whole answer with a body.
        static func answer(_ status: String = "200 OK", type: String, _ body: [UInt8], headers: String = "")
            -> Behaviour
        {
            Behaviour(
                Array(
                    "HTTP/1.1 \(status)\r\nContent-Type: \(type)\r\nContent-Length: \(body.count)\r\n\(headers)\r\n"
                        .utf8) + body)
        }
    }

    let port: Int
    private let listener: Int32
    private let served = Mutex(0)

    /// The number of requests that it has answered.
    var requests: Int { served.withLock { $0 } }

    /// - Parameter behaviour: Returns the behaviour for the path of a request.
    init(_ behaviour: @escaping @Sendable (String) -> Behaviour) throws {
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let listener = listener
        let bound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, length) == 0 && listen(listener, 16) == 0 && getsockname(listener, $0, &length) == 0
            }
        }
        guard bound else { throw ToolError("the hostile server cannot listen") }
        port = Int(UInt16(bigEndian: address.sin_port))
        Thread.detachNewThread { [weak self] in
            while true {
                let connection = accept(listener, nil, nil)
                guard connection >= 0 else { break }
                guard let self else {
                    close(connection)
                    break
                }
                Thread.detachNewThread { self.serve(connection, behaviour) }
            }
            // Not in `deinit`: the next server may get the number of a closed descriptor, and this thread would take its calls.
            close(listener)
        }
    }

    deinit {
        shutdown(listener, Int32(SHUT_RDWR))
    }

    var url: String { "http://127.0.0.1:\(port)" }

    private func serve(_ connection: Int32, _ behaviour: (String) -> Behaviour) {
        defer { close(connection) }
        guard let path = readRequest(connection) else { return }
        served.withLock { $0 += 1 }
        let behaviour = behaviour(path)
        guard sendAll(behaviour.bytes, connection) else { return }
        if let endless = behaviour.endless { while sendAll(endless, connection) {} }
        var buffer = [UInt8](repeating: 0, count: 1_024)
        if behaviour.staysOpen { while recv(connection, &buffer, buffer.count, 0) > 0 {} }
        shutdown(connection, Int32(SHUT_WR))
    }

    /// Reads one request with its body; nil when the client closed the connection before.
    private func readRequest(_ connection: Int32) -> String? {
        var received: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let end = Array("\r\n\r\n".utf8)
        while true {
            let text = String(decoding: received, as: UTF8.self)
            if let head = received.indices.first(where: { received[$0...].starts(with: end) }) {
                let length = text.firstMatch(of: /(?i)content-length: (\d+)/).flatMap { Int($0.1) } ?? 0
                if received.count >= head + 4 + length {
                    return text.split(separator: " ").dropFirst().first.map(String.init)
                }
            }
            let count = recv(connection, &buffer, buffer.count, 0)
            guard count > 0 else { return nil }
            received += buffer[..<count]
        }
    }

    private func sendAll(_ bytes: [UInt8], _ connection: Int32) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }
}
