import Foundation

/// The type of a primary key: an integer, a String, a UUID, Data, or the struct `ID` of a model with several
/// key columns.
public protocol ModelKey: Hashable, Sendable {
    /// The exact content, by which keys are compared. Swift treats the two Unicode normal forms of a text as
    /// equal; SQLite stores them as two rows.
    var exact: ExactKey { get }

    /// Appends bytes that are unique to this key among all keys of its type.
    func appendExact(to bytes: inout [UInt8])

    /// Returns a new random key; nil for a type that cannot be generated.
    static func generated() -> Self?
}

extension ModelKey {
    /// Returns nil: the caller must give keys of this type.
    public static func generated() -> Self? { nil }

    /// The bytes of ``appendExact(to:)``.
    public var exactBytes: [UInt8] {
        var bytes: [UInt8] = []
        appendExact(to: &bytes)
        return bytes
    }
}

/// The exact content of a key, in one type for the keys of all models, so that tables of objects need not
/// know the model's own key type.
public enum ExactKey: Hashable, Sendable {
    /// An integer of any width.
    case integer(Int64)
    /// The 16 bytes of a UUID as two words, in the byte order of this machine.
    case uuid(UInt64, UInt64)
    /// A text, compared by its bytes.
    case text(ExactText)
    /// Data, or the concatenated bytes of the columns of a composite key.
    case bytes([UInt8])

    // Written by hand for speed: all keys of one model have the same case, so the case need not be hashed.
    public func hash(into hasher: inout Hasher) {
        switch self {
        case .integer(let number): hasher.combine(number)
        case .uuid(let high, let low):
            hasher.combine(high)
            hasher.combine(low)
        case .text(let text): text.hash(into: &hasher)
        case .bytes(let bytes): bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
        }
    }

    /// Appends bytes that are unique to this content among all keys of its type.
    func append(to bytes: inout [UInt8]) {
        switch self {
        case .integer(let number): number.appendExact(to: &bytes)
        case .uuid(let high, let low):
            for word in [high, low] { withUnsafeBytes(of: word) { bytes.append(contentsOf: $0) } }
        case .text(let text): text.text.appendExact(to: &bytes)
        case .bytes(let own):
            own.count.appendExact(to: &bytes)
            bytes.append(contentsOf: own)
        }
    }
}

extension ModelKey where Self: FixedWidthInteger {
    /// ``ExactKey/integer(_:)``.
    @inlinable
    public var exact: ExactKey { .integer(Int64(truncatingIfNeeded: self)) }

    /// Appends the bytes of the integer in big-endian order, as many as the type has.
    public func appendExact(to bytes: inout [UInt8]) {
        withUnsafeBytes(of: bigEndian) { bytes.append(contentsOf: $0) }
    }
}

extension ModelKey where Self: RawRepresentable, RawValue: ModelKey {
    /// The content of the raw value.
    public var exact: ExactKey { rawValue.exact }

    /// Appends the bytes of the raw value.
    public func appendExact(to bytes: inout [UInt8]) { rawValue.appendExact(to: &bytes) }
}

extension Int64: ModelKey {
    /// Returns a random number from 1 to 2^63-1, so that two machines give two rows different keys without
    /// communication.
    public static func generated() -> Int64? { .random(in: 1...Int64.max) }
}

extension Int: ModelKey {
    /// Returns a random number from 1 to 2^63-1.
    public static func generated() -> Int? { .random(in: 1...Int.max) }
}

// Random values of these types would collide too often, so the caller must give keys of these types.
extension Int32: ModelKey {}
extension Int16: ModelKey {}
extension Int8: ModelKey {}
extension UInt32: ModelKey {}
extension UInt16: ModelKey {}
extension UInt8: ModelKey {}

/// A text that is equal to another one exactly when their UTF-8 bytes are equal.
public struct ExactText: Hashable, Sendable {
    let text: String

    public static func == (a: ExactText, b: ExactText) -> Bool { !String.differ(a.text, b.text) }

    public func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}

extension String: ModelKey {
    /// ``ExactKey/text(_:)``.
    public var exact: ExactKey { .text(ExactText(text: self)) }

    /// Appends the length in bytes of UTF-8, then the bytes. The length keeps two consecutive texts from
    /// being equal to two others, such as "ab", "c" and "a", "bc".
    public func appendExact(to bytes: inout [UInt8]) {
        utf8.count.appendExact(to: &bytes)
        bytes.append(contentsOf: utf8)
    }

    /// Returns a UUID of version 7 as lower-case text.
    public static func generated() -> String? { UUID.timeOrdered().lowercaseText }
}

extension UUID: ModelKey {
    /// ``ExactKey/uuid(_:_:)``.
    public var exact: ExactKey {
        withUnsafeBytes(of: uuid) { bytes in
            .uuid(bytes.loadUnaligned(as: UInt64.self), bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
        }
    }

    /// Appends the 16 bytes.
    public func appendExact(to bytes: inout [UInt8]) { bytes.append(contentsOf: self.bytes) }

    /// Returns a UUID of version 7.
    public static func generated() -> UUID? { timeOrdered() }
}

extension Data: ModelKey {
    /// ``ExactKey/bytes(_:)``.
    public var exact: ExactKey { .bytes([UInt8](self)) }

    /// Appends the length in bytes, then the bytes.
    public func appendExact(to bytes: inout [UInt8]) {
        count.appendExact(to: &bytes)
        bytes.append(contentsOf: self)
    }
}

extension UUID {
    /// Returns a UUID of version 7 (RFC 9562, section 5.7): 48 bits of milliseconds, then 74 random bits. The
    /// time prefix keeps new keys close together in an index.
    static func timeOrdered(at date: Date = Date()) -> UUID {
        let milliseconds = UInt64(max(0, min(date.timeIntervalSince1970 * 1_000, 0xFFFF_FFFF_FFFF)))
        let high = milliseconds << 16 | 0x7000 | UInt64.random(in: 0...0x0FFF)
        let low = UInt64.random(in: 0...0x3FFF_FFFF_FFFF_FFFF) | 0x8000_0000_0000_0000
        let bytes = [high, low].flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> (56 - 8 * $0)) } }
        return UUID(bytes: bytes) ?? .columnPlaceholder
    }
}
