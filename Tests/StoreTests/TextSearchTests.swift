import Foundation
import GRDB
import Journal
import Store
import TestSupport
import Testing

@Model
final class Article {
    var id: Int64
    var title: String = ""
    var body: String?

    static let textIndexes = [TextIndex(\.title, \.body, tokenizer: .english, prefixes: [2])]
}

@Model
final class Memo {
    var id: UUID
    @Column("memo_text") var text: String = ""
    var place: Int = 0
    var isKept: Bool?

    static let textIndexes = [TextIndex(\.text)]
}

@Model(table: "memo part")
final class MemoPart {
    @PrimaryKey var memo: String
    @PrimaryKey var number: Int
    var text: String = ""

    static let textIndexes = [TextIndex("text", tokenizer: .substrings, name: "parts")]
}

@Suite("Full-text search", .timeLimit(.minutes(1)))
struct TextSearchTests {
    let directory = TemporaryDirectory()
    var path: String { directory.file("a.sqlite") }

    private func open() throws -> Store.Database {
        try Store.Database(path: path, options: TestDatabase.options) {
            $0.automatic(Article.self, Memo.self, MemoPart.self)
        }
    }

    private func ids(_ query: TextQuery, _ db: Store.Database) throws -> [Int64] {
        try Article.search(query, in: db).map(\.object.id)
    }

