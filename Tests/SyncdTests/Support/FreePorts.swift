import Foundation

/// Ports of this machine that nobody uses at the moment.
struct FreePorts {
    private let ports: [UInt16]

    subscript(index: Int) -> UInt16 { ports[index] }

    /// - Throws: ``ToolError`` when the system gives none.
    init(_ count: Int) throws {
        var sockets: [Int32] = []
        defer { for socket in sockets { close(socket) } }
        ports = try (0..<count).map { _ in
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            sockets.append(descriptor)
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let isBound = withUnsafeMutablePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(descriptor, $0, length) == 0 && getsockname(descriptor, $0, &length) == 0
                }
            }
            guard isBound else { throw ToolError("no free port") }
            return UInt16(bigEndian: address.sin_port)
        }
    }
}
