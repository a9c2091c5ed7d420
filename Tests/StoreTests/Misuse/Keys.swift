import Foundation
import Store

@Model
final class KeyDouble {
    // error: the primary key 'id' cannot be 'Double': a key is an integer, a String, a UUID, Data or a 'Ref'
    var id: Double
}

@Model
final class KeyBool {
    // error: the primary key 'id' cannot be 'Bool': a key is an integer, a String, a UUID, Data or a 'Ref'
    var id: Bool
}

@Model
final class KeyDate {
    // error: the primary key 'id' cannot be 'Date': a key is an integer, a String, a UUID, Data or a 'Ref'
    var id: Date
}

@Model
final class KeyArray {
    // error: the primary key 'id' cannot be '[Int]': a key is an integer, a String, a UUID, Data or a 'Ref'
    var id: [Int]
}

@Model
final class KeyUInt64 {
    // error: the primary key 'id' cannot be 'UInt64': a key is an integer, a String, a UUID, Data or a 'Ref'
    var id: UInt64
}

@Model
final class KeyURL {
    // error: the primary key 'id' cannot be 'URL': a key is an integer, a String, a UUID, Data or a 'Ref'
    var id: URL
}

@Model
final class KeyCompositeDate {
    // error: the primary key 'day' cannot be 'Date': a key is an integer, a String, a UUID, Data or a 'Ref'
    @PrimaryKey var day: Date
    @PrimaryKey var place: String
}

enum SizeOfKeyEnum: String, ColumnValue { case small, large }

@Model
final class KeyEnum {
    // error: add 'ColumnValue', 'ModelKey', 'CaseIterable' and 'ColumnPlaceholder' to the declaration of the enum
    var id: SizeOfKeyEnum
    var name: String = ""
}

enum SizeOfKeyPlainEnum: String { case small, large }

@Model
final class KeyPlainEnum {
    // error: add 'ColumnValue' and 'ModelKey' to the declaration of the enum: a key then is its raw value
    @PrimaryKey var size: SizeOfKeyPlainEnum = .small
    var name: String = ""
}

struct PointOfKeyStruct: Hashable, Codable { var x = 0 }

@Model
final class KeyStruct {
    // error: no key has this type: use an integer, a String, a UUID, Data or a 'Ref', or conform the type to
    var id: PointOfKeyStruct
    var name: String = ""
}

enum SizeOfKeyWithoutPlaceholder: String, ColumnValue, ModelKey { case small, large }

@Model
final class KeyWithoutPlaceholder {
    // error: give the key a default value, or conform its type to 'ColumnPlaceholder'
    var id: SizeOfKeyWithoutPlaceholder
    var name: String = ""
}

enum SizeOfKeyPart: String, ColumnValue { case small, large }

@Model
final class KeyPart {
    // error: add 'ColumnValue', 'ModelKey', 'CaseIterable' and 'ColumnPlaceholder' to the declaration of the enum
    @PrimaryKey var size: SizeOfKeyPart
    @PrimaryKey var place: String
}

struct PointOfKeyWithCoding: Hashable, Codable { var x = 0 }

enum CodingOfKeyWithCoding: ColumnCoding {
    static func decode(_ value: Value) throws -> PointOfKeyWithCoding { PointOfKeyWithCoding() }
    static func encode(_ property: PointOfKeyWithCoding) throws -> Value { .integer(1) }
}

@Model
final class KeyWithCoding {
    // error: a key's type conforms to 'ModelKey' and 'ColumnPlaceholder': its coding is not enough
    @Column(as: CodingOfKeyWithCoding.self) var id: PointOfKeyWithCoding
    var name: String = ""
}
