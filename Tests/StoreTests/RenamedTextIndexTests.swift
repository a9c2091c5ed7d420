import Store
import TestSupport
import Testing

@Suite("A text index whose table or columns are renamed")
struct RenamedTextIndexTests {
    @Model(table: "Post") final class Post {
        var id: Int64
        var title: String = ""
        var body: String = ""

        static let textIndexes = [TextIndex("title", "body")]
    }

    @Model(table: "Entry") final class Entry {
        var id: Int64
        var title: String = ""
        var body: String = ""

        static let textIndexes = [TextIndex("title", "body")]
    }

    @Model(table: "Post") final class HeadedPost {
        var id: Int64
        var heading: String = ""
        var body: String = ""

        static let textIndexes = [TextIndex("heading", "body")]
    }

    @Model(table: "Entry") final class HeadedEntry {
        var id: Int64
        var heading: String = ""
        var body: String = ""

        static let textIndexes = [TextIndex("heading", "body")]
    }

    let directory = TemporaryDirectory()

    private func open(_ schema: (inout SchemaBuilder) -> Void) throws -> Database {
        try Database(path: directory.file("a.sqlite"), options: TestDatabase.options, schema: schema)
    }

    private func prepare() throws {
        let db = try open { $0.automatic(Post.self) }
        try Post.create(1, in: db) {
            $0.title = "oak"
            $0.body = "elm"
        }
        try db.close()
    }

    /// Opens the file with a later model twice, and searches it before and after a change.
    private func check<M: Model>(
        _ type: M.Type, index: String, renaming renames: [SchemaRename], change: (Database) throws -> Void
    ) throws where M.ID == Int64 {
        try prepare()
        for word in ["oak", "ash"] {
            let db = try open { $0.automatic(type, renaming: renames) }
            #expect(try M.search(TextQuery(stringLiteral: word), in: db).map(\.object.id) == [1])
            #expect(try M.search("elm", in: db).count == 1)
            #expect(try db.values(String.self, "SELECT name FROM _journal_text") == [index])
            try change(db)
            #expect(try M.search("ash", in: db).map(\.object.id) == [1])
            #expect(try M.search("oak", in: db).isEmpty)
            try db.close()
        }
    }

    @Test("[55] a renamed table keeps an index that finds its rows")
    func table() throws {
        try check(Entry.self, index: "Entry_search", renaming: [.table("Post", to: "Entry")]) {
            try Entry.find(1, in: $0)?.save { $0.title = "ash" }
        }
    }

    @Test("[55] a renamed column stays in the index")
    func column() throws {
        try check(HeadedPost.self, index: "Post_search", renaming: [.column("title", to: "heading", in: "Post")]) {
            try HeadedPost.find(1, in: $0)?.save { $0.heading = "ash" }
        }
    }

    @Test("[55] a table and its column can be renamed at once, in either order")
    func both() throws {
        try check(
            HeadedEntry.self, index: "Entry_search",
            renaming: [.table("Post", to: "Entry"), .column("title", to: "heading", in: "Entry")]
        ) { try HeadedEntry.find(1, in: $0)?.save { $0.heading = "ash" } }
    }

    @Test("[55] a column and its table can be renamed at once")
    func columnFirst() throws {
        try check(
            HeadedEntry.self, index: "Entry_search",
            renaming: [.column("title", to: "heading", in: "Post"), .table("Post", to: "Entry")]
        ) { try HeadedEntry.find(1, in: $0)?.save { $0.heading = "ash" } }
    }

    @Test("[55] columns that exchange their names in a version keep their places in the index")
    func exchanged() throws {
        let first = try open {
            $0.version(1) {
                try $0.execute("CREATE TABLE Post (id INTEGER PRIMARY KEY, title TEXT NOT NULL, body TEXT NOT NULL)")
                try $0.textIndex(TextIndex("title"), on: "Post")
                try $0.execute("INSERT INTO Post VALUES (1, 'oak', 'elm')")
            }
        }
        try first.close()
        let db = try open {
            $0.version(1) { _ in }
            $0.version(2) {
                try $0.execute(
                    """
                    ALTER TABLE Post RENAME COLUMN title TO other; ALTER TABLE Post RENAME COLUMN body TO title;
                    ALTER TABLE Post RENAME COLUMN other TO body
                    """)
            }
        }
        #expect(try Post.search("oak", in: db).map(\.object.body) == ["oak"])
        #expect(try Post.search("elm", in: db).isEmpty)
        try Post.find(1, in: db)?.save { $0.body = "ash" }
        #expect(try Post.search("ash", in: db).count == 1)
        try db.close()
    }
}
