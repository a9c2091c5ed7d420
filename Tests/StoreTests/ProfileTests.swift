import Foundation
import GRDB
import Store
import TestSupport
import Testing

@Suite("Whose statements a profile shows", .timeLimit(.minutes(1)))
struct ProfileTests {
    let file = TemporaryDirectory()
    let runs = Collected<StatementProfile>()
    let db: Store.Database

    init() throws {
        var options = Store.Database.Options()
        options.profile = { [runs] in runs.append($0) }
        options.prepare = { try $0.execute("PRAGMA cache_size = -4000") }
        db = try Store.Database(path: file.file("profile.sqlite"), options: options) { schema in
            schema.version(1) {
                try $0.execute("CREATE TABLE Item (id TEXT PRIMARY KEY, title TEXT NOT NULL, owner INTEGER)")
            }
        }
    }

    /// The beginnings of the statements of the program that `body` runs, without those that prepare a connection:
    /// any read may open one more.
    private func program(_ body: () throws -> Void) rethrows -> [String] {
        let before = runs.all.count
        try body()
        return runs.all.dropFirst(before).filter { !$0.isInternal && !$0.sql.contains("cache_size") }.map {
            String($0.sql.prefix(12))
        }
    }

    @Test("[59] the statements of models, of queries and of the program are its own; all others are internal")
    func owners() throws {
        let opening = runs.all
        #expect(opening.contains { !$0.isInternal && $0.sql.contains("cache_size") })
        #expect(opening.contains { !$0.isInternal && $0.sql.hasPrefix("CREATE TABLE Item") })
        #expect(opening.contains { $0.isInternal && $0.sql.contains("_journal") })
        var item: Item?
        #expect(try program { item = try Item.create(in: db) { $0.title = "a" } } == ["INSERT OR AB"])
        #expect(try program { try item?.save { $0.title = "b" } } == ["UPDATE OR AB"])
        #expect(try program { _ = try Item.where(\.title == "b").count(in: db) } == ["SELECT count"])
        #expect(try program { _ = try Item.all(in: db) }.map { $0.prefix(6) } == ["SELECT"])
        #expect(try program { _ = try db.rows("SELECT * FROM _journal LIMIT 1") } == ["SELECT * FRO"])
        #expect(try program { _ = try db.value(Int.self, "PRAGMA user_version") } == ["PRAGMA user_"])
        #expect(try program { try db.execute("UPDATE Item SET title = 'c'") } == ["UPDATE Item "])
        #expect(item?.title == "c")
        #expect(try program { try db.withGRDB { try $0.execute(sql: "DELETE FROM Item") } } == ["DELETE FROM "])
        #expect(try program { try db.transaction { try db.transaction {} } } == [])
        let statistics = try program { try db.analyze() }
        #expect(statistics == [])
    }

    @Test("[59] following another program's commit is internal")
    func following() throws {
        let item = try Item.create(in: db) { $0.title = "a" }
        let statements = try program {
            try RawConnection(path: db.path).run("UPDATE Item SET title = 'z'")
            try db.refresh()
        }
        #expect(item.title == "z")
        #expect(statements == [])
    }

    @Test("[59] the statements with which a text index keeps its own tables are internal, and a search is not")
    func textIndex() throws {
        var options = Store.Database.Options()
        options.profile = { [runs] in runs.append($0) }
        let db = try Store.Database(path: file.file("text.sqlite"), options: options) { $0.automatic(Song.self) }
        #expect(try program { _ = try Song.create(in: db) { $0.title = "first" } } == ["INSERT OR AB"])
        let searches = try program {
            let found = try Song.search("first", in: db)
            #expect(found.map(\.object.title) == ["first"])
        }
        #expect(searches.map { $0.prefix(6) } == ["SELECT"])
        try db.close()
    }

    @Model(table: "Song") final class Song {
        var id: Int64
        var title: String = ""
        static let textIndexes = [TextIndex("title")]
    }
}
