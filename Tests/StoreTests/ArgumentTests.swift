import Foundation
import Store
import Testing

@Suite("Arguments of SQL")
struct ArgumentTests {
    let test: TestDatabase
    var db: Database { test.db }

    init() throws {
        test = try TestDatabase()
        try test.person("Bob", age: 1)
        try test.person("Ann", age: 2)
    }

    @Test("[21] values by name, each used any number of times, in every kind of call")
    func named() throws {
        let condition = try SQL("name = :name OR (age = @age AND name <> :name)", named: ["name": "Bob", "age": 2])
        #expect(try Person.where(condition).count(in: db) == 2)
        let update = try SQL("UPDATE Person SET age = $age WHERE name = :name", named: ["age": nil, "name": "Ann"])
        #expect(try db.execute(update) == 1)
        #expect(try Person.where(\.age == nil).select(\.name, in: db) == ["Ann"])
    }

    @Test("[21] names in literals and comments are no parameters")
    func opaque() throws {
        let sql = try SQL("SELECT ':name' || :name -- :name\n || \":name\"", named: ["name": "x"])
        #expect(sql.text == "SELECT ':name' || ? -- :name\n || \":name\"")
        #expect(sql.bindings.count == 1)
    }

    @Test("[21] a name without a value, and a value without a name, are refused")
    func arity() throws {
        #expect(code { _ = try SQL("a = :a", named: ["a": 1, "b": 2]) } == .argumentCount)
        #expect(code { _ = try db.rows(SQL("SELECT :a, :b", named: ["a": 1])) } == .argumentCount)
        let mixed: SQL = "a = \(1) AND b = :b"
        #expect(code { _ = try SQL(mixed, named: ["b": 1]) } == .argumentCount)
    }

    @Test("[21] values as an array")
    func array() throws {
        let values: [(any ColumnValue)?] = ["Bob", 1]
        #expect(try Person.where(SQL("name = ? AND age = ?", arguments: values)).count(in: db) == 1)
        #expect(code { _ = try db.rows(SQL("SELECT ?", arguments: values)) } == .argumentCount)
    }
}
