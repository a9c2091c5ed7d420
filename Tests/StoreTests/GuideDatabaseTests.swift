import Foundation
import GRDB
import Store
import TestSupport
import Testing

private typealias Database = Store.Database

@Model
final class Album {
    var id: Int64
    var title: String = ""
    var rating: Int = 3
    var review: String?

    static let indexes = [Index("title"), Index("rating", "title", unique: true)]
    static let textIndexes = [TextIndex(\.title, \.review, tokenizer: .english)]
}

@Model(table: "Album")
final class CheckedAlbum {
    var id: Int64
    var title: String = ""

    static func willInsert(_ fields: inout Fields) throws {
        fields.title = fields.title.trimmingCharacters(in: .whitespaces)
    }
    func willDelete() throws { if title == "Kind of Blue" { throw Cancelled() } }
    func didUpdate(_ columns: Set<String>) { print(columns) }
}

/// The examples of `docs/STORE.md` about schemas, search, exchange and databases, word for word.
@Suite("The guide to databases", .timeLimit(.minutes(1)))
struct GuideDatabaseTests {
    let directory = TemporaryDirectory()

    @Test("[52] the examples about databases do what docs/STORE.md says")
    func examples() async throws {
        let path = directory.file("guide.sqlite")
        let db = try Database(path: path) { schema in
            schema.automatic(Album.self)
        }
        for step in db.schemaReport.notDone { print(step) }
        #expect(db.schemaReport.done.count == 4)

        let made = try await db.write { try Album.create(in: db) { $0.title = "Kind of Blue" } }
        let all = try await db.read { try Album.all(in: db) }
        #expect(all.first === made)
        let checked = try CheckedAlbum.create(in: db) { $0.title = " local first " }
        #expect(checked.title == "local first")
        #expect(throws: Cancelled.self) { try CheckedAlbum.find(made.id, in: db)?.delete() }

        let hits = try Album.search("local first", weights: ["title": 5], in: db)
        for hit in hits { print(hit.object.title, hit.rank, hit.snippet) }
        let typed = try Album.search(.prefix("loc"), limit: 10, in: db)
        let precise = try Album.search(.raw("title : (first NOT last)"), in: db)
        #expect(hits.count == 1 && typed.count == 1 && precise.count == 1)

        let json = try Album.exportJSON("WHERE rating > \(2) ORDER BY title", in: db)
        let count = try Album.importJSON(json, existing: .update, in: db)
        let one = try Album.create(fields: ["title": .text("Blue Train"), "rating": .integer(5)], in: db)
        let values = try one.encodedValues
        let upsert = try one.upsertStatement()
        #expect(count == 0 && values["rating"] == .integer(5))
        #expect(try db.execute(upsert) == 0)

        let copy = path + ".backup"
        try db.backup(to: copy) { print($0.fraction) }
        try db.vacuum()
        try db.checkpoint(.truncate)
        try db.flush()
        try db.withGRDB { try $0.execute(sql: "UPDATE Album SET rating = 4") }
        #expect(made.rating == 4)
        try db.close()

        var options = Database.Options()
        options.busyTimeout = .seconds(2)
        options.prepare = { try $0.execute("PRAGMA cache_size = -64000") }
        options.functions = [
            SQLFunction("shout", argumentCount: 1) { .text(try String(columnValue: $0[0]).uppercased()) }
        ]
        options.profile = { run in if run.duration > .milliseconds(50) { print(run.sql) } }
        options.onFailure = { error in print(error.code, error.table ?? "") }
        let again = try Database(path: path, options: options)
        #expect(try again.value(String.self, "SELECT shout(title) FROM Album WHERE rating = 4 LIMIT 1") != nil)
        try again.close()
    }
}
