import Foundation
import GRDB
import Logging
import Store
import Synchronization
import TestSupport
import Testing

@Suite("Article: databases", .timeLimit(.minutes(1)))
struct DatabasesTests {
    let file = ArticleFile()

    @Test("[37, 38, 49] transactions nest, reads see one moment, and tasks wait without blocking")
    func transactions() async throws {
        let db = try file.open()
        let bob = try Person.create(in: db) {
            $0.name = "Bob"; $0.visits = 3
        }
        let eve = try Person.create(in: db) { $0.name = "Eve" }
        let total = try db.transaction {
            try bob.save { $0.visits -= 1 }
            try eve.save { $0.visits += 1 }
            try? db.transaction {  // a savepoint: its failure undoes its own part only
                try bob.delete()
                throw Nameless()
            }
            return bob.visits + eve.visits
        }
        #expect(total == 3 && bob.visits == 2 && !bob.isDeleted)
        let (count, sum) = try counts(db)
        #expect(count == 2 && sum == 3)
        let visits = try allVisits(db)
        #expect(visits == 3)
        let kim = try await db.write { try Person.create(in: db) { $0.name = "Kim" } }
        let everyone = try await db.read { try Person.all(in: db) }
        #expect(everyone.contains { $0 === kim })
    }

    private func counts(_ db: Store.Database) throws -> (Int, Int) {
        let (count, sum) = try db.read { (try Person.count(in: db), try Person.query.sum(\.visits, in: db)) }
        return (count, sum)
    }

    private func allVisits(_ db: Store.Database) throws -> Int {
        let visits = try db.read { try Person.all(in: db).reduce(0) { $0 + $1.visits } }
        return visits
    }

    @Test("[48, 50, 52, 53, 59] the options have their effects")
    func options() throws {
        let path = file.path
        let (profiled, failures) = (Box<String>(), Box<StoreError.Code>())
        var options = Database.Options()
        options.busyTimeout = .seconds(2)
        options.durability = .normal  // and `flush()` after a group of commits
        options.functions = [SQLFunction("twice", argumentCount: 1) { .integer(2 * (try Int64(columnValue: $0[0]))) }]
        options.profile = { statement in profiled.append(statement.sql) }
        options.logger = Logger(label: "people")  // of swift-log; it gets warnings
        options.slowStatement = .milliseconds(100)  // such as of a statement that takes so long, without its values
        options.onFailure = { error in failures.append(error.code) }
        options.prepare = { try $0.execute("PRAGMA cache_size = -64000") }
        let db = try Database(path: path, options: options) { $0.automatic(Person.self) }
        #expect(try db.value(Int.self, "SELECT twice(21)") == 42)
        #expect(throws: StoreError.self) { try db.execute("NONSENSE") }
        #expect(profiled.all.contains { $0.contains("twice") } && failures.all == [.sql])
        #expect(db.options.logger?.label == "people" && db.options.slowStatement == .milliseconds(100))

        options.functions.append(SQLFunction("dice", argumentCount: 0, isDeterministic: false) { _ in .integer(4) })
        let own = Box<String>()
        options.profile = { statement in if !statement.isInternal { own.append(statement.sql) } }
        let second = try Database(path: file.directory.file("second.sqlite"), options: options)
        try second.execute("CREATE TABLE Own (id INTEGER PRIMARY KEY)")
        #expect(try second.value(Int.self, "SELECT dice()") == 4)
        #expect(own.all.contains("CREATE TABLE Own (id INTEGER PRIMARY KEY)"))
        #expect(!own.all.contains { $0.contains("_journal") })
        try second.close()

        var readOnly = Database.Options()
        readOnly.isReadOnly = true
        let reader = try Database(path: path, options: readOnly)
        let memory = try Database.inMemory { $0.automatic(Person.self) }
        try Person.create(in: memory) { $0.name = "Bob" }
        #expect(throws: StoreError.self) { try reader.execute("DELETE FROM Person") }
        #expect(try Person.count(in: memory) == 1)
    }

    @Test("[51, 53, 56, 57, 58] SQL, GRDB and maintenance")
    func maintenance() throws {
        let path = file.path
        let backupPath = file.directory.file("backup.sqlite")
        let db = try file.open()
        try db.execute("CREATE TABLE Log (id INTEGER PRIMARY KEY, what TEXT); CREATE INDEX log_what ON Log (what)")
        try db.withGRDB { try $0.execute(sql: "INSERT INTO Log (what) VALUES ('opened')") }
        var progress: [Double] = []
        try db.backup(to: backupPath) { progress.append($0.fraction) }  // while it is in use
        try db.analyze()  // by itself after `analyzeInterval` changes
        try db.vacuum()
        try db.checkpoint()
        try db.flush()
        let problems = try db.integrityProblems()  // empty when all is well
        #expect(problems.isEmpty && progress.last == 1 && FileManager.default.fileExists(atPath: backupPath))
        try db.close()  // every further use throws `.closed`
        #expect(throws: StoreError.self) { try db.execute("DELETE FROM Log") }
        let again = try Database(path: path)  // opened anew, by another `Database`
        #expect(try again.value(String.self, "SELECT what FROM Log") == "opened")
        try again.close()
        try Database.deleteFiles(at: path)
        #expect(!FileManager.default.fileExists(atPath: path))
    }
}

/// What callbacks of any thread were given.
private final class Box<Element: Sendable>: Sendable {
    private let elements = Mutex<[Element]>([])
    var all: [Element] { elements.withLock { $0 } }
    func append(_ element: Element) { elements.withLock { $0.append(element) } }
}
