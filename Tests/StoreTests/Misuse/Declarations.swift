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
