import Foundation
import Store
import Testing

@Model
final class Author {
    var id: Int64
    var name: String = ""
    var mentor: Ref<Author>?
}

@Model
final class Book {
    var id: Int64
    var title: String = ""
    var author: Ref<Author>
    var editor: Ref<Author>?
}

@Model
final class Tagged {
    @PrimaryKey @Column(as: UUIDAsBlob.self) var key: UUID
    var parent: Ref<Tagged>?
}

@Suite("Relations and joins")
struct RelationTests {
    let test: TestDatabase
    var db: Database { test.db }

    init() throws {
        test = try TestDatabase()
        try test.db.execute(
            """
            CREATE TABLE Author (id INTEGER PRIMARY KEY, name TEXT NOT NULL, mentor INTEGER);
            CREATE TABLE Book (id INTEGER PRIMARY KEY, title TEXT NOT NULL, author INTEGER NOT NULL, editor INTEGER);
            INSERT INTO Author VALUES (1, 'Le Guin', NULL), (2, 'Lem', 1), (3, 'Nobody', 2);
            INSERT INTO Book VALUES (10, 'The Dispossessed', 1, 2), (11, 'Solaris', 2, NULL), (12, 'Tehanu', 1, NULL),
                                    (13, 'Lost', 99, NULL);
            """)
    }

    @Test("[27] a reference is only a key until it is used, and everyone gets the same object")
    func faulting() throws {
        let book = try #require(try Book.find(10, in: db))
        var before = db.metrics.queries
        #expect(book.author.id == 1 && book.author == Ref(1))
        #expect(db.metrics.queries == before)
        let author = try #require(try book.related(\.author))
        #expect(author.name == "Le Guin" && db.metrics.queries == before + 1)
        before = db.metrics.queries
        let tehanu = try #require(try Book.find(12, in: db))
        #expect(try tehanu.related(\.author) === author)
        #expect(db.metrics.queries == before + 1)
        #expect(try tehanu.related(\.editor) == nil)
        #expect(try Book.find(13, in: db)?.related(\.author) == nil)
    }

