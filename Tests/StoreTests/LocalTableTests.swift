import Store
import TestSupport
import Testing

@Model
final class Draft {
    @PrimaryKey(.rowid) var number: Int64
    var text: String = ""
}

@Suite("Tables that stay on this machine")
struct LocalTableTests {
    let directory = TemporaryDirectory()

    private func open(_ schema: (inout SchemaBuilder) -> Void) throws -> Database {
        try Database(path: directory.file("a.sqlite"), options: TestDatabase.options, schema: schema)
    }

    @Test("[6] a local table is not journalled, and SQLite may generate its keys")
    func local() throws {
        let db = try open {
            $0.local("Draft")
            $0.automatic(Draft.self)
        }
        let drafts = try Draft.create(from: ["a", "b"], in: db) { $0.text = $1 }
        #expect(drafts.map(\.number) == [1, 2])
        #expect(try Draft.find(2, in: db) === drafts[1])
        #expect(throws: Refused.self) {
            try db.transaction {
                try Draft.create(in: db)
                throw Refused()
            }
        }
        #expect(try Draft.create(in: db).number == 3)
        #expect(try db.value(Int.self, "SELECT count(*) FROM _journal") == 0)
        try drafts[0].save { $0.text = "changed" }
        #expect(try db.value(Int.self, "SELECT count(*) FROM _journal") == 0)
        try db.close()
    }

    @Test("[6] keys that SQLite generates are refused on a captured table")
    func tracked() throws {
        #expect(code { _ = try open { $0.automatic(Draft.self) } } == .invalidSchema)
    }

    @Test("[6] AUTOINCREMENT on a captured table is a schema error that names the table, on a local one it works")
    func autoincrement() throws {
        let sql: SQL = "CREATE TABLE Draft (number INTEGER PRIMARY KEY AUTOINCREMENT, text TEXT NOT NULL)"
        do {
            _ = try open { $0.version(1) { try $0.execute(sql) } }
            Issue.record("AUTOINCREMENT was accepted")
        } catch let error as StoreError {
            #expect(error.code == .invalidSchema && error.table == "Draft" && error.hint != nil)
        }
        let db = try open {
            $0.local("Draft")
            $0.version(1) { try $0.execute(sql) }
        }
        let last = try Draft.create(in: db)
        try last.delete()
        #expect(try Draft.create(in: db).number == 2)
        try db.close()
    }

    @Test("[6] a table that becomes local is no longer captured, and keeps its rows")
    func becomesLocal() throws {
        let first = try open {
            $0.version(1) { try $0.execute("CREATE TABLE Note (id INTEGER PRIMARY KEY, text TEXT)") }
        }
        try Note.create(in: first) { $0.text = "journalled" }
        try first.close()
        let db = try open {
            $0.version(1) { _ in }
            $0.local("note")
        }
        try Note.create(in: db) { $0.text = "not" }
        #expect(try Note.count(in: db) == 2)
        #expect(try db.value(Int.self, "SELECT count(*) FROM _journal") == 1)
        try db.close()
    }
}
