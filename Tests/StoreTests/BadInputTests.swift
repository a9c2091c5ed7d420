import Foundation
import GRDB
import Store
import TestSupport
import Testing

/// Each mistake is a typed error with a remedy, and with table and column where there is one. Memory and file
/// do not change, and the database still works.
@Suite("Bad input")
struct BadInputTests {
    let test: TestDatabase
    let bob: Person
    var db: Store.Database { test.db }

    init() throws {
        test = try TestDatabase()
        bob = try test.person("Bob", age: 20)
    }

    /// Expects `body` to fail with `code`, to change nothing, and to leave a working database.
    private func expectRefused(
        _ code: StoreError.Code, table: String? = nil, column: String? = nil,
        sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> Void
    ) throws {
        let before = try Person.exportJSON(in: db)
        let journal = try test.journalCount()
        let memory = [bob.name, "\(bob.age ?? -1)"]
        do {
            try body()
            Issue.record("no error", sourceLocation: sourceLocation)
        } catch let error as StoreError {
            #expect(error.code == code, "\(error)", sourceLocation: sourceLocation)
            if let table { #expect(error.table == table, "\(error)", sourceLocation: sourceLocation) }
            if let column { #expect(error.column == column, "\(error)", sourceLocation: sourceLocation) }
            #expect(error.hint != nil, "\(error)", sourceLocation: sourceLocation)
        }
        #expect(try Person.exportJSON(in: db) == before, sourceLocation: sourceLocation)
        #expect(try test.journalCount() == journal, sourceLocation: sourceLocation)
        #expect([bob.name, "\(bob.age ?? -1)"] == memory, sourceLocation: sourceLocation)
        #expect(try bob.save { $0.age = ($0.age ?? 0) + 1 }, sourceLocation: sourceLocation)
    }

    @Test("[B1] NULL into NOT NULL names table and column")
    func notNull() throws {
        try expectRefused(.notNull, table: "Person", column: "name") {
            try Person.execute("UPDATE $T SET name = NULL", in: db)
        }
        try db.execute("ALTER TABLE Item ADD COLUMN must TEXT NOT NULL DEFAULT ''")
        try db.execute("CREATE TABLE Strict (id INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT")
        try expectRefused(.notNull, table: "Strict", column: "text") { try OptionalNote.create(in: db) }
    }

    @Test("[B3] a second value in a UNIQUE column names table and column")
    func unique() throws {
        try expectRefused(.unique, table: "Person", column: "name") { try test.person("Bob") }
        let ann = try test.person("Ann")
        try expectRefused(.unique, table: "Person", column: "name") { try ann.save { $0.name = "Bob" } }
        #expect(ann.name == "Ann")
    }

    @Test("[B4] a taken key is another error than UNIQUE")
    func primaryKey() throws {
        try expectRefused(.primaryKey, table: "Person", column: "id") {
            try Person.create(bob.id, in: db) {
                $0.name = "Other"; $0.createdTime = .now
            }
        }
    }

    @Test("[B5] a CHECK that fails names table and column")
    func check() throws {
        try expectRefused(.check, table: "Person", column: "age") { try bob.save { $0.age = 500 } }
    }

    @Test(
        "[B6] a missing parent, and a delete of a row that others refer to, are foreign-key errors that name the column"
    )
    func foreignKey() throws {
        try expectRefused(.foreignKey, table: "Item", column: "owner") { try Item.create(in: db) { $0.owner = 4_711 } }
        try db.execute("CREATE TABLE Pet (id INTEGER PRIMARY KEY, owner INTEGER NOT NULL REFERENCES Person (id))")
        try db.execute("INSERT INTO Pet VALUES (1, \(bob.id))")
        try expectRefused(.foreignKey, table: "Person") { try bob.delete() }
        #expect(!bob.isDeleted)
    }

    @Test("[B2] nil in a required property is refused before SQL, with its name")
    func missingValue() throws {
        try expectRefused(.missingValue, table: "Person", column: "created_time") {
            try Person.create(in: db) { $0.name = "New" }
        }
    }

    @Test("[B7] too few and too many arguments are refused before anything runs")
    func argumentCount() throws {
        try expectRefused(.argumentCount) {
            try db.execute("DELETE FROM Person WHERE id = ? OR name = ?", 1)
        }
        try expectRefused(.argumentCount) {
            try db.execute("DELETE FROM Person; DELETE FROM Item WHERE id = ?", 1, 2)
        }
        try expectRefused(.argumentCount, table: "Person") { _ = try Person.where("id = ?", 1, 2).all(in: db) }
        try expectRefused(.argumentCount) { _ = try Person.where("id = ? AND name = \("x")", 1).all(in: db) }
    }

    @Test("[B8] invalid SQL, and a script that fails in its middle, change nothing")
    func badSQL() throws {
        try expectRefused(.sql) { try db.execute("UPDAET Person SET name = 1") }
        try expectRefused(.sql) { try db.execute("DELETE FROM Person; nonsense") }
        try expectRefused(.missingTable, table: "Nowhere") { _ = try db.rows("SELECT * FROM Nowhere") }
        try expectRefused(.transactionControl) { try db.execute("COMMIT") }
    }

    @Test("[B9] a property without a column names table and column, for reads and for writes")
    func missingColumn() throws {
        try expectRefused(.missingColumn, table: "Person", column: "shoe_size") { _ = try Shoe.all(in: db) }
        try expectRefused(.missingColumn, table: "Person", column: "shoe_size") {
            try Shoe.create(in: db) { $0.name = "x" }
        }
        try expectRefused(.missingTable, table: "Elsewhere") { _ = try Elsewhere.all(in: db) }
    }

    @Test("[B10] a column without a property that needs a value is named")
    func missingProperty() throws {
        try expectRefused(.notNull, table: "Person", column: "created_time") {
            try PlainPerson.create(in: db) { $0.name = "New" }
        }
    }

    @Test("[B11] a value that does not decode names table and column; SQL can correct the row")
    func undecodable() throws {
        try db.execute("INSERT INTO Person (id, name, age, created_time) VALUES (5, 'Odd', NULL, 'y')")
        do {
            _ = try Person.find(5, in: db)
            Issue.record("decoded")
        } catch let error as StoreError {
            #expect(
                error.code == .undecodable && error.table == "Person" && error.column == "created_time"
                    && error.hint != nil)
            #expect(!error.description.contains("'y'"))
        }
        try db.execute("UPDATE Person SET created_time = 1.5 WHERE id = 5")
        #expect(try Person.find(5, in: db)?.name == "Odd")
    }

    @Test(
        "[B11] a live object keeps its last values when its row no longer decodes, says why, and follows the correction"
    )
    func undecodableLive() throws {
        try db.execute("UPDATE Person SET created_time = 'odd' WHERE id = \(bob.id)")
        let error = try #require(bob.refreshError)
        #expect(error.code == .undecodable && error.table == "Person" && error.column == "created_time")
        #expect(error.hint != nil && !error.description.contains("odd"))
        #expect(bob.createdTime == Date(timeIntervalSince1970: 1_000))
        try db.execute("UPDATE Person SET created_time = 5 WHERE id = \(bob.id)")
        #expect(bob.refreshError == nil && bob.createdTime == Date(timeIntervalSince1970: 5))
    }

    @Test("[B12] a value that cannot be stored names the column")
    func unstorable() throws {
        try expectRefused(.unstorable, table: "every thing", column: "large") {
            try Everything.create("k", in: db) {
                $0.large = .max; $0.uuid = UUID(); $0.mood = .good
            }
        }
        try expectRefused(.unstorable, table: "every thing", column: "double") {
            try Everything.create("k", in: db) {
                $0.double = .nan; $0.uuid = UUID(); $0.mood = .good
            }
        }
    }

    @Test("[B14] an object of another database is refused, with both unchanged")
    func otherDatabase() throws {
        let other = try TestDatabase()
        let stranger = try other.person("Stranger")
        try expectRefused(.otherDatabase, table: "Person") {
            try Person.delete([stranger], in: db)
        }
        try expectRefused(.otherDatabase, table: "Person") {
            try Person.save([stranger], in: db) { $0.name = "Mine" }
        }
        #expect(stranger.name == "Stranger" && !stranger.isDeleted)
    }

    @Test("[B15] a key changed in a save is refused and named")
    func keyChanged() throws {
        try expectRefused(.keyChanged, table: "Person", column: "id") { try bob.save { $0.id = 1 } }
    }

    @Test("[B16] a write inside of a read is refused, by an object, by SQL and by a writing query")
    func writeInsideRead() throws {
        try expectRefused(.writeInsideRead, table: "Person") { _ = try db.read { try bob.save { $0.name = "x" } } }
        try expectRefused(.writeInsideRead) { _ = try db.read { try db.execute("DELETE FROM Person") } }
        try expectRefused(.readOnly) { _ = try db.rows("DELETE FROM Person RETURNING id") }
    }

    @Test("[B17] a save inside of a save of the same object keeps both changes")
    func reentrantSave() throws {
        try bob.save { outer in
            outer.name = "Outer"
            try bob.save { $0.age = 99 }
        }
        #expect(bob.name == "Outer" && bob.age == 99)
        try expectRefused(.check) {
            try bob.save { outer in
                outer.name = "Lost"
                try bob.save { $0.age = 500 }
            }
        }
    }

    @Test("[B18] a deleted row is not saved")
    func deleted() throws {
        let ann = try test.person("Ann")
        try ann.delete()
        try expectRefused(.deleted, table: "Person") { try ann.save { $0.age = 1 } }
    }

    @Test("[B13] use after close is a typed error in every function")
    func closed() throws {
        try db.close()
        do {
            try bob.save { $0.name = "x" }
            Issue.record("saved")
        } catch let error as StoreError {
            #expect(error.code == .closed && error.table == "Person" && error.hint != nil)
        }
        #expect(code { _ = try Person.all(in: db) } == .closed)
        #expect(code { try bob.save { $0.name = "x" } } == .closed)
        #expect(code { try db.vacuum() } == .closed)
        #expect(code { try db.checkpoint() } == .closed)
        #expect(code { try db.backup(to: test.path + ".copy") } == .closed)
        #expect(code { try db.flush() } == .closed)
        #expect(code { try db.withGRDB { _ in } } == .closed)
        #expect(code { try db.refresh() } == .closed)
        #expect(code { try db.transaction {} } == .closed)
        #expect(code { try Person.create(in: db) } == .closed)
        #expect(code { try bob.delete() } == .closed)
        #expect(bob.name == "Bob" && !bob.isDeleted)
        let again = try Store.Database(path: test.path, options: TestDatabase.options)
        #expect(try Person.find(bob.id, in: again)?.name == "Bob")
        try again.close()
    }

    @Test(
        "[B13] a sequence that is requested after the close ends at once, and a waiting one ends with the close",
        .timeLimit(.minutes(1)))
    func closedSequences() async throws {
        let db = test.db
        let conflicts = try db.newConflicts()
        let changes = Person.changes(in: db)
        let waiting = Task {
            for try await _ in conflicts {}
            for await _ in changes {}
        }
        try db.close()
        try await waiting.value
        for await _ in Person.changes(in: db) { Issue.record("a change") }
        for await _ in Item.changes(in: db) { Issue.record("a change of a model that was not used before") }
        for await _ in Person.changes(in: db, columns: [\.name]) { Issue.record("a change") }
        for await _ in bob.changes() { Issue.record("a change") }
        for try await _ in bob.live() { Issue.record("a value") }
        for try await _ in Person.query.live(in: db) { Issue.record("a value") }
        for try await _ in db.live({ try Person.count(in: db) }) { Issue.record("a value") }
        #expect(code { _ = try db.newConflicts() } == .closed)
        #expect(code { _ = try Person.query.cached(in: db) } == .closed)
        #expect(code { _ = try db.cached("count") { try Person.count(in: db) } } == .closed)
    }

    @Test("[B19] a full disk: the write fails, nothing of it is kept, and smaller writes succeed")
    func full() throws {
        var options = TestDatabase.options
        options.prepare = { try $0.execute("PRAGMA max_page_count = 60") }
        let small = try Store.Database(
            path: test.directory.file("small.sqlite"), options: options, schema: TestDatabase.declareSchema)
        let ann = try Person.create(in: small) {
            $0.name = "Ann"; $0.createdTime = .now
        }
        let failure = code {
            try small.transaction {
                try ann.save { $0.name = "Changed" }
                for index in 0..<10_000 {
                    try Item.create(in: small) { $0.title = String(repeating: "\(index)", count: 500) }
                }
            }
        }
        #expect(failure == .full)
        #expect(ann.name == "Ann")
        #expect(try Item.count(in: small) == 0)
        #expect(try ann.save { $0.age = 3 })
        try small.close()
    }

    @Test("[50] [B20] a file that another program has locked is busy, and usable afterwards")
    func locked() throws {
        var options = TestDatabase.options
        options.busyTimeout = .milliseconds(10)
        let path = test.directory.file("locked.sqlite")
        let db = try Store.Database(path: path, options: options, schema: TestDatabase.declareSchema)
        let ann = try Person.create(in: db) {
            $0.name = "Ann"; $0.createdTime = .now
        }
        let other = try RawConnection(path: path)
        try other.run("BEGIN IMMEDIATE")
        do {
            try ann.save { $0.name = "Changed" }
            Issue.record("the lock was not seen")
        } catch let error as StoreError {
            #expect(error.code == .busy && error.isRetryable && error.hint != nil && error.table == "Person")
        }
        #expect(ann.name == "Ann")
        #expect(try Person.count(in: db) == 1)
        try other.run("ROLLBACK")
        #expect(try ann.save { $0.name = "Changed" })
        try db.close()
    }

    @Test(
        "[B21] every failure of an access reaches the failure handler, with code and position in the SQL, without values"
    )
    func handler() throws {
        let failures = Collected<StoreError>()
        var options = TestDatabase.options
        options.onFailure = { failures.append($0) }
        let db = try Store.Database(
            path: test.directory.file("handled.sqlite"), options: options, schema: TestDatabase.declareSchema)
        let ann = try Person.create(in: db) {
            $0.name = "secret"; $0.createdTime = .now
        }
        #expect(
            code {
                try Person.create(in: db) {
                    $0.name = "secret"; $0.createdTime = .now
                }
            } == .unique)
        #expect(code { try ann.save { $0.age = 700 } } == .check)
        #expect(failures.all.map(\.code) == [.unique, .check])
        #expect(failures.all.allSatisfy { !$0.description.contains("secret") && !$0.description.contains("700") })
        try db.close()
    }

