import Foundation
import Store
import TestSupport
import Testing

@Suite("Tables that somebody made by hand, under an automatic schema")
struct HandMadeTableTests {
    @Model(table: "Account") final class Account {
        var id: Int64
        var email: String = ""
        var name: String = "nobody"
        var score: Int = 0
    }

    @Model(table: "Note") final class Note {
        var id: Int64
        var text: String = ""
    }

    @Model(table: "Place") final class Place {
        var id: Int64
        var name: String = ""
    }

    @Model(table: "Place") final class RegionalPlace {
        @Column("id") @PrimaryKey var number: Int64
        @PrimaryKey var region: String = "eu"
        var name: String = ""
    }

    @Model(table: "Place") final class StreetPlace {
        @Column("id") @PrimaryKey var number: Int64
        @PrimaryKey var street: String
        var name: String = ""
    }

    private static let account = """
        CREATE TABLE Account (
          id INTEGER PRIMARY KEY AUTOINCREMENT, email TEXT COLLATE NOCASE UNIQUE, -- one account for each address
          name VARCHAR(20) NOT NULL DEFAULT 'nobody' CHECK (length(name) > 0), score TEXT,
          team INTEGER REFERENCES Team (id) ON DELETE SET NULL DEFERRABLE INITIALLY DEFERRED,
          initial TEXT GENERATED ALWAYS AS (substr(name, 1, 1)) VIRTUAL,
          CONSTRAINT one_score UNIQUE (name, score) CHECK (score <> 13))
        """

    let directory = TemporaryDirectory()
    var path: String { directory.file("a.sqlite") }

    private func open(_ schema: (inout SchemaBuilder) -> Void) throws -> Database {
        try Database(path: path, options: TestDatabase.options, schema: schema)
    }

    /// Makes the file with these tables, which stay on this machine, because capture refuses AUTOINCREMENT.
    private func prepare(_ statements: String...) throws {
        let db = try open { schema in
            schema.local("Account")
            schema.version(1) { step in for sql in statements { try step.execute(SQL(raw: sql)) } }
        }
        try db.close()
    }

    private func sql(_ name: String, _ db: Database) throws -> String? {
        try db.value(String.self, "SELECT sql FROM sqlite_master WHERE name = \(name)")
    }

    private func columns(_ table: String, _ db: Database) throws -> [String] {
        try db.values(String.self, "SELECT name FROM pragma_table_info(\(table))")
    }

    @Test("[34] without permission a table stays as a version made it, with and without rows")
    func notRebuilt() throws {
        try prepare("CREATE TABLE Team (id INTEGER PRIMARY KEY)", Self.account)
        for hasRow in [false, true] {
            let db = try open { $0.automatic(Account.self) }
            #expect(try sql("Account", db) == Self.account)
            #expect(db.schemaReport.done.isEmpty)
            #expect(db.schemaReport.notDone.map(\.column) == ["email", "score", "score", "team", "initial"])
            if !hasRow { try db.execute("INSERT INTO Account (id) VALUES (1)") }
            try db.close()
        }
    }

    @Test("[34] a required property becomes a column of an empty table that a version made")
    func requiredColumn() throws {
        try prepare("CREATE TABLE Place (id INTEGER PRIMARY KEY, label TEXT UNIQUE)")
        let db = try open { $0.automatic(RequiredPlace.self) }
        #expect(db.schemaReport.done == [.init(table: "Place", action: .addedColumn("due"))])
        #expect(code { try db.execute("INSERT INTO Place (id) VALUES (1)") } == .notNull)
        try db.close()
    }

    @Model(table: "Place") final class RequiredPlace {
        var id: Int64
        var label: String?
        var due: Double
    }

