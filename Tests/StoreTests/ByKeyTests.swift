import Store
import Testing

@Suite("One row by its key")
struct ByKeyTests {
    let test: TestDatabase
    var db: Database { test.db }

    init() throws { test = try TestDatabase() }

    @Test("[7, 52] a row that must exist is found, or the error says what is missing and where")
    func require() throws {
        let ann = try test.person("Ann")
        #expect(try Person.require(ann.id, in: db) === ann)
        do {
            _ = try Person.require(7, in: db)
            Issue.record("A missing row was found")
        } catch let error as StoreError {
            #expect(error.code == .noSuchRow && error.table == "Person" && error.operation == "finding")
        }
    }

    @Test("[7] a key exists or not, as the own transaction sees it")
    func exists() throws {
        let ann = try test.person("Ann")
        let line = try OrderLine.create(OrderLine.ID(order: 7, line: "x"), in: db)
        #expect(try Person.exists(ann.id, in: db) && !Person.exists(7, in: db))
        #expect(try OrderLine.exists(line.id, in: db))
        #expect(try !OrderLine.exists(OrderLine.ID(order: 7, line: "y"), in: db))
        try db.transaction {
            try ann.delete()
            #expect(try !Person.exists(ann.id, in: db))
        }
        // A row that another program wrote, and that the model cannot decode.
        try db.execute("INSERT INTO Person VALUES (9, 'Eve', NULL, 'no date')")
        #expect(try Person.exists(9, in: db))
    }

    @Test("[17] a row is deleted by its key, with its object, once")
    func delete() throws {
        let ann = try test.person("Ann")
        #expect(try Person.delete(ann.id, in: db) && ann.isDeleted)
        #expect(try !Person.delete(ann.id, in: db))
        #expect(try !Person.delete(7, in: db) && Person.query.isEmpty(in: db))
    }
}
