import Store

@Model
final class Person {
    var id: Int64
    var name: String
    var age: Int?
    var visits: Int = 0
    var email: String?
}

/// A row of `Person` as a value.
@Model(table: "Person")
struct PersonRow {
    let id: Int64
    let name: String
}
