import Foundation
import Journal
import Sync

/// The bearer token that a daemon asks for and sends. It is never printed: its description is a placeholder.
struct Token: Sendable {
    /// The characters that are sent in the `Authorization` header.
    let secret: String
    /// The SHA-256 of ``secret``.
    let digest: [UInt8]

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

    private static let kind = SecretFile.Kind(
        name: "token file", maximumBytes: maximumBytes,
        content: "Name a file on a local disk that holds only the token: one line, as made by `openssl rand -hex 32`",
        creation: { "Create it with: (umask 077; openssl rand -hex 32 > \($0))" })

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
        let text = try SecretFile(path, kind).text(isCredential: isCredential)
        let secret = text.trimmingCharacters(in: .whitespacesAndNewlines)
        guard !secret.isEmpty else {
            throw Failure("The token file \(path) is empty", hint: kind.creation(path))
        }
        guard let token = Token(secret) else {
            throw Failure(
                "The token file \(path) holds characters that a token cannot have",
                hint: "A token is one line of visible ASCII characters without spaces")
        }
        return token
    }

    /// A new token of 256 random bits.
    static func random() -> Token? {
        var generator = SystemRandomNumberGenerator()
        let bytes = (0..<32).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        return Token(bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined())
    }
}
