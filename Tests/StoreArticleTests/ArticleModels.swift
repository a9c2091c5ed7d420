import Foundation
import Store
import Synchronization
import TestSupport

// The models of the articles in Sources/Store/Store.docc, word for word.

@Model
final class Country {
    @PrimaryKey var code: String
    var name: String = ""
}

extension Country {
    static func makePrimaryKey() -> String? { nil }  // must be given
}

extension Country {
    static func willInsert(_ fields: inout Fields) throws {
        fields.name = fields.name.trimmingCharacters(in: .whitespaces)
        if fields.name.isEmpty { throw Nameless() }
    }
}

extension Country {
    func didInsert() { audit.append("\(code) made") }
    func didUpdate(_ columns: Set<String>) { audit.append("\(code) changed \(columns.sorted())") }
    func didDelete() { audit.append("\(code) deleted") }
}

extension Country {
    static var cachePolicy: CachePolicy { .all }  // .weak is the default, .recent(1_000) the middle
}

struct Nameless: Error {}

/// What the hooks of ``Country`` recorded.
let audit = Notes()

/// Lines that any thread may add.
final class Notes: Sendable {
    private let lines = Mutex<[String]>([])
    var all: [String] { lines.withLock { $0 } }
    func append(_ line: String) { lines.withLock { $0.append(line) } }
}

@Model
final class Item {
    var id: Int64
    var title: String = ""
    var price: Decimal = 0
    var owner: Ref<Person>?
}

@Model
final class Note {
    var id: Int64
    var title: String = ""
    var body: String = ""

    static let textIndexes = [TextIndex(\.title, \.body, tokenizer: .english)]
}

/// A file of its own for each example, which is removed at the end.
struct ArticleFile: Sendable {
    let directory = TemporaryDirectory()
    var path: String { directory.file("example.sqlite") }

    func open() throws -> Database {
        try Database(path: path) {
            $0.automatic(Person.self, Item.self, Note.self, Country.self, Article.self, OrderLine.self)
        }
    }
}
