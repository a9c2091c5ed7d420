import Foundation
import Journal

/// The JSON of an archive's small objects. Vectors are in it as the bytes of ``PeerTable/encode(_:)``.
enum ArchiveJSON {
    /// The bytes of a value: the same for the same value.
    static func encode(_ value: some Encodable) throws(SyncError) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            return Array(try encoder.encode(value))
        } catch {
            throw SyncError(.failed, "An object of the archive cannot be written: \(error)")
        }
    }

    /// Reads untrusted JSON.
    ///
    /// - Parameter object: What it is, for the error: `the head of stream 12`.
    /// - Throws: ``SyncError/Code/invalid``.
    static func decode<T: Decodable>(_ bytes: some Collection<UInt8>, _ object: String) throws(SyncError) -> T {
        do {
            return try JSONDecoder().decode(T.self, from: Data(bytes))
        } catch {
            throw damaged(object)
        }
    }

    /// The error for an object that is not what its key says.
    static func damaged(_ object: String) -> SyncError {
        SyncError(
            .invalid, "\(object) in the archive cannot be read",
            hint: "It was damaged, or something else wrote it. `syncd store verify` names all such objects.")
    }
}

/// A vector in JSON.
struct StoredVector: Sendable, Hashable, Codable {
    var vector: VersionVector

    init(_ vector: VersionVector) { self.vector = vector }

    init(from decoder: any Decoder) throws {
        vector = PeerTable.decode(try decoder.singleValueContainer().decode(Data.self))
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(PeerTable.encode(vector))
    }
}

/// An origin in JSON, in hexadecimal.
struct StoredOrigin: Sendable, Hashable, Codable {
    var origin: OriginID

    init(_ origin: OriginID) { self.origin = origin }

    init(from decoder: any Decoder) throws {
        guard let origin = OriginID(hex: try decoder.singleValueContainer().decode(String.self)) else {
            throw WireError.malformed("an origin in an archive is not one")
        }
        self.origin = origin
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(origin.description)
    }
}

/// A stream's name in JSON.
struct StoredStream: Sendable, Hashable, Codable {
    var id: StreamID

    init(_ id: StreamID) { self.id = id }

    init(from decoder: any Decoder) throws {
        guard let id = StreamID(hex: try decoder.singleValueContainer().decode(String.self)) else {
            throw WireError.malformed("a stream in an archive is not one")
        }
        self.id = id
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(id.description)
    }
}
