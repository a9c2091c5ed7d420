/// Names what a replica has written, for readers of other replicas that want to see it: its origin, and its
/// version there.
///
/// A token is a text without blanks that may travel in a header or a cookie. It is no secret, and gives no
/// access.
public struct WriteToken: Sendable, Hashable {
    /// The replica that wrote.
    public let origin: OriginID
    /// The highest version of the origin that the token covers; 0 when it has written nothing yet.
    public let version: Int64

    /// - Parameters:
    ///   - origin: The replica that wrote.
    ///   - version: The highest version that the token covers, 0 or more.
    public init(origin: OriginID, version: Int64) {
        self.origin = origin
        self.version = version
    }
}

extension WriteToken: LosslessStringConvertible {
    /// The text that ``init(_:)`` reads. Its form may change between releases.
    public var description: String { "\(origin)-\(version)" }

    /// Creates a token from its ``description``; nil for any other text.
    public init?(_ description: String) {
        let parts = description.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, let origin = OriginID(hex: String(parts[0])), let version = Int64(parts[1]),
            version >= 0, parts[1].utf8.allSatisfy({ (0x30...0x39).contains($0) })
        else { return nil }
        self.init(origin: origin, version: version)
    }
}

extension WriteToken: Codable {
    /// Decodes the text of a token.
    ///
    /// - Throws: `DecodingError` for any other text.
    public init(from decoder: any Decoder) throws {
        let text = try decoder.singleValueContainer().decode(String.self)
        guard let token = WriteToken(text) else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "This is not the token of a write"))
        }
        self = token
    }

    /// Encodes the text of the token.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
