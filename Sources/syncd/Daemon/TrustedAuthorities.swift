import Foundation
import Journal

/// The file of `--tls-ca` or `--tls-client-ca`. It is checked before the daemon starts: otherwise the exchange with each peer
/// would fail.
enum TrustedAuthorities {
    /// - Throws: ``Failure`` when there is no such file, or when it cannot be read.
    static func check(_ path: String, option: String = "--tls-ca") throws {
        let hint = "\(option) names a PEM file with the certificates of the authorities to trust"
        // O_NONBLOCK: opening a FIFO must not wait for a writer.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            throw Failure("The authorities in \(path) cannot be read: \(String(cString: strerror(errno)))", hint: hint)
        }
        defer { close(descriptor) }
        guard let status = DescriptorStatus(descriptor), status.isRegularFile else {
            throw Failure("The file of authorities \(path) is not a regular file", hint: hint)
        }
    }
}
