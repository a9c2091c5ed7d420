import Foundation
import Store
import TestSupport
import Testing

// One table over time: each model is a later declaration of it.
@Model(table: "Contact")
final class ContactV1 {
    var id: Int64
    var name: String = ""
    var nick: String?
}

@Model(table: "Contact")
final class ContactV2 {
    var id: Int64
    var name: String = ""
    var nick: String?
    var stars: Int = 3
    var score: Double = 0.5
    var note: String = "it's new"
    var token: UUID = UUID()
    var photo: Data?

    static let indexes = [Index("name"), Index("stars", "name", unique: true)]
}

@Model(table: "Contact")
final class ContactV3 {
    var id: Int64
    var name: String = ""
    var nick: Int?

    static let indexes = [Index("name")]
}

@Model(table: "Contact")
final class NarrowContact {
    var id: Int64
    var name: String = ""
}

@Model(table: "Contact")
final class RequiredContact {
    var id: Int64
    var name: String = ""
    var nick: String?
    var due: Date
}

@Model(table: "Contact")
final class MisindexedContact {
    var id: Int64
    var name: String = ""
    static let indexes = [Index("nam")]
}

@Model(table: "Contact")
final class KeyedContact {
    @PrimaryKey var name: String
    var nick: String?
}

@Model(table: "a \"quoted\" table")
final class QuotedModel {
    @PrimaryKey @Column("the \"key\"") var key: String
    @PrimaryKey var order: Int
    @Column("select") var value: String = "x"
    static let indexes = [Index("value")]
}

@Suite("Schemas that follow models")
struct AutomaticSchemaTests {
    let directory = TemporaryDirectory()
    var path: String { directory.file("a.sqlite") }

    private func open(_ schema: (inout SchemaBuilder) -> Void) throws -> Database {
        try Database(path: path, options: TestDatabase.options, schema: schema)
    }

    private func sql(_ name: String, _ db: Database) throws -> String? {
        try db.value(String.self, "SELECT sql FROM sqlite_master WHERE name = \(name)")
    }

