import Foundation
import Store
import Testing

@Suite("Statements that write and return rows")
struct ReturningTests {
    @Test("[53] leave nothing in the transaction when their result cannot be read; live objects do not change")
    func undone() throws {
        let test = try TestDatabase()
        let db = test.db
        let bob = try Person.create(in: db) {
            $0.name = "Bob"; $0.createdTime = .now
        }
        try db.transaction { () throws in
            let error = #expect(throws: StoreError.self) {
                _ = try db.values(Int.self, "UPDATE Person SET name = 'Robert' RETURNING name")
            }
            #expect(error?.code == .undecodable)
            #expect(bob.name == "Bob")
            #expect(try db.value(String.self, "SELECT name FROM Person") == "Bob")
        }
        #expect(try db.value(String.self, "SELECT name FROM Person") == "Bob")
        #expect(try db.value(Int.self, "SELECT count(*) FROM _journal") == 1)
    }

    @Test("[53] are followed by live objects within the transaction")
    func followed() throws {
        let test = try TestDatabase()
        let db = test.db
        let bob = try Person.create(in: db) {
            $0.name = "Bob"; $0.createdTime = .now
        }
        try db.transaction { () throws in
            #expect(try db.values(String.self, "UPDATE Person SET name = 'Rob' RETURNING name") == ["Rob"])
            #expect(bob.name == "Rob")
        }
        #expect(bob.name == "Rob")
    }
}

@Suite("SQL functions of the program")
struct SQLFunctionTests {
    @Test(
        "[53] with a name or a number of arguments that SQLite refuses are an error when the database is opened",
        arguments: [("twice", 128), ("twice", -1), ("", 1), (String(repeating: "x", count: 256), 1)])
    func refused(name: String, count: Int) {
        var options = TestDatabase.options
        options.functions = [SQLFunction(name, argumentCount: count) { _ in .null }]
        let error = #expect(throws: StoreError.self) {
            _ = try Store.Database.inMemory(options: options, schema: TestDatabase.declareSchema)
        }
        #expect(error?.code == .invalidInput)
        #expect(error?.hint?.isEmpty == false)
    }
}
