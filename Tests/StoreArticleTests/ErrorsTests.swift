import Foundation
import Store
import Testing

@Suite("Article: errors", .timeLimit(.minutes(1)))
struct ErrorsTests {
    let file = ArticleFile()

    @Test("[52] an error says what failed and where, without the row's values, and the database still works")
    func place() throws {
        let db = try file.open()
        try Person.create(1, in: db) { $0.name = "Ann" }
        var message = ""
        var place: (operation: String?, table: String?, column: String?, hint: String?)
        do {
            try Person.create(1, in: db) { $0.name = "Bob" }
        } catch let error as StoreError where error.code == .primaryKey {
            message = error.description
            place = (error.operation, error.table, error.column, error.hint)
        }
        #expect(message.contains("Person") && !message.contains("Bob") && place.operation == "creating")
        #expect(place.table == "Person")
        #expect(try Person.count(in: db) == 1)
    }

    @Test("[52] an error of a list has the key of the row that cannot be read")
    func key() throws {
        do {
            let db = try Database(path: file.path) { schema in
                schema.version(1) {
                    try $0.execute("CREATE TABLE Person (id INTEGER PRIMARY KEY, name, age, visits DEFAULT 0, email)")
                }
            }
            try db.execute("INSERT INTO Person (id, name, age) VALUES (1, 'Bob', 42), (2, 'Eve', 'old')")
            try db.close()
        }
        let db = try Database(path: file.path)
        var people: [Person] = []
        var broken: (column: String?, key: [Value]?)
        do {
            people = try Person.all(in: db)
        } catch let error as StoreError where error.code == .undecodable {
            broken = (error.column, error.key)  // "age", [.integer(2)]
        }
        #expect(people.isEmpty && broken.column == "age" && broken.key == [.integer(2)])
    }
}
