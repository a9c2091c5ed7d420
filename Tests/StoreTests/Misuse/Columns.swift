import Foundation
import Store

enum PlainStatusOfEnumWithoutConformance: String { case draft, done }

@Model
final class EnumWithoutConformance {
    var id: Int64
    var name: String = ""
    // error: add 'ColumnValue' to the declaration of the enum: a column then stores its raw value
    var status: PlainStatusOfEnumWithoutConformance = .draft
}

enum PlainStatusOfOptionalEnumWithoutConformance: String { case draft, done }

@Model
final class OptionalEnumWithoutConformance {
    var id: Int64
    var name: String = ""
    // error: add 'ColumnValue' to the declaration of the enum: a column then stores its raw value
    var status: PlainStatusOfOptionalEnumWithoutConformance?
}

enum PlainStatusOfRequiredPlainEnum: String { case draft, done }

@Model
final class RequiredPlainEnum {
    var id: Int64
    var name: String = ""
    // error: add 'ColumnValue' to the declaration of the enum: a column then stores its raw value
    var status: PlainStatusOfRequiredPlainEnum
}

enum StatusOfRequiredEnum: String, ColumnValue { case draft, done }

@Model
final class RequiredEnum {
    var id: Int64
    var name: String = ""
    // error: give the property a default value, or add 'CaseIterable' and 'ColumnPlaceholder' to the declaration of
    var status: StatusOfRequiredEnum
}

// error: type 'KindOfEnumWithoutRawValue' does not conform to protocol 'ColumnValue'
enum KindOfEnumWithoutRawValue: ColumnValue { case a, b }

@Model
final class EnumWithoutRawValue {
    var id: Int64
    var name: String = ""
    var kind: KindOfEnumWithoutRawValue = .a
}

struct PointOfStructColumn: Codable { var x = 0 }

@Model
final class StructColumn {
    var id: Int64
    var name: String = ""
    // error: no column stores this type: mark the property '@JSON' if the type is Codable, or conform the type to
    var point: PointOfStructColumn = PointOfStructColumn()
}

struct PointOfRequiredStruct: Codable { var x = 0 }

@Model
final class RequiredStruct {
    var id: Int64
    var name: String = ""
    // error: no column stores this type: mark the property '@JSON' if the type is Codable, or conform the type to
    var point: PointOfRequiredStruct
}

@Model
final class ArrayColumn {
    var id: Int64
    var name: String = ""
    // error: no column stores this type: mark the property '@JSON' if the type is Codable, or conform the type to
    var tags: [String] = []
}

@Model
final class DictionaryColumn {
    var id: Int64
    var name: String = ""
    // error: no column stores this type: mark the property '@JSON' if the type is Codable, or conform the type to
    var tags: [String: Int] = [:]
}

@Model
final class SetColumn {
    var id: Int64
    var name: String = ""
    // error: no column stores this type: mark the property '@JSON' if the type is Codable, or conform the type to
    var tags: Set<String> = []
}

@Model
final class OptionalArray {
    var id: Int64
    var name: String = ""
    // error: no column stores this type: mark the property '@JSON' if the type is Codable, or conform the type to
    var tags: [String]?
}

@Model
final class TupleColumn {
    var id: Int64
    var name: String = ""
    // error: 'pair' cannot hold a tuple: no column stores it; declare a Codable struct and mark the property '@JSON',
    var pair: (Int, Int) = (0, 0)
}

@Model
final class ModelColumn {
    var id: Int64
    var name: String = ""
    // error: a row holds no object: refer to it by its key, with a 'Ref' of its model
    var owner: Person?
}

@Model
final class AnyColumn {
    var id: Int64
    var name: String = ""
    // error: 'value' cannot hold a value of any type: no column stores it; declare a Codable struct and mark the
    var value: Any = 1
}

@Model
final class AnySendable {
    var id: Int64
    var name: String = ""
    // error: 'value' cannot hold a value of any type: no column stores it; declare a Codable struct and mark the
    var value: any Sendable = 1
}

@Model
final class FunctionColumn {
    var id: Int64
    var name: String = ""
    // error: 'action' cannot hold a function: no column stores it; declare a Codable struct and mark the property
    var action: () -> Void = {}
}
