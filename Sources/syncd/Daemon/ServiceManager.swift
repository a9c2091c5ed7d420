import Foundation

/// Tells systemd, or another service manager with its protocol, what the daemon does (sd_notify(3)).
///
/// Each message is a datagram to the socket that `NOTIFY_SOCKET` names. Without that variable nothing is
/// sent.
struct ServiceManager: Sendable {
    /// How often a sign of life is due; nil when the manager waits for none.
    let watchdogInterval: Duration?
    /// The socket's path; a leading `@` stands for the NUL of an abstract address.
    private let path: String?

    init(environment: [String: String]) {
        path = environment["NOTIFY_SOCKET"].flatMap { $0.hasPrefix("/") || $0.hasPrefix("@") ? $0 : nil }
        // WATCHDOG_PID names another process when the variables were inherited by accident.
        let isMeant = environment["WATCHDOG_PID"].map { $0 == String(getpid()) } ?? true
        let microseconds = environment["WATCHDOG_USEC"].flatMap(Int64.init).flatMap { $0 > 0 ? $0 : nil }
        watchdogInterval = isMeant && path != nil ? microseconds.map { .microseconds($0) } : nil
    }

    /// Sends one message. A manager that does not listen is no reason to stop, so failures are ignored.
    ///
    /// - Parameter assignments: `NAME=value` each, without line breaks.
    func tell(_ assignments: [String]) {
        guard let path else { return }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        let start = MemoryLayout<sockaddr_un>.offset(of: \.sun_path) ?? 2
        // The path of a file ends with a NUL; an abstract address with its length.
        guard bytes.count < MemoryLayout<sockaddr_un>.size - start else { return }
        withUnsafeMutableBytes(of: &address) { address in
            address[start...].copyBytes(from: bytes)
            if bytes.first == UInt8(ascii: "@") { address[start] = 0 }
        }
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        let message = Array(assignments.joined(separator: "\n").utf8)
        let length = socklen_t(start + bytes.count)
        withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                _ = sendto(descriptor, message, message.count, Int32(MSG_NOSIGNAL), $0, length)
            }
        }
    }
}
