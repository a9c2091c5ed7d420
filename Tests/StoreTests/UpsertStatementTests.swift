import Store
import Testing

@Suite("The statement of an upsert as a value")
struct UpsertStatementTests {
    @Test("[54] is the statement that an upsert runs")
    func text() {
        #expect(
            Person.upsertSQL
                == "INSERT OR ABORT INTO \"Person\" (\"id\", \"name\", \"age\", \"created_time\") VALUES (?, ?, ?, ?) "
                + "ON CONFLICT (\"id\") DO UPDATE SET \"name\" = excluded.\"name\", \"age\" = excluded.\"age\", "
                + "\"created_time\" = excluded.\"created_time\" WHERE \"Person\".\"name\" IS NOT excluded.\"name\" "
                + "OR \"Person\".\"age\" IS NOT excluded.\"age\" "
                + "OR \"Person\".\"created_time\" IS NOT excluded.\"created_time\"")
    }

    @Test("[54] [T13] deletes no other row, even where the schema says ON CONFLICT REPLACE")
    func noReplace() throws {
        let test = try TestDatabase()
        let db = test.db
        try db.execute(
            "CREATE TABLE Colliding (id INTEGER PRIMARY KEY, n INTEGER NOT NULL UNIQUE ON CONFLICT REPLACE)")
        let first = try Colliding.create(1, in: db) { $0.n = 1 }
        let second = try Colliding.create(2, in: db) { $0.n = 2 }
        let third = try Colliding.makeUnsaved(3, in: db) { $0.n = 1 }
        #expect(code { try db.execute(third.upsertStatement()) } == .unique)
        #expect(!first.isDeleted && !second.isDeleted)
        #expect(try Colliding.count(in: db) == 2)
    }
}