    @Test("[27] a reference is set inside of save, and its objects are found by conditions")
    func settingAndFinding() throws {
        let lem = try #require(try Author.find(2, in: db))
        let lost = try #require(try Book.find(13, in: db))
        try lost.save { $0.author = Ref(lem) }
        #expect(try db.value(Int.self, "SELECT author FROM Book WHERE id = 13") == 2)
        #expect(
            try lem.related(Book.self, by: \.author).order(by: \.title).all(in: db).map(\.title) == ["Lost", "Solaris"])
        #expect(try lem.related(Book.self, by: \.editor).ids(in: db) == [10])
        #expect(try Book.where(\.author == Ref(1) && \.editor == nil).ids(in: db) == [12])
        let made = try Book.create(in: db) { $0.author = Ref(3) }
        #expect(try made.related(\.author)?.name == "Nobody")
        #expect(code { _ = try Book.create(in: db) { $0.title = "no author" } } == .missingValue)
    }

    @Test("[27] any number of objects and the objects that they refer to take two queries")
    func toOne() throws {
        try db.execute(
            "INSERT INTO Book WITH RECURSIVE n (i) AS (SELECT 100 UNION ALL SELECT i + 1 FROM n WHERE i < 399) SELECT i, 'b', 1 + i % 3, NULL FROM n"
        )
        let before = db.metrics.queries
        let pairs = try Book.query.order(by: \.id).including(\.author).all(in: db)
        #expect(db.metrics.queries == before + 2)
        #expect(pairs.count == 304)
        #expect(pairs[0].1?.name == "Le Guin" && pairs[1].1?.name == "Lem")
        #expect(pairs[3].0.title == "Lost" && pairs[3].1 == nil)
        let editors = try Book.query.order(by: \.id).limit(2).including(\.editor).all(in: db).map { $0.1?.name }
        #expect(editors == ["Lem", nil])
    }

    @Test("[27] any number of objects and those that refer to them take two queries")
    func toMany() throws {
        let before = db.metrics.queries
        let groups = try Author.query.order(by: \.id).including(Book.self, by: \.author).all(in: db)
        #expect(db.metrics.queries == before + 2)
        #expect(groups.map { $0.1.map(\.title) } == [["The Dispossessed", "Tehanu"], ["Solaris"], []])
        #expect(try Author.where(\.id > 100).including(Book.self, by: \.author).all(in: db).isEmpty)
    }

    @Test("[27] the references of a list of objects are prefetched in one query, and need none afterwards")
    func prefetch() throws {
        let books = try Book.query.all(in: db)
        var before = db.metrics.queries
        let authors = try books.related(\.author, in: db)
        #expect(db.metrics.queries == before + 1)
        before = db.metrics.queries
        #expect(authors[Ref(2)]?.name == "Lem" && authors.count == 2)
        #expect(try books.prefix(3).compactMap { try $0.related(\.author) }.count == 3)
        #expect(db.metrics.queries == before)
    }

    @Test("[27] a reference is stored as the other model stores its key")
    func codedKey() throws {
        try db.execute("CREATE TABLE Tagged (key BLOB PRIMARY KEY NOT NULL, parent BLOB)")
        let root = try Tagged.create(in: db)
        let child = try Tagged.create(in: db) { $0.parent = Ref(root) }
        #expect(
            try db.value(String.self, "SELECT DISTINCT typeof(parent) FROM Tagged WHERE parent IS NOT NULL") == "blob")
        #expect(try child.related(\.parent) === root)
        #expect(try root.related(Tagged.self, by: \.parent).ids(in: db) == [child.key])
    }

    @Test("[26] matching rows of two models are pairs of live objects, in one query")
    func join() throws {
        let before = db.metrics.queries
        let pairs = try Author.join(Book.self, on: \.id == \.author)
            .where(\.name != "Nobody").where(joined: \.title != "Tehanu").order(joined: .descending(\.title)).all(
                in: db)
        #expect(db.metrics.queries == before + 1)
        #expect(pairs.map { "\($0.name): \($1.title)" } == ["Le Guin: The Dispossessed", "Lem: Solaris"])
        let lem = try #require(try Author.find(2, in: db))
        #expect(pairs[1].0 === lem)
        #expect(try Author.join(Book.self, on: \.id == \.author).count(in: db) == 3)
        #expect(
            try Author.join(Book.self, on: \.id == \.author).order(by: \.id).limit(1, offset: 1).all(in: db).count == 1)
    }

    @Test("[26] a left join keeps the rows without a partner")
    func leftJoin() throws {
        let pairs = try Author.leftJoin(Book.self, on: \.id == \.author).order(by: \.id).order(
            joined: .ascending(\.title)
        )
        .all(in: db)
        #expect(pairs.map { $0.1?.title } == ["Tehanu", "The Dispossessed", "Solaris", nil])
        let lonely = try Author.leftJoin(Book.self, on: \.id == \.author).withoutPartner().all(in: db)
        #expect(lonely.map(\.0.name) == ["Nobody"])
    }

    @Test("[26] a model is joined with itself, and by raw SQL")
    func selfJoin() throws {
        let pairs = try Author.join(Author.self, on: \.mentor == \.id).order(joined: .ascending(\.name)).all(in: db)
        #expect(pairs.map { "\($0.name) < \($1.name)" } == ["Lem < Le Guin", "Nobody < Lem"])
        let raw = try Author.join(Author.self, on: .sql("joined.id > Author.id")).where(joined: \.name == "Nobody")
            .count(in: db)
        #expect(raw == 2)
        #expect(try Author.join(Book.self, on: \.id == \.author && .sql("Book.id > \(10)")).count(in: db) == 2)
    }
}