    @Test("[34] a missing table is created from the model, captured, and reported; a second opening does nothing")
    func create() throws {
        let db = try open { $0.automatic(ContactV1.self) }
        #expect(db.schemaReport.done == [.init(table: "Contact", action: .createdTable)])
        #expect(
            try sql("Contact", db) == """
                CREATE TABLE "Contact" ("id" INTEGER PRIMARY KEY, "name" TEXT NOT NULL DEFAULT '', "nick" TEXT) STRICT
                """)
        try ContactV1.create(in: db) { $0.name = "Bob" }
        #expect(try db.value(Int.self, "SELECT count(*) FROM _journal WHERE op = 1") == 1)
        try db.close()
        let again = try open { $0.automatic(ContactV1.self) }
        #expect(again.schemaReport == SchemaReport())
        #expect(try ContactV1.count(in: again) == 1)
        try again.close()
    }

    @Test("[34] a new property becomes a column with the initial value for existing rows")
    func addColumns() throws {
        let first = try open { $0.automatic(ContactV1.self) }
        let id = try ContactV1.create(in: first) { $0.name = "Bob" }.id
        try first.close()
        // token has another initial value each time.
        #expect(code { _ = try open { $0.automatic(ContactV2.self) } } == .invalidSchema)
        let db = try open {
            $0.version(1) {
                try $0.execute(
                    "ALTER TABLE Contact ADD COLUMN token TEXT NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000'")
            }
            $0.automatic(ContactV2.self)
        }
        let bob = try #require(try ContactV2.find(id, in: db))
        #expect(bob.stars == 3 && bob.score == 0.5 && bob.note == "it's new" && bob.photo == nil)
        let added = db.schemaReport.done.compactMap { step -> String? in
            if case .addedColumn(let name) = step.action { return name }
            return nil
        }
        #expect(added == ["stars", "score", "note", "photo"])
        // ADD COLUMN journals no row: the default belongs to the schema, and each machine gets it with its
        // own migration.
        #expect(try db.value(Int.self, "SELECT count(*) FROM _journal") == 1)
        try bob.save { $0.stars = 4 }
        #expect(try db.value(Int.self, "SELECT count(*) FROM _journal WHERE op = 2") == 1)
        #expect(try db.values(String.self, "SELECT columns FROM _journal_tables WHERE tracked")[0].contains("stars"))
        try db.close()
    }

    @Test("[34] a change that would lose data is not made and reported with a remedy, and made when it is allowed")
    func destructive() throws {
        let first = try open { $0.automatic(ContactV1.self) }
        let id = try ContactV1.create(in: first) { $0.nick = "12" }.id
        try first.close()
        var db = try open { $0.automatic(NarrowContact.self) }
        #expect(db.schemaReport.done.isEmpty)
        let refusal = try #require(db.schemaReport.notDone.first)
        #expect(refusal.column == "nick" && refusal.description.contains(".dropColumns"))
        try db.close()

        db = try open { $0.automatic(ContactV3.self) }
        #expect(db.schemaReport.notDone.map(\.column) == ["nick"])
        #expect(db.schemaReport.notDone.first?.reason == "the column is TEXT, but the model stores INTEGER")
        try db.close()

        db = try open { $0.automatic(ContactV3.self, allowing: .rebuildTables) }
        #expect(db.schemaReport.done.contains { if case .rebuilt = $0.action { true } else { false } })
        #expect(try ContactV3.find(id, in: db)?.nick == 12)
        // The rebuilt table is captured, and the journal has the one value whose class changed.
        let entries = try db.value(Int.self, "SELECT count(*) FROM _journal WHERE op = 2")
        #expect(entries == 1)
        try ContactV3.create(in: db) { $0.nick = 5 }
        #expect(try db.value(Int.self, "SELECT count(*) FROM _journal WHERE op = 1") == 2)
        try db.close()

        db = try open { $0.automatic(NarrowContact.self, allowing: .dropColumns) }
        #expect(db.schemaReport.done.contains(.init(table: "Contact", action: .droppedColumn("nick"))))
        #expect(try db.values(String.self, "SELECT name FROM pragma_table_info('Contact')") == ["id", "name"])
        #expect(try NarrowContact.count(in: db) == 2)
        try db.close()
    }

    @Test("[34] renamings keep the values, happen once, and capture follows")
    func renames() throws {
        let first = try open {
            $0.version(1) { try $0.execute("CREATE TABLE People (id INTEGER PRIMARY KEY, called TEXT NOT NULL)") }
        }
        try first.execute("INSERT INTO People VALUES (7, 'Bob')")
        try first.close()
        for round in 0..<2 {
            let db = try open {
                $0.automatic(
                    NarrowContact.self,
                    renaming: [.table("People", to: "Contact"), .column("called", to: "name", in: "Contact")])
            }
            #expect(try NarrowContact.find(7, in: db)?.name == (round == 0 ? "Bob" : "Rob"))
            #expect(db.schemaReport.done.count == (round == 0 ? 2 : 0))
            try NarrowContact.find(7, in: db)?.save { $0.name = "Rob" }
            try db.close()
        }
        let db = try open { _ in }
        #expect(try db.value(String.self, "SELECT name FROM _journal_tables WHERE tracked") == "Contact")
        try db.close()
    }

    @Test("[34] another primary key is refused without permission, and with it the table is rebuilt")
    func keyChange() throws {
        let first = try open { $0.automatic(ContactV1.self) }
        try ContactV1.create(in: first) {
            $0.name = "Bob"; $0.nick = "b"
        }
        try first.close()
        #expect(code { _ = try open { $0.automatic(KeyedContact.self) } } == .keyMismatch)
        let db = try open { $0.automatic(KeyedContact.self, allowing: [.rebuildTables, .dropColumns]) }
        #expect(try KeyedContact.find("Bob", in: db)?.nick == "b")
        try KeyedContact.create("Ann", in: db)
        #expect(try db.values(String.self, "SELECT name FROM pragma_table_info('Contact')") == ["name", "nick"])
        try db.close()
    }

    @Test("[34] a rebuild keeps the rows that refer to the table, its indexes and its triggers")
    func rebuildKeeps() throws {
        let first = try open {
            $0.version(1) {
                try $0.execute(
                    """
                    CREATE TABLE Contact (id INTEGER PRIMARY KEY, name TEXT NOT NULL DEFAULT '', nick TEXT);
                    CREATE TABLE Child (id INTEGER PRIMARY KEY, contact INTEGER NOT NULL REFERENCES Contact (id) ON DELETE CASCADE);
                    CREATE INDEX mine ON Contact (name);
                    CREATE VIEW names AS SELECT name FROM Contact;
                    CREATE TABLE Log (id INTEGER PRIMARY KEY);
                    CREATE TRIGGER logs AFTER INSERT ON Contact BEGIN INSERT INTO Log VALUES (NEW.id); END;
                    INSERT INTO Contact VALUES (1, 'Bob', '3');
                    INSERT INTO Child VALUES (1, 1);
                    """)
            }
        }
        try first.close()
        let db = try open {
            $0.version(1) { _ in }
            $0.automatic(ContactV3.self, allowing: .rebuildTables)
        }
        #expect(try db.value(Int.self, "SELECT count(*) FROM Child") == 1)
        #expect(try db.value(Int.self, "SELECT count(*) FROM names") == 1)
        #expect(try sql("mine", db) != nil)
        try ContactV3.create(2, in: db)
        #expect(try db.values(Int.self, "SELECT id FROM Log ORDER BY id") == [1, 2])
        #expect(code { try db.execute("INSERT INTO Child VALUES (2, 99)") } == .foreignKey)
        try db.close()
    }

    @Test("[34] a required property can be added only to an empty table, not to rows that would have no value")
    func required() throws {
        let first = try open { $0.automatic(ContactV1.self) }
        let bob = try ContactV1.create(in: first)
        try first.close()
        do {
            _ = try open { $0.automatic(RequiredContact.self) }
            Issue.record("the column was added")
        } catch let error as StoreError {
            #expect(error.code == .invalidSchema && error.table == "Contact" && error.column == "due")
            #expect(error.hint?.contains("default value") == true)
        }
        let second = try open { $0.automatic(ContactV1.self) }
        #expect(try ContactV1.find(bob.id, in: second)?.delete() == true)
        try second.close()
        let db = try open { $0.automatic(RequiredContact.self) }
        #expect(try RequiredContact.create(in: db) { $0.due = .now }.existsInDatabase)
        try db.close()
    }

    @Test("[35] indexes of the model follow its declaration, and other indexes stay")
    func indexes() throws {
        var db = try open {
            $0.automatic(ContactV2.self)
        }
        let names = try db.values(String.self, "SELECT name FROM pragma_index_list('Contact') ORDER BY name")
        #expect(names == ["model_Contact_name", "model_Contact_stars_name_unique"])
        try db.execute("CREATE INDEX mine ON Contact (nick)")
        try ContactV2.create(in: db) { $0.name = "Bob" }
        #expect(code { try ContactV2.create(in: db) { $0.name = "Bob" } } == .unique)
        try db.close()
        db = try open { $0.automatic(NarrowContact.self) }
        #expect(
            try db.values(String.self, "SELECT name FROM pragma_index_list('Contact') ORDER BY name").contains("mine"))
        #expect(db.schemaReport.done.contains(.init(table: "Contact", action: .droppedIndex("model_Contact_name"))))
        try db.close()
    }

    @Test("[35] [T13] an index that somebody made stays, also when its name begins like those of models")
    func foreignIndexes() throws {
        let first = try open { $0.automatic(ContactV1.self) }
        try first.execute("CREATE INDEX mine ON Contact (nick)")
        try first.execute("CREATE UNIQUE INDEX model_of_mine ON Contact (nick, name)")
        try first.close()
        let db = try open { $0.automatic(ContactV3.self) }
        let names = try db.values(String.self, "SELECT name FROM pragma_index_list('Contact') ORDER BY name")
        #expect(names == ["mine", "model_Contact_name", "model_of_mine"])
        try db.close()
    }

    @Test("[35] an index on an unknown property, and a unique index that rows violate, are typed errors")
    func wrongIndexes() throws {
        let misnamed = code { _ = try open { $0.automatic(MisindexedContact.self) } }
        #expect(misnamed == .missingColumn)
        let first = try open { $0.automatic(NarrowContact.self) }
        try NarrowContact.create(from: 0..<2, in: first) { fields, _ in fields.name = "same" }
        try first.close()
        do {
            _ = try open { $0.automatic(UniqueContact.self) }
            Issue.record("a unique index on equal values was made")
        } catch let error as StoreError {
            #expect(error.code == .unique && error.column == "name" && error.hint != nil)
        }
        let db = try open { $0.automatic(NarrowContact.self) }
        #expect(try NarrowContact.count(in: db) == 2)
        try db.close()
    }

    @Test("[36] rows that do not fit fail the migration, or are deleted, and the journal has the deletes")
    func validation() throws {
        let first = try open { $0.automatic(ContactV1.self) }
        let bad = try ContactV1.create(in: first) { $0.nick = "no number" }
        let good = try ContactV1.create(in: first) { $0.nick = "7" }
        let (badID, goodID) = (bad.id, good.id)
        try first.close()
        let failure = code { _ = try open { $0.automatic(ContactV3.self, allowing: .rebuildTables) } }
        #expect(failure == .invalidRow)
        let unchanged = try open { $0.automatic(ContactV1.self) }
        #expect(try ContactV1.find(badID, in: unchanged)?.nick == "no number")
        try unchanged.close()
        let db = try open { $0.automatic(ContactV3.self, allowing: .rebuildTables, invalidRows: .delete) }
        #expect(db.schemaReport.done.contains(.init(table: "Contact", action: .deletedRows(1))))
        #expect(try ContactV3.all(in: db).map(\.id) == [goodID])
        #expect(try db.values(Int64.self, "SELECT v0 FROM _journal WHERE op = 3") == [badID])
        try db.close()
    }

    @Test("[36] a version validates rows by decoding them and by a condition of its own")
    func validateInVersion() throws {
        let first = try open {
            $0.version(1) { try $0.execute("CREATE TABLE Contact (id INTEGER PRIMARY KEY, name, nick)") }
        }
        try first.execute("INSERT INTO Contact VALUES (1, 'Bob', NULL), (2, x'00', NULL), (3, '', NULL)")
        try first.close()
        let failure = code {
            _ = try open {
                $0.version(1) { _ in }
                $0.version(2) { try $0.validate(ContactV1.self, invalidRows: .fail) }
            }
        }
        #expect(failure == .undecodable)
        let db = try open {
            $0.version(1) { _ in }
            $0.version(2) {
                let deleted = try $0.validate(ContactV1.self, invalidRows: .delete) { !$0.name.isEmpty }
                #expect(deleted == 2)
            }
        }
        #expect(try ContactV1.all(in: db).map(\.name) == ["Bob"])
        #expect(try db.values(Int64.self, "SELECT v0 FROM _journal WHERE op = 3 ORDER BY v0") == [2, 3])
        try db.close()
    }

    @Test("[33] versions run before the automatic schema, and the report has the numbers before and after")
    func versionsFirst() throws {
        let db = try open {
            $0.version(4) {
                try $0.execute("CREATE TABLE Contact (id INTEGER PRIMARY KEY, name TEXT NOT NULL DEFAULT '')")
            }
            $0.automatic(ContactV1.self)
        }
        #expect(db.schemaReport.previousVersion == 0 && db.schemaReport.version == 4)
        #expect(db.schemaReport.done == [.init(table: "Contact", action: .addedColumn("nick"))])
        try db.close()
    }

    @Test("[T16] names with quotes and keywords are names in generated SQL")
    func quoting() throws {
        let db = try open { $0.automatic(QuotedModel.self) }
        let key = QuotedModel.ID(key: "a\"b", order: 1)
        let made = try QuotedModel.create(key, in: db)
        try made.save { $0.value = "'; DROP TABLE x; --" }
        #expect(try QuotedModel.find(key, in: db)?.value == "'; DROP TABLE x; --")
        #expect(try db.value(Int.self, "SELECT count(*) FROM _journal") == 2)
        try db.close()
    }

    @Test(
        "[31] defaults of properties are defaults of the columns, nil is NULL, and NULL is refused where it is not allowed"
    )
    func defaults() throws {
        let db = try open { $0.automatic(ContactV2.self) }
        try db.execute("INSERT INTO Contact (id, token) VALUES (1, '00000000-0000-0000-0000-000000000000')")
        let row = try #require(try ContactV2.find(1, in: db))
        #expect(row.stars == 3 && row.score == 0.5 && row.note == "it's new" && row.nick == nil)
        #expect(try db.value(String.self, "SELECT typeof(nick) FROM Contact") == "null")
        #expect(code { try db.execute("UPDATE Contact SET name = NULL") } == .notNull)
        #expect(code { try db.execute("UPDATE Contact SET stars = 'many'") } == .constraint)
        try db.close()
    }

    @Test("[32] a model describes its table at run time, as a value and as JSON")
    func description() throws {
        let description = ContactV2.schemaDescription
        #expect(description.table == "Contact" && description.key == ["id"])
        #expect(description.columns.first { $0.name == "score" }?.storage == .real)
        #expect(description.columns.first { $0.name == "photo" }?.optional == true)
        let decoded = try JSONDecoder().decode(ModelDescription.self, from: Data(description.json.utf8))
        #expect(decoded == description)
        #expect(decoded.indexes.count == 2)
    }
}

@Model(table: "Contact")
final class UniqueContact {
    var id: Int64
    var name: String = ""
    static let indexes = [Index("name", unique: true)]
}
