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

/// A name of hexadecimal digits in JSON.
struct StoredName<Name: HexadecimalName>: Sendable, Hashable, Codable {
    var name: Name

    init(_ name: Name) { self.name = name }

    init(from decoder: any Decoder) throws {
        guard let name = Name(hex: try decoder.singleValueContainer().decode(String.self)) else {
            throw WireError.malformed("a name in an archive is not one")
        }
        self.name = name
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(name.description)
    }
}

/// A random number that is written in hexadecimal digits.
protocol HexadecimalName: Sendable, Hashable, CustomStringConvertible {
    init?(hex: String)
}

extension OriginID: HexadecimalName {}
extension StreamID: HexadecimalName {}

/// An origin in JSON.
typealias StoredOrigin = StoredName<OriginID>

extension StoredName<OriginID> {
    var origin: OriginID { name }
}

/// A stream's name in JSON.
typealias StoredStream = StoredName<StreamID>

extension StoredName<StreamID> {
    var id: StreamID { name }
}

/// A number in JSON that arithmetic can do anything with. One out of its bounds is malformed.
@propertyWrapper
struct Bounded<Bounds: NumberBounds>: Sendable, Hashable, Codable {
    var wrappedValue: Int64

    init(wrappedValue: Int64) { self.wrappedValue = wrappedValue }

    init(from decoder: any Decoder) throws {
        wrappedValue = try decoder.singleValueContainer().decode(Int64.self)
        guard Bounds.range.contains(wrappedValue) else { throw WireError.malformed("a number out of range") }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(wrappedValue)
    }
}

/// The numbers that are valid in one place.
protocol NumberBounds: Sendable {
    static var range: ClosedRange<Int64> { get }
}

/// Times in milliseconds since 1970, up to the year 10000.
enum TimeBounds: NumberBounds {
    static let range = 0...Int64(253_402_300_799_999)
}

/// The places of packs in a stream: as many as ten digits keep in order.
enum SequenceBounds: NumberBounds {
    static let range = 1...Int64(9_999_999_999)
}

typealias StoredTime = Bounded<TimeBounds>
typealias StoredSequence = Bounded<SequenceBounds>
