import Foundation
import Journal
import Sync

/// The file of `--tls-ca`. It is checked before the daemon starts: otherwise the exchange with each peer
/// would fail.
enum TrustedAuthorities {
    /// - Parameter path: nil for the system's authorities.
    /// - Throws: ``Failure`` when there is no such file, or when it cannot be read.
    static func files(_ path: String?) throws -> TLSFiles {
        guard let path else { return TLSFiles() }
        // O_NONBLOCK: opening a FIFO must not wait for a writer.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            throw Failure("The authorities in \(path) cannot be read: \(String(cString: strerror(errno)))", hint: hint)
        }
        defer { close(descriptor) }
        guard let status = DescriptorStatus(descriptor), status.isRegularFile else {
            throw Failure("The file of authorities \(path) is not a regular file", hint: hint)
        }
        return TLSFiles(authorities: path)
    }

    private static let hint = "--tls-ca names a PEM file with the certificates of the authorities to trust"
}
