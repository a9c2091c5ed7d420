import Foundation
import Journal

/// A file that only its owner may read, or a credential of systemd.
struct SecretFile {
    /// What a kind of file is called, and has to be.
    struct Kind: Sendable {
        let name: String
        let maximumBytes: Int
        /// What it must hold, as a hint.
        let content: String
        /// How to create one at a path, as a hint.
        let creation: @Sendable (String) -> String
    }

    let path: String
    let kind: Kind

    init(_ path: String, _ kind: Kind) {
        self.path = path
        self.kind = kind
    }

    /// Reads the whole file.
    ///
    /// - Parameter isCredential: True for a file that systemd passes to the service, see
    ///   ``Credentials/contains(_:)``. Its directory keeps it private.
    /// - Throws: ``Failure`` when the file is missing, not a regular file, readable by others or too long.
    func text(isCredential: Bool) throws -> String {
        // O_NONBLOCK: opening a FIFO must not wait for a writer.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            throw Failure(
                "The \(kind.name) \(path) cannot be read: \(String(cString: strerror(errno)))",
                hint: kind.creation(path))
        }
        defer { close(descriptor) }
        guard let status = DescriptorStatus(descriptor), status.isRegularFile else {
            throw Failure("The \(kind.name) \(path) is not a regular file", hint: kind.content)
        }
        guard status.isPrivate || isCredential else {
            throw Failure(
                "The \(kind.name) \(path) can be read or written by other users",
                hint: "Make it private: `chmod 600 \(path)`")
        }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: false)
        guard let data = try? handle.read(upToCount: kind.maximumBytes + 1) ?? Data() else {
            throw Failure("The \(kind.name) \(path) cannot be read", hint: kind.content)
        }
        guard data.count <= kind.maximumBytes else {
            throw Failure("The \(kind.name) \(path) is longer than \(kind.maximumBytes) bytes", hint: kind.content)
        }
        return String(decoding: data, as: UTF8.self)
    }
}
