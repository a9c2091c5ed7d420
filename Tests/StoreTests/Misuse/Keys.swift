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