    @Test("[55] a search finds created, changed and deleted rows, best first, with a snippet")
    func follows() throws {
        let db = try open()
        let first = try Article.create(1, in: db) {
            $0.title = "Running a database"; $0.body = "rows and pages"
        }
        try Article.create(2, in: db) {
            $0.title = "Databases, databases"; $0.body = "all databases"
        }
        try Article.create(3, in: db) { $0.title = "Gardening" }
        #expect(try Set(ids("database", db)) == [1, 2])
        let hits = try Article.search("database", in: db)
        #expect(hits.map(\.rank) == hits.map(\.rank).sorted())
        #expect(try Article.search("run", in: db).first?.snippet == "[Running] a database")
        #expect(try Article.search("run", in: db).first?.object === first)
        try first.save { $0.title = "Walking" }
        #expect(try ids("run", db) == [])
        #expect(try ids("walk", db) == [1])
        try Article.execute("UPDATE $T SET body = 'tulips' WHERE $PK = 3", in: db)
        #expect(try ids("tulip", db) == [3])
        try Article.execute("DELETE FROM $T WHERE $PK = 3", in: db)
        #expect(try ids("tulip", db) == [])
        try db.execute("UPDATE Article SET id = 20 WHERE id = 2")
        #expect(try ids("database", db) == [20])
        let marked = try Article.highlights("walk", marks: SearchMarks(start: "<b>", end: "</b>"), in: db)
        #expect(
            marked.first?.texts["title"] == "<b>Walking</b> a database"
                || marked.first?.texts["title"] == "<b>Walking</b>")
        try db.close()
    }

    @Test("[55] weights and limits order and cut the hits")
    func ranking() throws {
        let db = try open()
        try Article.create(1, in: db) {
            $0.title = "swift"; $0.body = "nothing else here"
        }
        try Article.create(2, in: db) {
            $0.title = "nothing"; $0.body = "swift swift swift"
        }
        #expect(try Article.search("swift", weights: ["title": 100], in: db).map(\.object.id) == [1, 2])
        #expect(try Article.search("swift", weights: ["body": 100], in: db).map(\.object.id) == [2, 1])
        #expect(
            try Article.search("swift", weights: ["body": 100], limit: 1, offset: 1, in: db).map(\.object.id) == [1])
        #expect(code { _ = try Article.search("swift", weights: ["id": 1], in: db) } == .missingColumn)
        try db.close()
    }

    @Test("[55] no text of a person breaks a query; the raw mode has all operators and typed errors")
    func escaping() throws {
        let db = try open()
        try Article.create(1, in: db) {
            $0.title = "C++ AND \"quotes\" OR NOT near(it)"; $0.body = "title : x*"
        }
        try Article.create(2, in: db) { $0.title = "quotations" }
        for typed in [
            "\"", "AND", "NEAR(", "title:", "a\"b", "C++", "*", "^x", "(", ")", "-", "quotes\"", "\u{0}x", "", "  ",
            "'",
        ] {
            for query in [TextQuery.words(typed), .anyWord(typed), .prefix(typed), .phrase(typed)] {
                _ = try ids(query, db)
            }
        }
        #expect(try ids(.words("quotes C++"), db) == [1])
        #expect(try ids(.words("AND OR NOT"), db) == [1])
        #expect(try ids(.words(""), db) == [])
        #expect(try Set(ids(.prefix("quot"), db)) == [1, 2])
        #expect(try ids(.phrase("quotes or not"), db) == [1])
        #expect(try ids(.phrase("not quotes"), db) == [])
        #expect(try Set(ids(.anyWord("quotations near"), db)) == [1, 2])
        #expect(try ids(.raw("title : quot* NOT quotes"), db) == [2])
        #expect(code { _ = try ids(.raw("AND AND ("), db) } == .sql)
        #expect(try ids("quotes", db) == [1])
        try db.close()
    }

    @Test("[55] keys of other types, composite keys and tables WITHOUT ROWID are searched alike")
    func otherKeys() throws {
        let db = try open()
        let memo = try Memo.create(in: db) { $0.text = "über Äpfel" }
        #expect(try Memo.search("uber apfel", in: db).first?.object === memo)
        let part = try MemoPart.create(.init(memo: "a", number: 1), in: db) { $0.text = "substring" }
        #expect(try MemoPart.search("bstri", in: db).first?.object === part)
        try part.save { $0.text = "other" }
        #expect(try MemoPart.search("bstri", in: db).isEmpty)
        try db.close()
    }

    @Test("[55] rows from a peer are found, changed ones only by their new text, also after a crash")
    func remote() throws {
        var db = try open()
        try Article.create(1, in: db) { $0.title = "local words" }
        let memo = try Memo.create(in: db) { $0.text = "first" }
        let memoID = memo.id.uuidString.lowercased()
        try RemoteRows.apply(to: path) { remote in
            try remote.write("Article", insert: true, key: [.integer(2)], ["title": .text("arrived from afar")])
            try remote.write("Article", insert: false, key: [.integer(1)], ["title": .text("changed afar")])
            try remote.write("Memo", insert: false, key: [.text(memoID)], ["memo_text": .text("second")])
        }
        #expect(try Set(ids("afar", db)) == [1, 2])
        #expect(try ids("local", db) == [])
        #expect(try Memo.search("second", in: db).count == 1)
        #expect(try Memo.search("first", in: db).isEmpty)
        try db.close()
        // As if the process died before it followed: nobody has the file open while the peer writes.
        try RemoteRows.apply(to: path) { remote in
            try remote.write("Article", insert: false, key: [.integer(2)], ["title": .text("while away")])
            try remote.delete("Article", key: [.integer(1)])
        }
        db = try open()
        #expect(try ids("away", db) == [2])
        #expect(try ids("afar", db) == [])
        #expect(try ids(.raw("changed OR local OR words"), db) == [])
        try db.transaction {
            try Article.find(2, in: db)?.save { $0.title = "inside" }
            #expect(try ids("inside", db) == [2])
        }
        // FTS5 compares the index with the documents.
        try db.execute("INSERT INTO Article_search (Article_search, rank) VALUES ('integrity-check', 1)")
        try db.close()
    }

    @Test("[55] a search inside of a read, and in a read-only database, has no outdated hit")
    func staleHits() throws {
        let db = try open()
        try Article.create(1, in: db) { $0.title = "old words" }
        try Article.create(2, in: db) { $0.title = "old too" }
        try db.close()
        try RemoteRows.apply(to: path) {
            try $0.write("Article", insert: false, key: [.integer(1)], ["title": .text("new words")])
        }
        var options = TestDatabase.options
        options.isReadOnly = true
        let reader = try Store.Database(path: path, options: options)
        #expect(try reader.read { try ids("old", reader) } == [2])
        try reader.close()
    }

    @Test("[55] rows that REPLACE evicts on a connection without recursive triggers are removed from the index")
    func evicted() throws {
        let db = try open()
        try db.execute("CREATE UNIQUE INDEX titles ON Article (title)")
        try Article.create(1, in: db) {
            $0.title = "same"; $0.body = "stale"
        }
        let other = try RawConnection(path: path)
        try other.run("REPLACE INTO Article (id, title, body) VALUES (2, 'same', 'fresh')")
        try db.refresh()
        #expect(try ids("stale", db) == [])
        #expect(try ids("same", db) == [2])
        try db.close()
    }

    @Test("[55] writes of other programs are indexed by the triggers")
    func otherPrograms() throws {
        let db = try open()
        let other = try RawConnection(path: path)
        try other.run(
            "INSERT INTO Article (id, title) VALUES (9, 'by hand'); INSERT INTO Article (id, title) VALUES (8, 'x')")
        try other.run("UPDATE Article SET title = 'by foot' WHERE id = 8")
        #expect(try ids("hand", db) == [9])
        #expect(try ids("foot", db) == [8])
        #expect(other.execute("INSERT INTO Article_search (Article_search) VALUES ('integrity-check')") == 0)
        try db.close()
    }

    @Test(
        "[55] the index survives a rebuilt and a renamed table, and is dropped with its table; capture stays complete")
    func schemaChanges() throws {
        let db = try open()
        try Article.create(1, in: db) { $0.title = "kept" }
        try db.execute(
            """
            CREATE TABLE Article2 (id INTEGER PRIMARY KEY, title TEXT NOT NULL DEFAULT '', body TEXT, extra TEXT);
            INSERT INTO Article2 (id, title) SELECT id, title FROM Article;
            DROP TABLE Article;
            ALTER TABLE Article2 RENAME TO Article;
            """)
        #expect(try ids("kept", db) == [1])
        try Article.create(2, in: db) { $0.title = "later" }
        #expect(try ids("later", db) == [2])
        try db.execute("ALTER TABLE Article RENAME TO Essay")
        try db.execute("INSERT INTO Essay (id, title) VALUES (3, 'renamed')")
        #expect(try Essay.search("renamed", in: db).map(\.object.id) == [3])
        try db.execute("ALTER TABLE Essay RENAME COLUMN title TO heading")
        #expect(try db.rows("SELECT heading FROM Article_search WHERE Article_search MATCH 'renamed'").count == 1)
        let narrower: Store.SQL =
            "CREATE TABLE Essay2 (id INTEGER PRIMARY KEY); DROP TABLE Essay; ALTER TABLE Essay2 RENAME TO Essay"
        #expect(code { try db.execute(narrower) } == .missingColumn)
        try db.execute("DROP TABLE Essay")
        #expect(try db.values(String.self, "SELECT name FROM _journal_text") == ["Memo_search", "parts"])
        #expect(code { _ = try Article.search("x", in: db) } == .missingTable)
        let tracked = try db.values(String.self, "SELECT name FROM _journal_tables WHERE tracked ORDER BY name")
        #expect(tracked == ["Memo", "memo part"])
        try db.close()
    }

    @Test("[55] a search takes any condition, and limit and rank count only the rows that meet it")
    func condition() throws {
        let db = try open()
        for id in 1...20 {
            try Memo.create(in: db) {
                $0.text = id <= 10 ? "oak" : "oak and many other trees of the wood"
                $0.place = id
            }
        }
        let hits = try Memo.search("oak", where: \.place > 10 && \.place != 15, limit: 4, in: db)
        #expect(hits.count == 4 && hits.allSatisfy { $0.object.place > 10 })
        let all = try Memo.search("oak", where: \.place > 10, in: db)
        #expect(all.count == 10)
        #expect(all.map(\.rank) == all.map(\.rank).sorted())
        // Unqualified names of columns that the index has too.
        let raw = try Memo.search("oak", where: .sql("memo_text LIKE '%wood' AND $PK IS NOT NULL"), in: db)
        #expect(raw.count == 10)
        let ids = all.prefix(3).map(\.object.id)
        #expect(try Memo.search("oak", where: .in(\.id, ids), offset: 1, in: db).count == 2)
        #expect(try Memo.highlights("oak", where: \.place == 3, in: db).map(\.object.place) == [3])
        try Memo.where(\.place == 4).update(.set(\.isKept, to: true), in: db)
        #expect(try Memo.search("oak", where: \.isKept, in: db).map(\.object.place) == [4])
        #expect(try Memo.highlights("oak", where: \.isKept, in: db).map(\.object.place) == [4])
        try MemoPart.create(.init(memo: "a", number: 1), in: db) { $0.text = "maple" }
        try MemoPart.create(.init(memo: "a", number: 2), in: db) { $0.text = "maple" }
        #expect(try MemoPart.search("maple", where: \.number == 2, in: db).map(\.object.number) == [2])
        try db.close()
    }

    @Test("[55] a version can declare, change and drop an index; the journal has nothing of it")
    func inVersions() throws {
        let create: Store.SQL =
            "CREATE TABLE Note (id INTEGER PRIMARY KEY, text TEXT NOT NULL); INSERT INTO Note VALUES (1, 'running')"
        func open(_ more: (inout SchemaBuilder) -> Void = { _ in }) throws -> Store.Database {
            try Store.Database(path: directory.file("v.sqlite"), options: TestDatabase.options) {
                $0.version(1) {
                    try $0.execute(create)
                    try $0.textIndex(TextIndex("text"), on: "Note")
                }
                more(&$0)
            }
        }
        var db = try open()
        #expect(try Note.search("running", in: db).count == 1)
        #expect(try Note.search("run", in: db).isEmpty)
        try db.close()
        db = try open { $0.version(2) { try $0.textIndex(TextIndex("text", tokenizer: .english), on: "Note") } }
        #expect(try Note.search("run", in: db).count == 1)
        #expect(try db.value(Int.self, "SELECT count(*) FROM _journal") == 1)
        try db.close()
        db = try open {
            $0.version(2) { _ in }
            $0.version(3) { try $0.dropTextIndex("Note_search") }
        }
        #expect(try db.values(String.self, "SELECT name FROM sqlite_master WHERE name LIKE '%Note_search%'").isEmpty)
        try Note.create(in: db) { $0.text = "still captured" }
        #expect(try db.value(Int.self, "SELECT count(*) FROM _journal") == 2)
        try db.close()
        let wrong = code {
            _ = try Store.Database(path: directory.file("w.sqlite")) {
                $0.version(1) {
                    try $0.execute(create)
                    try $0.textIndex(TextIndex("txt"), on: "Note")
                }
            }
        }
        #expect(wrong == .missingColumn)
    }
}

@Model
final class Essay {
    var id: Int64
    var title: String = ""
}
