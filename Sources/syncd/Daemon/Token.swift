import Crypto
import Foundation
import Journal

/// The bearer token that a daemon asks for and sends. Never printed: it has no description but a placeholder.
struct Token: Sendable {
    /// The characters as they travel in the `Authorization` header.
    let secret: String
    private let digest: [UInt8]

    /// - Parameter secret: Visible ASCII characters only, at least one.
    init?(_ secret: String) {
        guard !secret.isEmpty, secret.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else { return nil }
        self.secret = secret
        self.digest = Array(SHA256.hash(data: Data(secret.utf8)))
    }

    /// True when `candidate` is this token. Takes the same time for every candidate of one length: what is compared are
    /// digests of 32 bytes, all of them, so timing tells nothing about how much of a guess was right.
    func matches(_ candidate: some StringProtocol) -> Bool {
        let other = Array(SHA256.hash(data: Data(candidate.utf8)))
        var difference: UInt8 = 0
        for (a, b) in zip(digest, other) { difference |= a ^ b }
        return difference == 0
    }
}

extension Token: CustomStringConvertible, CustomDebugStringConvertible {
    var description: String { "(token)" }
    var debugDescription: String { "(token)" }
}

extension Token {
    /// Longer files are not tokens.
    static let maximumBytes = 4_096

    /// Reads the token from the first line of a file that only its owner can read.
    ///
    /// A file, not a flag: arguments are visible to every user of the machine in `ps`.
    ///
    /// - Throws: ``Failure`` when the file is missing, not a regular file, readable by others, empty or too long.
    static func load(from path: String) throws -> Token {
        // O_NONBLOCK: opening a FIFO must not wait for a writer.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            throw Failure(
                "the token file \(path) cannot be read: \(String(cString: strerror(errno)))",
                hint: "create it with: (umask 077; openssl rand -hex 32 > \(path))")
        }
        defer { close(descriptor) }
        guard let status = DescriptorStatus(descriptor), status.isRegularFile else {
            throw Failure("the token file \(path) is not a regular file", hint: "name a file that holds only the token")
        }
        guard status.isPrivate else {
            throw Failure(
                "the token file \(path) can be read or written by other users",
                hint: "make it private: `chmod 600 \(path)`")
        }
        var bytes = [UInt8](repeating: 0, count: maximumBytes + 1)
        let count = read(descriptor, &bytes, bytes.count)
        guard count >= 0 else {
            throw Failure(
                "the token file \(path) cannot be read: \(String(cString: strerror(errno)))",
                hint: "it must be a file on a local disk that holds only the token")
        }
        guard count <= maximumBytes else {
            throw Failure(
                "the token file \(path) is longer than \(maximumBytes) bytes",
                hint: "it must hold only the token: one line, as of (umask 077; openssl rand -hex 32 > \(path))")
        }
        let text = String(decoding: bytes.prefix(count), as: UTF8.self)
        let secret = text.trimmingCharacters(in: .whitespacesAndNewlines)
        guard !secret.isEmpty else {
            throw Failure(
                "the token file \(path) is empty",
                hint: "create a token with: (umask 077; openssl rand -hex 32 > \(path))")
        }
        guard let token = Token(secret) else {
            throw Failure(
                "the token file \(path) holds characters that a token cannot have",
                hint: "a token is one line of visible ASCII characters without spaces")
        }
        return token
    }
}
