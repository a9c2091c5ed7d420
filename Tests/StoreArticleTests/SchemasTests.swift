import Foundation
import Store
import Testing

@Model
final class Score {
    var id: Int64
    var player: Ref<Person>?
    var points: Int = 0

    static let foreignKeys = [ForeignKey(\.player, onDelete: .setNull)]
}

@Suite("Article: schemas", .timeLimit(.minutes(1)))
struct SchemasTests {
    let file = ArticleFile()

    @Test("[6, 33, 34] versions, automatic schemas, and local tables")
    func versions() throws {
        let path = file.path
        let db = try Database(path: path) { schema in
            schema.version(1) {
                try $0.execute("CREATE TABLE Person (id INTEGER PRIMARY KEY, name TEXT NOT NULL, age INTEGER)")
            }
            schema.version(2) { try $0.execute("ALTER TABLE Person ADD COLUMN visits INTEGER NOT NULL DEFAULT 0") }
            schema.automatic(Article.self)
            schema.local("Draft")  // stays on this machine
        }
        #expect(try db.value(Int.self, "PRAGMA user_version") == 2)
        #expect(try Article.count(in: db) == 0)
    }

    @Test("[27, 35] a reference that SQLite keeps")
    func references() throws {
        let db = try Database(path: file.path) { $0.automatic(Person.self, Score.self) }
        let bob = try Person.create(in: db) { $0.name = "Bob" }
        let sql = """
            CREATE TABLE "Score" (
            "id" INTEGER PRIMARY KEY,
            "player" INTEGER REFERENCES "Person" ("id") ON DELETE SET NULL,
            "points" INTEGER NOT NULL DEFAULT 0
            ) STRICT
            """
        let made = try db.value(String.self, "SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = 'Score'")
        #expect(made == sql.replacing("(\n", with: "(").replacing("\n)", with: ")").replacing("\n", with: " "))
        let indexed = "SELECT name FROM pragma_index_info((SELECT name FROM pragma_index_list('Score')))"
        #expect(try db.values(String.self, SQL(raw: indexed)) == ["player"])
        let score = try Score.create(in: db) { $0.player = Ref(bob) }
        try bob.delete()
        #expect(score.player == nil)
    }

    @Test("[34, 36] what an automatic schema did, and what it did not do")
    func report() throws {
        do {
            let db = try Database(path: file.path) { schema in
                schema.version(1) {
                    try $0.execute(
                        "CREATE TABLE Person (id INTEGER PRIMARY KEY, name TEXT NOT NULL, nick TEXT, shoe INTEGER)")
                }
            }
            try db.execute("INSERT INTO Person VALUES (1, 'Bob', 'b@example.com', 42), (2, '', NULL, 1)")
            try db.close()
        }
        var (done, undone) = ([String](), [String]())
        do {
            let db = try Database(path: file.path) { $0.automatic(Person.self) }
            for step in db.schemaReport.done { done.append(step.table) }
            for difference in db.schemaReport.notDone { undone.append(difference.description) }
            try db.close()
        }
        #expect(done.contains("Person") && undone.contains { $0.contains("shoe") })
        do {
            let db = try Database(path: file.path) { schema in
                schema.version(2) { _ in }
                schema.version(3) { try $0.validate(Person.self, invalidRows: .delete) { !$0.name.isEmpty } }
                schema.automatic(
                    Person.self, allowing: [.dropColumns, .rebuildTables],
                    renaming: [.column("nick", to: "email", in: "Person")], invalidRows: .delete)
            }
            #expect(try db.values(String.self, "SELECT name FROM Person") == ["Bob"])
            #expect(!(try db.values(String.self, "SELECT name FROM pragma_table_info('Person')")).contains("shoe"))
        }
    }
}
