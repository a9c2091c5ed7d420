import Foundation
import Observation
import Store

@Model
// error: a model cannot be 'Codable': its rows are made by 'create'; encode and decode its 'Fields' instead
final class CodableModel: Codable {
    var id: Int64
}

// error: a model is observable already
@Model @Observable
final class ObservableModel {
    var id: Int64
}

// error: a model belongs to no actor: its properties can be read on any thread
@Model @MainActor
final class MainActorModel {
    var id: Int64
    var name: String = ""
}

class BaseOfSubclassOfClass {}

@Model
// error: 'Sendable' class 'SubclassOfClass' cannot inherit from another class
final class SubclassOfClass: BaseOfSubclassOfClass {
    var id: Int64
}

@Model
// error: the model class 'OpenAnimal' must be final: each row has one object of one type
class OpenAnimal {
    var id: Int64
    var name: String = ""
    static let indexes = [Index(\.name)]
}

class OpenDog: OpenAnimal {
    var size = 0
}

@Model
final class OpenPuppy: OpenDog {
    var age: Int = 0
}

@Model
// error: the model class 'OpenPlant' must be final: each row has one object of one type
class OpenPlant {
    @PrimaryKey var name: String
}

@Model
final class OpenTree: OpenPlant {
    var height: Int = 0
}

@Model
final class IndexesInstance {
    var id: Int64
    var name: String = ""
    // error: 'indexes' belongs to the model, not to a row: it is static
    let indexes = [Index("name")]
}

@Model
final class IndexesOfStrings {
    var id: Int64
    var name: String = ""
    // error: 'indexes' is a list of 'Index', not of names
    static let indexes = ["name"]
}

@Model
final class IndexesOfPathsInstance {
    var id: Int64
    var name: String = ""
    // error: 'indexes' belongs to the model, not to a row: it is static
    let indexes = [Index(\.name), Index(\Columns.id, unique: true)]
}

@Model
final class MistakeBesideIndexes {
    // error: the primary key 'id' cannot be 'Bool': a key is an integer, a String, a UUID, Data or a 'Ref'
    var id: Bool
    var name: String = ""
    var owner: Ref<Person>?
    static let indexes = [Index(\.name, \.id, unique: true), Index("name"), Index(\Columns.name)]
    static let foreignKeys = [ForeignKey(\.owner, onDelete: .setNull), ForeignKey(\Columns.owner)]
    static let textIndexes = [TextIndex(\.name, tokenizer: .english), TextIndex("name")]
}

@Model
final class ComputedIndexesOfStrings {
    var id: Int64
    var name: String = ""
    // error: 'indexes' is a list of 'Index', such as '[Index(\.title)]'
    static var indexes: [String] { ["name"] }
}

@Model
final class TextIndexesOfString {
    var id: Int64
    var name: String = ""
    // error: 'textIndexes' is a list of 'TextIndex', such as '[TextIndex(\.title)]'
    static let textIndexes = "name"
}

@Model
final class ForeignKeysOfString {
    var id: Int64
    var owner: Ref<Person>?
    // error: 'foreignKeys' is a list of 'ForeignKey', such as '[ForeignKey(\.owner)]'
    static let foreignKeys = "owner"
}

@Model
final class CachePolicyOfNumber {
    var id: Int64
    var name: String = ""
    // error: 'cachePolicy' is a 'CachePolicy', such as 'CachePolicy.weak'
    static let cachePolicy = 3
}

@Model
final class UnreadableRowsOfText {
    var id: Int64
    var name: String = ""
    // error: 'unreadableRows' is an 'UnreadableRows', such as 'UnreadableRows.skip'
    static let unreadableRows = "skip"
}

@Model
final class ForeignKeyOfNumber {
    var id: Int64
    var owner: Int64 = 0
    // error: a foreign key belongs to a reference: declare the property as a 'Ref' of the model
    static let foreignKeys = [ForeignKey(\.owner)]
}

@Model
final class ForeignKeyByName {
    var id: Int64
    var owner: Ref<Person>?
    // error: a foreign key names its property by key path: 'ForeignKey(\.player)'
    static let foreignKeys = [ForeignKey("owner")]
}

// error: '@Model' can be attached to a final class (live objects) or a struct (values)
@Model
actor ActorModel {
    var id: Int64
}
