import Foundation

/// The storage class that the values of a type have in a column; NULL aside.
///
/// It is the type of the column in a table that ``SchemaBuilder/automatic(_:allowing:renaming:invalidRows:)`` makes.
public enum ColumnStorage: String, Codable, Hashable, Sendable {
    case integer = "INTEGER"
    case real = "REAL"
    case text = "TEXT"
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
    public static var columnStorage: ColumnStorage { .any }
}

extension ColumnValue where Self: FixedWidthInteger {
    public static var columnStorage: ColumnStorage { .integer }
}

extension ColumnValue where Self: RawRepresentable, RawValue: ColumnValue {
    public static var columnStorage: ColumnStorage { RawValue.columnStorage }
}

extension Optional where Wrapped: ColumnValue {
    public static var columnStorage: ColumnStorage { Wrapped.columnStorage }
}

extension Bool {
    public static var columnStorage: ColumnStorage { .integer }
}

extension Double {
    public static var columnStorage: ColumnStorage { .real }
}

extension Float {
    public static var columnStorage: ColumnStorage { .real }
}

extension String {
    public static var columnStorage: ColumnStorage { .text }
}

extension Data {
    public static var columnStorage: ColumnStorage { .blob }
}

extension Date {
    public static var columnStorage: ColumnStorage { .real }
}

extension UUID {
    public static var columnStorage: ColumnStorage { .text }
}

extension URL {
    public static var columnStorage: ColumnStorage { .text }
}

extension Decimal {
    public static var columnStorage: ColumnStorage { .text }
}

extension ColumnCoding {
    public static var columnStorage: ColumnStorage { .any }
}

extension OptionalCoding {
    public static var columnStorage: ColumnStorage { Wrapped.columnStorage }
}

extension JSONCoding {
    public static var columnStorage: ColumnStorage { .text }
}

extension DateAsMilliseconds {
    public static var columnStorage: ColumnStorage { .integer }
}

extension DateAsReferenceSeconds {
    public static var columnStorage: ColumnStorage { .real }
}

extension DateAsText {
    public static var columnStorage: ColumnStorage { .text }
}

extension UUIDAsBlob {
    public static var columnStorage: ColumnStorage { .blob }
}

extension UUIDAsUppercaseText {
    public static var columnStorage: ColumnStorage { .text }
}
