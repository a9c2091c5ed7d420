import Foundation
import Store
import TestSupport
import Testing

enum Status: String, ColumnValue, CaseIterable { case draft, published }

enum CentsAsInteger: ColumnCoding {
    static var columnStorage: ColumnStorage { .integer }
    static func decode(_ value: Value) throws -> Decimal { Decimal(try Int64(columnValue: value)) / 100 }
    static func encode(_ amount: Decimal) throws -> Value {
        .integer(NSDecimalNumber(decimal: amount * 100).int64Value)
    }
}

@Model(table: "article")
final class Article {
    var id: UUID  // version 7, generated when it is not given
    var title: String  // must be set when a row is made
    var body: String = ""
    @Column("published_at") var published: Date?  // another column name; nil is NULL
    @JSON var tags: [String] = []  // Codable, as JSON text
    var status: Status = .draft  // an enum with a raw value
    @Column(as: CentsAsInteger.self) var price: Decimal = 0
    @Transient var isOpen: Bool = false  // in memory only

    static let indexes = [Index(\.published), Index(\.title, unique: true)]
    static let textIndexes = [TextIndex(\.title, \.body, tokenizer: .english)]
}

@Model
final class OrderLine {
    @PrimaryKey var order: Int64
    @PrimaryKey var position: Int
    var count: Int = 1
}

@Model
final class Draft {
    @PrimaryKey(.rowid) var number: Int64
    var text: String = ""
}

@Model
struct AuthorCount: Equatable {
    var author: String
    var articles: Int = 0
}

@Suite("Article: models", .timeLimit(.minutes(1)))
struct ModelsTests {
    let file = ArticleFile()

    @Test("[1, 28, 29, 30, 34] a model with every kind of property keeps its values, in the columns that it names")
    func properties() throws {
        let db = try file.open()
        let published = Date(timeIntervalSince1970: 1_000.25)
        let article = try Article.create(in: db) {
            $0.title = "Local first"
            $0.published = published
            $0.tags = ["a", "b"]
            $0.status = .published
            $0.price = Decimal(string: "12.34") ?? 0
        }
        #expect(try db.value(Int.self, "SELECT price FROM article") == 1_234)
        #expect(try db.value(String.self, "SELECT tags FROM article") == #"["a","b"]"#)
        #expect(try db.value(Double.self, "SELECT published_at FROM article") == 1_000.25)
        #expect(try article.reload() && article.price == Decimal(string: "12.34") && article.published == published)
        #expect(throws: StoreError.self) { try Article.create(in: db) }
    }

    @Test("[31, 35] NULL is nil, a missing required property is named, and declared indexes are kept")
    func required() throws {
        let db = try file.open()
        var missing: String?
        do {
            try Article.create(in: db) { $0.body = "A text without a title" }
        } catch let error as StoreError where error.code == .missingValue {
            missing = error.column
        }
        #expect(missing == "title")
        let article = try Article.create(in: db) { $0.title = "Local first" }
        #expect(try article.published == nil && db.value(Int.self, "SELECT published_at IS NULL FROM article") == 1)
        #expect(try code(of: { try Article.create(in: db) { $0.title = "Local first" } }) == .unique)
    }

    private func code(of body: () throws -> Void) throws -> StoreError.Code? {
        do {
            try body()
            return nil
        } catch let error as StoreError {
            return error.code
        }
    }

    @Test("[4, 5, 6] keys are generated, given or composite")
    func keys() throws {
        let db = try file.open()
        #expect(throws: StoreError.self) { try Country.create(in: db) { $0.name = "Nowhere" } }
        let made = try OrderLine.create(OrderLine.ID(order: 7, position: 1), in: db)
        let line = try OrderLine.find(OrderLine.ID(order: 7, position: 1), in: db)
        #expect(line === made)
        let local = try Database(path: file.directory.file("local.sqlite")) {
            $0.local("Draft")
            $0.automatic(Draft.self)
        }
        #expect(try (1...2).map { _ in try Draft.create(in: local).number } == [1, 2])
    }

    @Test("[2, 32] a struct is a value of any SELECT; a model describes itself")
    func valuesAndDescription() throws {
        let db = try file.open()
        try Person.create(in: db) { $0.name = "Bob" }
        let counts = try db.rows(as: AuthorCount.self, "SELECT name AS author, visits AS articles FROM Person")
        #expect(counts == [AuthorCount(author: "Bob", articles: 0)])
        let columns = Article.schema.columns.map(\.name)
        let json = try Article.schemaDescription.json  // for programs without the model's code
        #expect(columns.contains("published_at") && json.contains("published_at"))
    }
}
