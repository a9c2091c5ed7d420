import Journal
import Sync

enum CompressionTarget {
    private static let limit = 1 << 20

    /// Runs a decoder on an input. Its first byte chooses the encoding; the rest is compressed, or only
    /// pretends to be.
    static func run(_ bytes: [UInt8]) {
        guard let choice = bytes.first else { return }
        let rest = Array(bytes.dropFirst())
        let encoding = PayloadEncoding.allCases[Int(choice) % PayloadEncoding.allCases.count]
        if let raw = try? encoding.decompress(rest, limit: limit, limits: .standard) {
            precondition(raw.count <= limit, "more bytes than allowed")
        }
        if choice & 0x80 != 0, let packed = try? encoding.compress(rest) {
            let back = try? encoding.decompress(packed, limit: rest.count, limits: .standard)
            precondition(back == rest, "what was compressed does not come back")
        }
    }
}

enum ImageTarget {
    static func run(_ bytes: [UInt8]) {
        guard let image = RowImage(encoded: bytes[...]) else { return }
        // Names that are not UTF-8 are repaired at the first reading, so only the second reading must equal
        // the first.
        precondition(RowImage(encoded: image.encoded()[...]) == image, "an image that was written again is another one")
    }
}

enum TextTarget {
    /// The longest message that libcurl or a log may get.
    private static let messageBytes = 8_192

    static func run(_ bytes: [UInt8]) {
        let text = String(decoding: bytes, as: UTF8.self)
        if let peer = try? PeerConfiguration(text), case .http(let url) = peer.address {
            precondition(url.hasPrefix("http://") || url.hasPrefix("https://"), "another scheme was accepted")
            precondition(!url.utf8.contains { $0 <= 0x20 || $0 == 0x7F }, "an address with blanks was accepted")
        }
        if let token = try? BearerToken(text) {
            precondition(!"\(token)".contains(text) || "<token>".contains(text), "a token was printed")
        }
        let status = 300 + Int(bytes.first ?? 0)
        let error = SyncError(httpStatus: status, body: bytes, peer: "peer", retryAfter: text, limits: .standard)
        precondition(error.message.utf8.count <= messageBytes, "a peer's text was not shortened")
        precondition(
            !"\(error)".unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x7F }, "control characters passed")
        if let seconds = error.retryAfterSeconds {
            precondition((1...Limits.standard.retryAfterSeconds).contains(seconds), "a delay beyond the limit")
        }
    }
}
