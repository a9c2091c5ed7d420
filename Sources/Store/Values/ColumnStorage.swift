import Foundation

/// The storage class that the values of a type have in a column, apart from NULL.
///
/// It is the type of the column in a table that ``SchemaBuilder/automatic(_:allowing:renaming:invalidRows:)``
/// creates.
public enum ColumnStorage: String, Codable, Hashable, Sendable {
    /// Signed 64-bit integers.
    case integer = "INTEGER"
    /// IEEE 754 doubles.
    case real = "REAL"
    /// Text in UTF-8.
    case text = "TEXT"
    /// Bytes.
    case blob = "BLOB"
    /// Any class; values are stored unchanged.
    case any = "ANY"
}

/// The source of keys for new rows without one.
public enum KeySource: String, Codable, Sendable {
    /// ``Model/makePrimaryKey()``: random keys, so that machines need not communicate to generate different
    /// keys.
    case random
    /// SQLite generates them in sequence. For tables that stay on this machine.
    case rowid
}

extension ColumnValue {
    /// `.any`, the default for types that do not define it.
    public static var columnStorage: ColumnStorage { .any }
}

extension ColumnValue where Self: FixedWidthInteger {
    /// INTEGER.
    public static var columnStorage: ColumnStorage { .integer }
}

extension ColumnValue where Self: RawRepresentable, RawValue: ColumnValue {
    /// The storage class of the raw value.
    public static var columnStorage: ColumnStorage { RawValue.columnStorage }
}

extension Optional where Wrapped: ColumnValue {
    /// The storage class of the wrapped type.
    public static var columnStorage: ColumnStorage { Wrapped.columnStorage }
}

extension Bool {
    /// INTEGER: 0 or 1.
    public static var columnStorage: ColumnStorage { .integer }
}

extension Double {
    /// REAL.
    public static var columnStorage: ColumnStorage { .real }
}

extension Float {
    /// REAL: the same number as a double.
    public static var columnStorage: ColumnStorage { .real }
}

extension String {
    /// TEXT.
    public static var columnStorage: ColumnStorage { .text }
}

extension Data {
    /// BLOB.
    public static var columnStorage: ColumnStorage { .blob }
}

extension Date {
    /// REAL: seconds since 1970.
    public static var columnStorage: ColumnStorage { .real }
}

extension UUID {
    /// TEXT in lower case.
    public static var columnStorage: ColumnStorage { .text }
}

extension URL {
    /// TEXT.
    public static var columnStorage: ColumnStorage { .text }
}

extension Decimal {
    /// TEXT, which keeps all digits.
    public static var columnStorage: ColumnStorage { .text }
}

extension ColumnCoding {
    /// `.any`, the default for codings that do not define it.
    public static var columnStorage: ColumnStorage { .any }
}

extension OptionalCoding where Wrapped: ColumnCoding {
    /// The storage class of the wrapped coding.
    public static var columnStorage: ColumnStorage { Wrapped.columnStorage }
}

extension JSONCoding where Property: Codable {
    /// TEXT.
    public static var columnStorage: ColumnStorage { .text }
}

extension DateAsMilliseconds {
    /// INTEGER.
    public static var columnStorage: ColumnStorage { .integer }
}

extension DateAsReferenceSeconds {
    /// REAL.
    public static var columnStorage: ColumnStorage { .real }
}

extension DateAsText {
    /// TEXT.
    public static var columnStorage: ColumnStorage { .text }
}

extension UUIDAsBlob {
    /// BLOB.
    public static var columnStorage: ColumnStorage { .blob }
}

extension UUIDAsUppercaseText {
    /// TEXT.
    public static var columnStorage: ColumnStorage { .text }
}