    @Test("[34] an allowed rebuild keeps the constraints, defaults, indexes and triggers of the table")
    func rebuildKeepsConstraints() throws {
        try prepare(
            "CREATE TABLE Team (id INTEGER PRIMARY KEY)", "INSERT INTO Team VALUES (1), (2)", Self.account,
            "CREATE INDEX by_length ON Account (length(name)) WHERE score > 1",
            "CREATE TABLE Log (id INTEGER PRIMARY KEY)",
            "CREATE TRIGGER logs AFTER INSERT ON Account BEGIN INSERT INTO Log VALUES (NEW.id); END",
            "INSERT INTO Account (id, email, name, score, team) VALUES (7, 'ann@x', 'Ann', '5', 1), (9, '', 'Z', 1, 2)",
            "DELETE FROM Account WHERE id = 9")
        let db = try open { $0.automatic(Account.self, allowing: .rebuildTables) }
        let ann = try #require(try Account.find(7, in: db))
        #expect(ann.email == "ann@x" && ann.name == "Ann" && ann.score == 5)
        #expect(try db.value(String.self, "SELECT typeof(score) FROM Account") == "integer")
        #expect(try db.value(String.self, "SELECT initial FROM Account") == "A")
        func refused(_ sql: SQL) -> StoreError.Code? { code { try db.execute(sql) } }
        #expect(refused("INSERT INTO Account (email) VALUES ('ANN@x')") == .unique)
        #expect(refused("INSERT INTO Account (email, name) VALUES ('a', '')") == .check)
        #expect(refused("INSERT INTO Account (email, score) VALUES ('a', 13)") == .check)
        #expect(refused("INSERT INTO Account (email, name, score) VALUES ('a', 'Ann', 5)") == .unique)
        #expect(refused("INSERT INTO Account (email, score, team) VALUES ('a', 1, 99)") == .foreignKey)
        #expect(refused("INSERT INTO Account (email, score) VALUES (NULL, 1)") == .notNull)
        try db.execute("INSERT INTO Account (email, score) VALUES ('bob@x', 1)")
        // AUTOINCREMENT does not use the key of a deleted row again.
        #expect(
            try db.rows("SELECT id, name FROM Account WHERE score = 1").map(\.values) == [
                [.integer(10), .text("nobody")]
            ])
        #expect(try db.value(Int.self, "SELECT max(id) FROM Log") == 10)
        try db.execute("DELETE FROM Team WHERE id = 1")
        #expect(try db.value(Int.self, "SELECT team FROM Account WHERE id = 7") == nil)
        #expect(try sql("by_length", db)?.contains("WHERE score > 1") == true)
        let types = try db.values(String.self, "SELECT type FROM pragma_table_info('Account')")
        #expect(types == ["INTEGER", "TEXT", "VARCHAR(20)", "INTEGER", "INTEGER"])
        #expect(db.schemaReport.notDone.map(\.column) == ["team", "initial"])
        try db.close()
        let again = try open { $0.automatic(Account.self, allowing: .rebuildTables) }
        #expect(again.schemaReport.done.isEmpty)
        try again.close()
    }

    @Test("[34] a column with constraints of its own is dropped where a rebuild is allowed, and reported otherwise")
    func dropsConstrainedColumn() throws {
        let table = """
            CREATE TABLE Note (id INTEGER PRIMARY KEY, text TEXT NOT NULL DEFAULT '', code TEXT UNIQUE,
              size INTEGER CHECK (size > 0), CHECK (code <> 'text'))
            """
        try prepare(table, "INSERT INTO Note VALUES (1, 'a', 'c', 2)")
        let first = try open { $0.automatic(Note.self, allowing: .dropColumns) }
        #expect(try sql("Note", first) == table)
        #expect(first.schemaReport.notDone.map(\.column) == ["code", "size"])
        #expect(first.schemaReport.notDone.allSatisfy { $0.remedy.contains(".rebuildTables") })
        try first.close()
        let db = try open { $0.automatic(Note.self, allowing: [.dropColumns, .rebuildTables]) }
        #expect(try columns("Note", db) == ["id", "text"])
        #expect(try Note.find(1, in: db)?.text == "a")
        #expect(db.schemaReport.notDone.isEmpty)
        try db.close()
    }

    @Test("[34] a column that other columns' constraints or indexes name is kept, and each of them is named")
    func keepsNamedColumn() throws {
        let table = """
            CREATE TABLE Note (id INTEGER PRIMARY KEY, text TEXT NOT NULL DEFAULT '', code TEXT, CHECK (code <> text),
              CONSTRAINT pair UNIQUE (text, code), UNIQUE (code))
            """
        try prepare(table, "CREATE INDEX mine ON Note (code)", "INSERT INTO Note VALUES (1, 'a', 'c')")
        let db = try open { $0.automatic(Note.self, allowing: [.dropColumns, .rebuildTables]) }
        #expect(try sql("Note", db) == table)
        #expect(db.schemaReport.done.isEmpty)
        let refusal = try #require(db.schemaReport.notDone.first)
        #expect(refusal.column == "code")
        for name in ["CHECK ( code <> text )", "CONSTRAINT pair UNIQUE ( text , code )", "the index mine"] {
            #expect(refusal.reason.contains(name), "\(refusal.reason)")
        }
        try db.close()
    }

    @Test("[34] a rebuild after which a trigger or a view would fail is refused, and names them")
    func refusesBrokenObjects() throws {
        try prepare(
            "CREATE TABLE Note (id INTEGER PRIMARY KEY, text INTEGER, code TEXT)",
            "CREATE TABLE Log (id INTEGER PRIMARY KEY, code TEXT)",
            "CREATE TRIGGER logs AFTER UPDATE ON Note BEGIN UPDATE Log SET code = NEW.code; END",
            "CREATE VIEW codes AS SELECT code FROM Note", "INSERT INTO Note VALUES (1, 2, 'c')")
        do {
            _ = try open { $0.automatic(Note.self, allowing: [.dropColumns, .rebuildTables]) }
            Issue.record("the table was rebuilt")
        } catch let error as StoreError {
            #expect(error.code == .invalidSchema && error.table == "Note")
            #expect(error.message.contains("the trigger logs") && error.message.contains("the view codes"))
        }
        let db = try open { _ in }
        #expect(try columns("Note", db) == ["id", "text", "code"])
        #expect(try db.value(Int.self, "SELECT count(*) FROM codes") == 1)
        try db.close()
    }

    @Test("[34] a new part of the key takes its initial value in existing rows")
    func initialKeyPart() throws {
        let first = try open { $0.automatic(Place.self) }
        try Place.create(1, in: first) { $0.name = "Oslo" }
        try first.close()
        let db = try open { $0.automatic(RegionalPlace.self, allowing: .rebuildTables) }
        #expect(try RegionalPlace.find(.init(number: 1, region: "eu"), in: db)?.name == "Oslo")
        #expect(try sql("Place", db)?.hasSuffix("STRICT, WITHOUT ROWID") == true)
        try db.close()
    }

    @Test("[34] [36] without an initial value a new part of the key fails the opening, whatever invalidRows says")
    func keyPartWithoutValue() throws {
        let first = try open { $0.automatic(Place.self) }
        try Place.create(1, in: first) { $0.name = "Oslo" }
        try first.close()
        for policy in [InvalidRows.fail, .delete] {
            do {
                _ = try open { $0.automatic(StreetPlace.self, allowing: .rebuildTables, invalidRows: policy) }
                Issue.record("the key has a part without a value")
            } catch let error as StoreError {
                #expect(error.code == .invalidSchema && error.column == "street")
                #expect(error.hint?.contains("delete") == false)
            }
        }
        let db = try open { $0.automatic(Place.self) }
        #expect(try Place.find(1, in: db)?.name == "Oslo")
        try db.close()
    }

    @Test("[36] a hint proposes to delete rows only when some rows are valid")
    func hintOfInvalidRows() throws {
        try prepare(
            "CREATE TABLE Place (id INTEGER PRIMARY KEY, name TEXT)", "INSERT INTO Place VALUES (1, NULL), (2, NULL)")
        func failure() throws -> StoreError? {
            do {
                try open { $0.automatic(Place.self, allowing: .rebuildTables) }.close()
                return nil
            } catch let error as StoreError { return error }
        }
        let all = try #require(try failure())
        #expect(all.code == .invalidRow && all.hint?.contains("delete") == false)
        let between = try open { _ in }
        try between.execute("UPDATE Place SET name = 'Oslo' WHERE id = 2")
        try between.close()
        let some = try #require(try failure())
        #expect(some.code == .invalidRow && some.hint?.contains("delete") == true)
        #expect(some.message.contains("1 of 2 rows"))
    }

    @Test(
        "[34] a rebuild reads every way of writing a constraint",
        arguments: [
            "id INTEGER PRIMARY KEY, text INT NOT NULL, a DEFAULT NULL UNIQUE, b TEXT DEFAULT (1 + 2) NULL COLLATE nocase",
            "id INT PRIMARY KEY DESC NOT NULL, text INTEGER CONSTRAINT \"check\" CHECK (text <> ',)'), a DEFAULT -5, b",
            """
            [id] INTEGER CONSTRAINT pk PRIMARY KEY ON CONFLICT REPLACE, /* a, b ( */ `text` INTEGER NOT NULL,
            "a" DECIMAL(10, 2) CONSTRAINT only UNIQUE ON CONFLICT IGNORE REFERENCES Note ON UPDATE SET DEFAULT
            NOT DEFERRABLE, b AS (a || ',') STORED, UNIQUE (a, b) FOREIGN KEY (a) REFERENCES Note (id) CHECK (a > 0)
            """,
            "id INTEGER, text INTEGER, a TEXT DEFAULT 'x''y', b BLOB DEFAULT x'00', PRIMARY KEY (id), CHECK (text > 0)",
        ])
    func readsConstraints(columns: String) throws {
        try prepare("CREATE TABLE Note (\(columns))")
        func facts(_ db: Database) throws -> [[String]] {
            let queries: [SQL] = [
                """
                SELECT name || hidden || pk || iif(name = 'text', '', type || replace(ifnull(dflt_value, ''), ' ', '')) FROM
                pragma_table_xinfo('Note') WHERE name <> 'id' ORDER BY cid
                """,
                """
                SELECT l."unique" || l.origin || ifnull(i.name, '') || i.coll FROM pragma_index_list('Note') AS l
                JOIN pragma_index_xinfo(l.name) AS i WHERE l.origin <> 'pk' ORDER BY 1
                """,
                "SELECT \"from\" || \"table\" || ifnull(\"to\", '') || on_update FROM pragma_foreign_key_list('Note') ORDER BY 1",
            ]
            return try queries.map { try db.values(String.self, $0) }
        }
        let before = try open { _ in }
        let expected = try facts(before)
        let checks = try sql("Note", before)?.components(separatedBy: "CHECK (").count
        try before.close()
        let db = try open { $0.automatic(Note.self, allowing: .rebuildTables) }
        #expect(try facts(db) == expected)
        #expect(try sql("Note", db)?.components(separatedBy: "CHECK (").count == checks)
        try Note.create(1, in: db) { $0.text = "one" }
        try db.close()
    }
}
