import Foundation
import Store
import TestSupport
import Testing

@Suite("Changes of a table that other parts of the schema name")
struct NamedTableTests {
    @Model(table: "Item") final class CodedItem {
        var id: Int64
        var code: String = ""
        static let indexes = [Index(\.code, unique: true)]
    }

    @Model(table: "Item") final class Item {
        var id: Int64
    }

    @Model(table: "Item") final class PlainItem {
        var id: Int64
        var code: String = ""
    }

    @Model(table: "Item") final class ItemByCode {
        @PrimaryKey var code: String
        @Column("id") var number: Int64 = 0
    }

    @Model(table: "Item") final class Counted {
        var id: Int64
        var low: Int = 0
        var quantity: Int = 0
    }

    @Model(table: "Tag") final class Tag {
        @PrimaryKey var name: String
        @PrimaryKey var language: String = "en"
        var note: String?
    }

    let directory = TemporaryDirectory()

    private func open(_ schema: (inout SchemaBuilder) -> Void) throws -> Database {
        try Database(path: directory.file("a.sqlite"), options: TestDatabase.options, schema: schema)
    }

    private func prepare(_ schema: (inout SchemaBuilder) -> Void = { _ in }, _ statements: String...) throws {
        let db = try open(schema)
        for sql in statements { try db.execute(SQL(raw: sql)) }
        try db.close()
    }

    private func sql(_ name: String, _ db: Database) throws -> String? {
        try db.value(String.self, "SELECT sql FROM sqlite_master WHERE name = \(name)")
    }

    private let child =
        "CREATE TABLE Child (id INTEGER PRIMARY KEY, code TEXT REFERENCES Item (code) ON DELETE CASCADE)"

    /// Writes to both tables, which SQLite refuses where a foreign key lacks its unique index.
    private func write(_ db: Database) throws {
        try db.execute("INSERT INTO Item (id, code) VALUES (8, 'h')")
        try db.execute("INSERT INTO Child (id, code) VALUES (8, 'h')")
        try db.execute("DELETE FROM Item WHERE id = 8")
        #expect(try db.value(Int.self, "SELECT count(*) FROM Child WHERE id = 8") == 0)
    }

    @Test("[34] a column that a foreign key of another table names is kept, with its unique index")
    func keepsColumnOfReference() throws {
        try prepare({ $0.automatic(CodedItem.self) }, child)
        for allowed: DestructiveSteps in [.dropColumns, [.dropColumns, .rebuildTables]] {
            let db = try open { $0.automatic(Item.self, allowing: allowed) }
            #expect(!db.schemaReport.done.contains { $0.action == .droppedColumn("code") })
            #expect(db.schemaReport.notDone.contains { $0.reason.contains("the reference Child.code") })
            try write(db)
            try db.close()
        }
    }

    @Test("[34] a unique index that a foreign key of another table needs is kept")
    func keepsIndexOfReference() throws {
        try prepare({ $0.automatic(CodedItem.self) }, child)
        let db = try open { $0.automatic(PlainItem.self) }
        #expect(db.schemaReport.done.isEmpty)
        #expect(db.schemaReport.notDone.map(\.reason).contains { $0.contains("the reference Child.code needs it") })
        try write(db)
        try db.close()
    }

    @Test(
        "[36] a key that a foreign key names is not changed, and the error names the foreign key",
        arguments: ["REFERENCES Item (id)", "REFERENCES Item"])
    func keepsKeyOfReference(clause: String) throws {
        try prepare(
            {
                $0.version(1) {
                    try $0.execute("CREATE TABLE Item (id INTEGER PRIMARY KEY, code TEXT NOT NULL UNIQUE)")
                }
            }, "CREATE TABLE Child (id INTEGER PRIMARY KEY, item INTEGER \(clause))", "INSERT INTO Item VALUES (1, 'a')"
        )
        let error = #expect(throws: StoreError.self) {
            try open { $0.automatic(ItemByCode.self, allowing: .rebuildTables) }.close()
        }
        #expect(error?.code == .invalidSchema)
        #expect(error?.message.contains("the reference Child.item") == true)
        let db = try open { _ in }
        #expect(try db.values(String.self, "SELECT code FROM Item") == ["a"])
        try db.close()
    }

    @Test("[36] a key that a foreign key names may get another type, and the foreign key holds")
    func typeOfNamedKey() throws {
        try prepare(
            { $0.version(1) { try $0.execute("CREATE TABLE Item (id TEXT NOT NULL PRIMARY KEY)") } },
            "CREATE TABLE Child (id INTEGER PRIMARY KEY, item INTEGER REFERENCES Item (id) ON DELETE CASCADE)",
            "INSERT INTO Item VALUES ('1'), ('2')", "INSERT INTO Child VALUES (10, 1), (20, 2)")
        let db = try open { $0.automatic(Item.self, allowing: .rebuildTables) }
        #expect(try sql("Item", db)?.contains("\"id\" INTEGER PRIMARY KEY") == true)
        #expect(db.schemaReport.done.count == 1)
        try db.execute("DELETE FROM Item WHERE id = 1")
        #expect(try db.values(Int.self, "SELECT id FROM Child") == [20])
        let error = #expect(throws: StoreError.self) { try db.execute("INSERT INTO Child VALUES (30, 3)") }
        #expect(error?.code == .foreignKey)
        try db.close()
    }

    @Test(
        "[34] an empty table that a version made is not rebuilt, although it is spelled as automatic schemas spell it")
    func versionsAreTheirs() throws {
        let table = "CREATE TABLE \"Item\" (\"id\" INTEGER PRIMARY KEY, \"code\" INTEGER NOT NULL DEFAULT 0) STRICT"
        let db = try open { schema in
            schema.version(1) { try $0.execute(SQL(raw: table)) }
            schema.automatic(PlainItem.self)
        }
        #expect(try sql("Item", db) == table)
        #expect(db.schemaReport.done.isEmpty)
        #expect(db.schemaReport.notDone.map(\.column) == ["code"])
        try db.close()
    }

    @Test("[34] a key that gets another column keeps its collation and what a conflict does")
    func keepsCollationOfKey() throws {
        try prepare(
            {
                $0.version(1) {
                    try $0.execute(
                        """
                        CREATE TABLE Tag (name TEXT NOT NULL, note TEXT, PRIMARY KEY (name COLLATE NOCASE)
                          ON CONFLICT IGNORE)
                        """)
                }
            }, "INSERT INTO Tag VALUES ('A', 'x')")
        let db = try open { $0.automatic(Tag.self, allowing: .rebuildTables) }
        try db.execute("INSERT INTO Tag (name, language) VALUES ('a', 'en')")
        #expect(try db.values(String.self, "SELECT name || language FROM Tag") == ["Aen"])
        try db.close()
    }

    @Test("[34] a rebuild reads columns that a check names together with the table")
    func qualifiedNames() throws {
        try prepare(
            {
                $0.version(1) {
                    try $0.execute(
                        """
                        CREATE TABLE Item (id INTEGER PRIMARY KEY, low INTEGER NOT NULL DEFAULT 0,
                          quantity TEXT, CHECK (Item.quantity >= item."low"))
                        """)
                }
            }, "INSERT INTO Item VALUES (1, 2, '5')")
        let db = try open { $0.automatic(Counted.self, allowing: .rebuildTables) }
        #expect(try Counted.require(1, in: db).quantity == 5)
        let error = #expect(throws: StoreError.self) { try db.execute("UPDATE Item SET quantity = 1") }
        #expect(error?.code == .check)
        try db.close()
    }
}
