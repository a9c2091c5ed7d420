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
}
