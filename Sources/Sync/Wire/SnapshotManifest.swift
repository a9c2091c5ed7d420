import Foundation
import Journal

/// What a snapshot is: a copy of a replica's file at one moment, in parts that can be fetched and checked one
/// by one. It travels as JSON (docs/PROTOCOL.md).
public struct SnapshotManifest: Sendable, Hashable, Codable {
    /// Names the snapshot in requests for its parts.
    public let id: String
    /// The replica's cluster.
    public let cluster: String
    /// The replica's origin.
    public let origin: OriginID
    /// The changes that the snapshot has.
    public let vector: VersionVector
    /// The size of the file in bytes.
    public let bytes: Int64
    /// The size of each part in bytes; the last one may be shorter.
    public let partBytes: Int
    /// The SHA-256 of each part, in order.
    public let parts: [Digest]
    /// What programs expect of such a file; nil when the peer's release does not tell.
    public let profile: ContentProfile?

    /// A SHA-256, in hexadecimal in JSON.
    public struct Digest: Sendable, Hashable, Codable {
        /// 32 bytes.
        public let bytes: [UInt8]

        init(_ bytes: [UInt8]) { self.bytes = bytes }

        public init(from decoder: any Decoder) throws {
            let text = try decoder.singleValueContainer().decode(String.self)
            let digits = Array(text.utf8)
            let bytes = stride(from: 0, to: digits.count - digits.count % 2, by: 2).compactMap {
                UInt8(String(decoding: digits[$0..<($0 + 2)], as: UTF8.self), radix: 16)
            }
            guard digits.count == 2 * SHA256.byteCount, bytes.count == SHA256.byteCount else {
                throw WireError.malformed("a digest of a part is not a SHA-256")
            }
            self.bytes = bytes
        }

        public func encode(to encoder: any Encoder) throws {
            let digits = Array("0123456789abcdef".utf8)
            let text = String(
                decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
            var container = encoder.singleValueContainer()
            try container.encode(text)
        }
    }

    private enum Key: String, CodingKey {
        case id, cluster, origin, vector, bytes, parts, profile
        case partBytes = "part_bytes"
    }

    init(
        id: String, cluster: String, origin: OriginID, vector: VersionVector, bytes: Int64, partBytes: Int,
        parts: [Digest], profile: ContentProfile?
    ) {
        self.id = id
        self.cluster = cluster
        self.origin = origin
        self.vector = vector
        self.bytes = bytes
        self.partBytes = partBytes
        self.parts = parts
        self.profile = profile
    }

    /// Decodes untrusted JSON.
    ///
    /// - Throws: ``WireError/Code/malformed`` for sizes that do not fit together, and for a part beyond what
    ///   a receiver takes.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        id = try container.decode(String.self, forKey: .id)
        cluster = try container.decode(String.self, forKey: .cluster)
        guard let origin = OriginID(hex: try container.decode(String.self, forKey: .origin)) else {
            throw WireError.malformed("the origin of a snapshot is not one")
        }
        self.origin = origin
        let known = try container.decode([String: Int64].self, forKey: .vector)
        vector = VersionVector(
            try known.map { name, version in
                guard let origin = OriginID(hex: name), version > 0 else {
                    throw WireError.malformed("the vector of a snapshot is not one")
                }
                return VersionVector.Entry(origin: origin, version: version)
            })
        bytes = try container.decode(Int64.self, forKey: .bytes)
        partBytes = try container.decode(Int.self, forKey: .partBytes)
        parts = try container.decode([Digest].self, forKey: .parts)
        profile = try container.decodeIfPresent(ContentProfile.self, forKey: .profile)
        let isId = !id.isEmpty && id.utf8.count <= 64 && id.utf8.allSatisfy { SnapshotManifest.isHexDigit($0) }
        guard isId, bytes > 0, SnapshotManifest.takenPartBytes.contains(partBytes),
            // As many parts as the size needs, without a sum that could overflow.
            Int64(parts.count) == (bytes - 1) / Int64(partBytes) + 1
        else { throw WireError.malformed("the sizes of a snapshot do not fit together") }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(id, forKey: .id)
        try container.encode(cluster, forKey: .cluster)
        try container.encode(origin.description, forKey: .origin)
        let known = vector.entries.map { ($0.origin.description, $0.version) }
        try container.encode(Dictionary(known) { max($0, $1) }, forKey: .vector)
        try container.encode(bytes, forKey: .bytes)
        try container.encode(partBytes, forKey: .partBytes)
        try container.encode(parts, forKey: .parts)
        try container.encodeIfPresent(profile, forKey: .profile)
    }

    /// The sizes of parts that a receiver takes, in bytes.
    static let takenPartBytes = (4 << 10)...(16 << 20)

    /// The size in bytes of the part with that index.
    func size(ofPart index: Int) -> Int { Int(min(Int64(partBytes), bytes - Int64(index) * Int64(partBytes))) }

    private static func isHexDigit(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte)
    }
}

/// The answer to a request for a snapshot.
public enum SnapshotAnswer: Sendable, Hashable {
    /// The replica is copying its file; ask again soon. Both numbers count pages of the file.
    case preparing(completed: Int64, total: Int64)
    /// The snapshot's parts can be requested.
    case ready(SnapshotManifest)

    private struct Body: Codable {
        var state: String
        var completed: Int64?
        var total: Int64?
        var snapshot: SnapshotManifest?
    }

    /// The JSON body of the answer.
    ///
    /// - Throws: Errors of the encoder, which only run out of memory.
    public func jsonBody() throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let body =
            switch self {
            case .preparing(let completed, let total): Body(state: "preparing", completed: completed, total: total)
            case .ready(let manifest): Body(state: "ready", snapshot: manifest)
            }
        return Array(try encoder.encode(body))
    }

    /// Reads untrusted JSON.
    ///
    /// - Throws: ``WireError/Code/malformed``.
    public init(jsonBody bytes: [UInt8]) throws(WireError) {
        let body: Body
        do {
            body = try JSONDecoder().decode(Body.self, from: Data(bytes))
        } catch let error as WireError {
            throw error
        } catch {
            throw .malformed("the answer about a snapshot is not the JSON of one")
        }
        switch (body.state, body.snapshot) {
        case ("ready", let manifest?): self = .ready(manifest)
        case ("preparing", nil):
            self = .preparing(completed: max(0, body.completed ?? 0), total: max(0, body.total ?? 0))
        default: throw .malformed("the answer about a snapshot has an unknown state")
        }
    }
}
