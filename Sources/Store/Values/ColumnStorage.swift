import Foundation

/// The storage class that the values of a type have in a column; NULL aside.
///
/// It is the type of the column in a table that ``SchemaBuilder/automatic(_:allowing:renaming:invalidRows:)`` makes.
public enum ColumnStorage: String, Codable, Hashable, Sendable {
    /// Whole numbers of 64 bits with a sign.
    case integer = "INTEGER"
    /// IEEE 754 doubles.
    case real = "REAL"
    /// Text in UTF-8.
    case text = "TEXT"
    /// Bytes.
    case blob = "BLOB"
    /// Any class, kept as it is given.
    case any = "ANY"
}

/// Who makes the key of a new row that was given none.
public enum KeySource: String, Codable, Sendable {
    /// ``Model/makePrimaryKey()``: random, so that machines which never met make different ones.
    case random
    /// SQLite, one after another. For tables that stay on this machine.
    case rowid
}

extension ColumnValue {
    /// `.any`: the type does not say.
    public static var columnStorage: ColumnStorage { .any }
}

extension ColumnValue where Self: FixedWidthInteger {
    /// INTEGER.
    public static var columnStorage: ColumnStorage { .integer }
}

extension ColumnValue where Self: RawRepresentable, RawValue: ColumnValue {
    /// That of the raw value.
    public static var columnStorage: ColumnStorage { RawValue.columnStorage }
}

extension Optional where Wrapped: ColumnValue {
    /// That of the wrapped type.
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
    /// `.any`: the coding does not say.
    public static var columnStorage: ColumnStorage { .any }
}

extension OptionalCoding {
    /// That of the wrapped coding.
    public static var columnStorage: ColumnStorage { Wrapped.columnStorage }
}

extension JSONCoding {
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
