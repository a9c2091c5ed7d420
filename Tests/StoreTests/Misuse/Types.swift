import Store

@Model
final class NoSuchType {
    var id: Int64
    // error: cannot find type 'Strng' in scope
    var name: Strng = ""
}

@Model
final class NoSuchRequiredType {
    var id: Int64
    // error: cannot find type 'Strng' in scope
    var name: Strng
}

@Model
final class NoSuchOptionalType {
    var id: Int64
    // error: cannot find type 'Strng' in scope
    var name: Strng?
}

@Model
final class RefOfNoType {
    var id: Int64
    // error: cannot find type 'Nowhere' in scope
    var other: Ref<Nowhere>
}

@Model
final class RefOfNoModel {
    var id: Int64
    // error: type 'String' does not conform to protocol 'Model'
    var other: Ref<String>?
}

@Model
final class JSONOfNoType {
    var id: Int64
    // error: cannot find type 'Nowhere' in scope
    @JSON var parts: [Nowhere] = []
}

@Model
final class TransientOfNoType {
    var id: Int64
    // error: cannot find type 'Nowhere' in scope
    @Transient var other: Nowhere?
}

@Model
struct ValueOfNoType {
    var id: Int64
    // error: cannot find type 'Strng' in scope
    var name: Strng = ""
}

class SharedOfNotSendable { var x = 0 }

@Model
final class NotSendable {
    var id: Int64
    // error: no column stores this type: mark the property '@JSON' if the type is Codable, or conform the type to
    var shared: SharedOfNotSendable = SharedOfNotSendable()
}

@Model
final class TransientNotSendable {
    var id: Int64
    // error: type 'SharedOfNotSendable' does not conform to the 'Sendable' protocol
    @Transient var shared: SharedOfNotSendable = SharedOfNotSendable()
}

final class CodableOfJSONNotSendable: Codable { var x = 0 }

@Model
final class JSONNotSendable {
    var id: Int64
    // error: type 'CodableOfJSONNotSendable' does not conform to the 'Sendable' protocol
    @JSON var shared: CodableOfJSONNotSendable = CodableOfJSONNotSendable()
}

@Model
final class OptionalJSONNotSendable {
    var id: Int64
    // error: type 'CodableOfJSONNotSendable' does not conform to the 'Sendable' protocol
    @JSON var shared: CodableOfJSONNotSendable?
}

enum CodingOfNotSendable: ColumnCoding {
    static func decode(_ value: Value) throws -> SharedOfNotSendable { SharedOfNotSendable() }
    static func encode(_ property: SharedOfNotSendable) throws -> Value { .null }
}

@Model
final class CodedNotSendable {
    var id: Int64
    // error: type 'SharedOfNotSendable' does not conform to the 'Sendable' protocol
    @Column(as: CodingOfNotSendable.self) var shared: SharedOfNotSendable = SharedOfNotSendable()
}