    @Test(
        "[52] [B21] the failure handler gets each error once, with the operation and the table; also of closed and read-only databases"
    )
    func handlerPlaces() throws {
        let failures = Collected<StoreError>()
        var options = TestDatabase.options
        options.onFailure = { failures.append($0) }
        let path = test.directory.file("places.sqlite")
        let db = try Store.Database(path: path, options: options, schema: TestDatabase.declareSchema)
        let ann = try Person.create(in: db) {
            $0.name = "Ann"; $0.createdTime = .now
        }
        #expect(code { try ann.save { $0.age = 700 } } == .check)
        #expect(code { try db.execute("nonsense") } == .sql)
        #expect(code { _ = try db.rows("SELECT * FROM Nowhere") } == .missingTable)
        #expect(code { _ = try Person.where("nonsense = 1").count(in: db) } == .missingColumn)
        #expect(code { try Person.query.update(.set(\.age, to: 700), in: db) } == .check)
        #expect(code { _ = try db.read { try ann.delete() } } == .writeInsideRead)
        try db.close()
        #expect(code { try ann.save { $0.age = 1 } } == .closed)
        #expect(code { try db.execute("DELETE FROM Person") } == .closed)
        #expect(code { _ = try db.value(Int.self, "SELECT 1") } == .closed)
        #expect(code { _ = try Person.find(ann.id, in: db) } == .closed)
        #expect(code { try db.flush() } == .closed)
        #expect(code { try db.refresh() } == .closed)
        options.isReadOnly = true
        let reader = try Store.Database(path: path, options: options)
        #expect(code { try reader.execute("DELETE FROM Person") } == .readOnly)
        #expect(code { try Person.query.delete(in: reader) } == .readOnly)
        try reader.close()
        let told: [[String?]] = failures.all.map { [$0.code.rawValue, $0.operation, $0.table] }
        let expected: [[String?]] = [
            ["check", "saving", "Person"], ["sql", "executing SQL", nil], ["missing_table", "querying", "Nowhere"],
            ["missing_column", "counting", "Person"], ["check", "updating", "Person"],
            ["write_inside_read", "deleting", "Person"], ["closed", "saving", "Person"],
            ["closed", "executing SQL", nil], ["closed", "querying", nil], ["closed", "finding", "Person"],
            ["closed", "flushing", nil], ["closed", "refreshing", nil], ["read_only", "executing SQL", nil],
            ["read_only", "deleting", "Person"],
        ]
        #expect(told == expected)
    }
}

@Model(table: "Strict")
final class OptionalNote {
    var id: Int64
    var text: String?
}

@Model(table: "Person")
final class Shoe {
    var id: Int64
    var name: String = ""
    @Column("shoe_size") var size: Int = 0
}

@Model(table: "Person")
final class PlainPerson {
    var id: Int64
    var name: String = ""
}

@Model
final class Elsewhere {
    var id: Int64
}
