import Foundation
import Journal
import Sync

/// The bearer token that a daemon asks for and sends. It is never printed: its description is a placeholder.
struct Token: Sendable {
    /// The characters that are sent in the `Authorization` header.
    let secret: String
    private let digest: [UInt8]

    /// - Parameter secret: Visible ASCII characters only, at least one.
    init?(_ secret: String) {
        guard !secret.isEmpty, secret.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else { return nil }
        self.secret = secret
        self.digest = SHA256.digest(of: Array(secret.utf8))
    }

    /// True when `candidate` is this token. It takes the same time for all candidates of one length, because
    /// it compares all 32 bytes of two digests. So the time does not tell how much of a guess is right.
    func matches(_ candidate: some StringProtocol) -> Bool {
        SHA256.areEqual(digest, SHA256.digest(of: Array(candidate.utf8)))
    }
}

extension Token: Equatable {
    static func == (first: Token, second: Token) -> Bool { SHA256.areEqual(first.digest, second.digest) }
}

extension Token: CustomStringConvertible, CustomDebugStringConvertible {
    var description: String { "(token)" }
    var debugDescription: String { "(token)" }
}

extension Token {
    /// The size of the largest file that is read as a token.
    static let maximumBytes = 4_096

    /// Reads the token from the first line of a file that only its owner can read.
    ///
    /// The token is given by a file and not by a flag, because `ps` shows arguments to every user of the
    /// machine.
    ///
    /// - Parameter isCredential: True for a file that systemd passes to the service, see
    ///   ``Credentials/contains(_:)``. Its directory keeps it private.
    /// - Throws: ``Failure`` when the file is missing, not a regular file, readable by others, empty or too
    ///   long.
    static func load(from path: String, isCredential: Bool = false) throws -> Token {
        // O_NONBLOCK: opening a FIFO must not wait for a writer.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            throw Failure(
                "The token file \(path) cannot be read: \(String(cString: strerror(errno)))",
                hint: "Create it with: (umask 077; openssl rand -hex 32 > \(path))")
        }
        defer { close(descriptor) }
        guard let status = DescriptorStatus(descriptor), status.isRegularFile else {
            throw Failure("The token file \(path) is not a regular file", hint: "Name a file that holds only the token")
        }
        guard status.isPrivate || isCredential else {
            throw Failure(
                "The token file \(path) can be read or written by other users",
                hint: "Make it private: `chmod 600 \(path)`")
        }
        var bytes = [UInt8](repeating: 0, count: maximumBytes + 1)
        let count = read(descriptor, &bytes, bytes.count)
        guard count >= 0 else {
            throw Failure(
                "The token file \(path) cannot be read: \(String(cString: strerror(errno)))",
                hint: "It must be a file on a local disk that holds only the token")
        }
        guard count <= maximumBytes else {
            throw Failure(
                "The token file \(path) is longer than \(maximumBytes) bytes",
                hint: "It must hold only the token: one line, as made by (umask 077; openssl rand -hex 32 > \(path))")
        }
        let text = String(decoding: bytes.prefix(count), as: UTF8.self)
        let secret = text.trimmingCharacters(in: .whitespacesAndNewlines)
        guard !secret.isEmpty else {
            throw Failure(
                "The token file \(path) is empty",
                hint: "Create a token with: (umask 077; openssl rand -hex 32 > \(path))")
        }
        guard let token = Token(secret) else {
            throw Failure(
                "The token file \(path) holds characters that a token cannot have",
                hint: "A token is one line of visible ASCII characters without spaces")
        }
        return token
    }
}
