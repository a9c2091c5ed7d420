import Foundation
import Store

struct PointOfJSONNotCodable { var x = 0 }

@Model
final class JSONNotCodable {
    var id: Int64
    var name: String = ""
    // error: '@JSON' needs a Codable type: add 'Codable' to its declaration
    @JSON var point: PointOfJSONNotCodable = PointOfJSONNotCodable()
}

struct PointOfJSONArrayNotCodable { var x = 0 }

@Model
final class JSONArrayNotCodable {
    var id: Int64
    var name: String = ""
    // error: '@JSON' needs a Codable type: add 'Codable' to its declaration
    @JSON var points: [PointOfJSONArrayNotCodable] = []
}

struct PointOfJSONOptionalNotCodable { var x = 0 }

@Model
final class JSONOptionalNotCodable {
    var id: Int64
    var name: String = ""
    // error: '@JSON' needs a Codable type: add 'Codable' to its declaration
    @JSON var point: PointOfJSONOptionalNotCodable?
}

struct PointOfJSONRequired: Codable { var x = 0 }

@Model
final class JSONRequired {
    var id: Int64
    var name: String = ""
    // error: a required property of this type needs a default value, or its type conforms to 'ColumnPlaceholder'
    @JSON var point: PointOfJSONRequired
}

@Model
final class CodingOfOtherType {
    var id: Int64
    var name: String = ""
    // error: the coding in '@Column(as:)' is for properties of another type
    @Column(as: DateAsMilliseconds.self) var count: Int = 0
}

@Model
final class CodingOfOtherOptional {
    var id: Int64
    var name: String = ""
    // error: the coding in '@Column(as:)' is for properties of another type
    @Column(as: DateAsMilliseconds.self) var count: Int?
}

@Model
final class CodingIsNoCoding {
    var id: Int64
    var name: String = ""
    // error: '@Column(as:)' names a coding: a type that conforms to 'ColumnCoding'
    @Column(as: Int.self) var count: Int = 0
}

enum StatusOfUnknownOfOther: String, ColumnValue { case draft, done }
enum OtherOfUnknownOfOther: String, ColumnValue { case a }

@Model
final class UnknownOfOther {
    var id: Int64
    var name: String = ""
    // error: cannot convert return expression of type
    @Column(unknown: StatusOfUnknownOfOther.draft) var status: OtherOfUnknownOfOther = .a
}

@Model
final class UnknownOfInteger {
    var id: Int64
    var name: String = ""
    // error: 'status' has no unknown cases: '@Column(unknown:)' belongs to an enum with raw values, not to 'Int'
    @Column(unknown: StatusOfUnknownOfOther.draft) var status: Int = 0
}

@Model
final class UnknownOfOptionalText {
    var id: Int64
    var name: String = ""
    // error: 'status' has no unknown cases: '@Column(unknown:)' belongs to an enum with raw values, not to 'String?'
    @Column(unknown: StatusOfUnknownOfOther.draft) var status: String?
}

struct PointOfJSONRequiredNotCodable { var x = 0 }

@Model
final class JSONRequiredNotCodable {
    var id: Int64
    var name: String = ""
    // error: '@JSON' needs a Codable type: add 'Codable' to its declaration
    @JSON var point: PointOfJSONRequiredNotCodable
}

@Model
final class JSONOfAny {
    var id: Int64
    var name: String = ""
    // error: 'value' cannot hold a value of any type: no column stores it; declare a Codable struct and mark the
    @JSON var value: Any
}

@Model
final class JSONOfAnyDictionary {
    var id: Int64
    var name: String = ""
    // error: 'parts' cannot hold values of any type: no column stores it; declare a Codable struct and mark the
    @JSON var parts: [String: Any] = [:]
}

@Model
final class RequiredCodingOfOtherType {
    var id: Int64
    var name: String = ""
    // error: the coding in '@Column(as:)' is for properties of another type
    @Column(as: DateAsMilliseconds.self) var count: Int
}
