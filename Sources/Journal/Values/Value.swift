/// Bytes that may be a slice of a larger buffer, so that the values of a decoded batch share one allocation.
public typealias Bytes = ArraySlice<UInt8>

/// One SQLite value with its storage class and its exact bytes.
///
/// TEXT is kept as bytes, never as `String`. SQLite distinguishes invalid UTF-8, embedded NULs and the
/// different Unicode normal forms of one word; Swift's `String` would repair or equate them.
public enum Value: Sendable {
    /// NULL.
    case null
    /// An INTEGER.
    case integer(Int64)
    /// A REAL. SQLite stores no NaN.
    case real(Double)
    /// A TEXT by its bytes, which need not be valid UTF-8.
    case text(Bytes)
    /// A BLOB.
    case blob(Bytes)
}

extension Value {
    /// A TEXT value of the UTF-8 bytes of `string`.
    public static func text(_ string: String) -> Value { .text(Bytes(string.utf8)) }

    /// The approximate number of bytes that the value takes in a batch, for limits. It is not an exact
    /// encoded size.
    public var weight: Int {
        switch self {
        case .null: 1
        case .integer, .real: 9
        case .text(let bytes), .blob(let bytes): 5 + bytes.count
        }
    }
}

/// Two values are equal when they have the same storage class and the same content.
///
/// 1 and 1.0 differ. -0.0 and 0.0 are equal: no SQL expression distinguishes them, so no trigger can detect a
/// change from one to the other.
extension Value: Hashable {
    public static func == (a: Value, b: Value) -> Bool {
        switch (a, b) {
        case (.null, .null): true
        case (.integer(let x), .integer(let y)): x == y
        case (.real(let x), .real(let y)): x == y || x.bitPattern == y.bitPattern
        case (.text(let x), .text(let y)): x == y
        case (.blob(let x), .blob(let y)): x == y
        default: false
        }
    }

    public func hash(into hasher: inout Hasher) {
        switch self {
        // The class is hashed too, because ``Reconciliation`` compares values by their hashes.
        case .null: hasher.combine(0)
        case .integer(let value): hasher.combine(1); hasher.combine(value)
        case .real(let value): hasher.combine(2); hasher.combine(value == 0 ? 0 : value.bitPattern)
        case .text(let bytes): hasher.combine(3); hasher.combine(bytes)
        case .blob(let bytes): hasher.combine(4); hasher.combine(bytes)
        }
    }
}
