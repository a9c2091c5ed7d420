import Store

@Model
final class Person {
    var id: Int64
    var name: String = ""
    var age: Int?
}

@Model
final class Place {
    var id: Int64
}

@Model
final class Pet {
    var id: Int64
    var name: String = ""
    var owner: Ref<Person>?
}

// error: inheritance from a final class 'Person'
final class Child: Person {}

@Model
// error: inheritance from a final class 'Place'
final class Village: Place {
    var size: Int = 0
}
