import Foundation

/// The socket of a service manager, which receives what a daemon tells it.
final class NotifySocket: Sendable {
    /// As in `NOTIFY_SOCKET`; a leading `@` is an abstract address.
    let path: String
    private let descriptor: Int32

    init(_ path: String) throws {
        self.path = path
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let start = MemoryLayout<sockaddr_un>.offset(of: \.sun_path) ?? 2
        withUnsafeMutableBytes(of: &address) { $0[start...].copyBytes(from: path.utf8) }
        if path.hasPrefix("@") { address.sun_path.0 = 0 }
        let length = socklen_t(start + path.utf8.count)
        let bound = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, length) }
        }
        guard bound == 0 else { throw ToolError("no socket at \(path): \(String(cString: strerror(errno)))") }
        var limit = timeval(tv_sec: RawHTTP.patience, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit { close(descriptor) }

    /// Waits for the next message.
    func next() async throws -> String {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread { [self] in
                var buffer = [UInt8](repeating: 0, count: 4_096)
                let count = recv(descriptor, &buffer, buffer.count, 0)
                continuation.resume(
                    with: count > 0
                        ? .success(String(decoding: buffer[..<count], as: UTF8.self))
                        : .failure(ToolError("the daemon tells nothing")))
            }
        }
    }
}
