import Foundation
import Store

// What the examples in the comments of Store's sources take for given.

enum Status: String, ColumnValue { case draft, published }

@Model
final class Person {
    var id: Int64
    var name: String = ""
    var age: Int?
    var city: String = ""
    var country: String = ""
    var count: Int = 0
    var visits: Int = 0
    var lastSeen: Date?
}

@Model
struct PersonRow {
    var id: Int64
    var name: String
}

@Model
final class Department {
    var id: Int64
}

@Model
final class Item {
    var id: Int64
    var owner: Ref<Person>?
    var title: String = ""
    var price: Int = 0
}

@Model
final class Order {
    var id: Int64
    var isPaid: Bool = false
}

@Model
final class Player {
    var id: Int64
}

@Model
final class Product {
    var id: Int64
    var number: Int = 0
    var price: Int = 0
}

@Model
final class Line {
    var id: Int64
    var product: Int = 0
}

@Model
final class Task {
    var id: Int64
    var isDone: Bool = false
    var due: Date?
    var deadline: Date?
}

@Model
final class Article {
    var id: Int64
    var title: String = ""
    var body: String = ""
    var published: Date

    static let textIndexes = [TextIndex(\.title, \.body)]
}

@Model
final class Account {
    var id: Int64
    var balance: Int = 0
    var reserved: Int = 0
}

/// A value of any type. The examples are compiled, and not run.
func given<T>() -> T { fatalError("not run") }

var account: Account { given() }
var a: Account { given() }
var b: Account { given() }
var bob: Person { given() }
var body: Data { given() }
var change: DatabaseChange { given() }
var column: String { given() }
var db: Database { given() }
var edit: Edit<Person> { given() }
var encoder: JSONEncoder { given() }
var id: Int64 { given() }
var ids: [Int64] { given() }
var item: Item { given() }
var lastWeek: Date { given() }
var name: String { given() }
var names: [String] { given() }
var options: Database.Options {
    get { given() }
    set {}
}
var orders: [Order] { given() }
var other: Database { given() }
var path: String { given() }
var schema: SchemaBuilder {
    get { given() }
    set {}
}
var token: WriteToken { given() }
var typed: String { given() }

func export(_ people: [Person.Fields]) throws {}
func notify(_ conflict: ConflictEntry) {}
func send<T>(_ values: T) async throws {}
func show<T>(_ value: T) {}
