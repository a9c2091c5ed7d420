import Foundation
import GRDB
import Glibc
import Logging
import Store
import Synchronization
import TestSupport
import Testing

@Suite("Maintenance, backup and raw access", .timeLimit(.minutes(1)))
struct MaintenanceTests {
    let directory = TemporaryDirectory()
    var path: String { directory.file("a.sqlite") }

    private func open(_ change: (inout Store.Database.Options) -> Void = { _ in }) throws -> Store.Database {
        var options = TestDatabase.options
        change(&options)
        return try Store.Database(path: path, options: options, schema: TestDatabase.declareSchema)
    }

    private func fill(_ db: Store.Database, _ range: Range<Int>) throws {
        try Person.create(from: range, in: db) {
            $0.name = "p\($1)"; $0.createdTime = .now
        }
    }

    @Test("[56] statistics are renewed after so many changes, counted across openings")
    func analyze() throws {
        var db = try open { $0.analyzeInterval = 10 }
        try fill(db, 0..<6)
        #expect(try db.lastAnalyzed() == nil)
        try db.close()
        db = try open { $0.analyzeInterval = 10 }
        try fill(db, 6..<9)
        #expect(try db.lastAnalyzed() == nil)
        try fill(db, 9..<12)
        #expect(try db.lastAnalyzed() == 12)
        #expect(try db.values(String.self, "SELECT tbl FROM sqlite_stat1").contains("Person"))
        try fill(db, 12..<20)
        #expect(try db.lastAnalyzed() == 12)
        try fill(db, 20..<23)
        #expect(try db.lastAnalyzed() == 23)
        // Capture has followed, and journals no statistics.
        #expect(try db.value(Int.self, "SELECT count(*) FROM _journal") == 23)
        try db.close()
    }

    @Test("[56] VACUUM gives space back; live objects, capture and text index go on")
    func vacuum() throws {
        let db = try open()
        let kept = try Person.create(in: db) {
            $0.name = "kept"; $0.createdTime = .now
        }
        try Item.create(from: 0..<200, in: db) { $0.title = String(repeating: "\($1)", count: 2_000) }
        try Item.execute("DELETE FROM $T", in: db)
        try db.checkpoint(.truncate)
        let before = try size()
        try db.execute(
            "UPDATE _journal SET v1 = NULL WHERE shape = (SELECT shape FROM _journal_tables WHERE name = 'Item')")
        try db.vacuum()
        #expect(try size() < before / 2)
        #expect(try kept.save { $0.age = 5 })
        #expect(try db.integrityProblems().isEmpty)
        #expect(code { try db.transaction { try db.vacuum() } } == .busy)
        try db.close()
    }

    private func size() throws -> Int {
        try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0
    }

    @Test("[56] a checkpoint moves the log under the common lock, and says so when another process is at it")
    func checkpoint() throws {
        let db = try open()
        try fill(db, 0..<50)
        let done = try #require(try db.checkpoint())
        #expect(!done.isBlocked && done.movedPages == done.logPages && done.logPages > 0)
        let lock = Glibc.open(path + "-checkpoint", O_RDWR)
        #expect(flock(lock, LOCK_EX | LOCK_NB) == 0)
        #expect(try db.checkpoint() == nil)
        Glibc.close(lock)
        let cut = try #require(try db.checkpoint(.truncate))
        #expect(cut.logPages == 0)
        try db.close()
    }

    @Test("[57] commits without waiting are made durable in a group")
    func flush() throws {
        let db = try open { $0.durability = .normal }
        try fill(db, 0..<5)
        try db.flush()
        try db.close()
        let memory = try Store.Database.inMemory()
        try memory.flush()
        try memory.close()
    }

    @Test("[58] an online backup has one moment of the database, tells its progress, and can be ended")
    func backup() throws {
        let db = try open()
        try fill(db, 0..<500)
        let copy = directory.file("copy.sqlite")
        let steps = Collected<BackupProgress>()
        try db.backup(to: copy, pagesPerStep: 5) { progress in
            if steps.all.isEmpty { try Person.execute("DELETE FROM $T", in: db) }
            steps.append(progress)
        }
        #expect(steps.all.count > 2 && steps.all.last?.fraction == 1)
        #expect(try Person.count(in: db) == 0)
        var options = TestDatabase.options
        options.isReadOnly = true
        let restored = try Store.Database(path: copy, options: options)
        #expect(try Person.count(in: restored) == 500)
        #expect(try restored.integrityProblems().isEmpty)
        try restored.close()
        #expect(code { try db.backup(to: copy) } == .alreadyExists)
        #expect(throws: Refused.self) { try db.backup(to: directory.file("second")) { _ in throw Refused() } }
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: directory.path).allSatisfy { !$0.hasPrefix("second") })
        try db.backup(to: copy, replacing: true)
        #expect(code { try db.transaction { try db.backup(to: copy, replacing: true) } } == .busy)
        try db.close()
    }

    @Test("[59] each statement's text and time reach the profiler, values do not; slow ones are logged")
    func profile() throws {
        let runs = Collected<StatementProfile>()
        let lines = Collected<String>()
        let db = try open {
            $0.profile = { runs.append($0) }
            $0.slowStatement = .zero
            $0.logger = Logger(label: "test") { _ in CollectingHandler(lines: lines) }
        }
        try Person.create(in: db) {
            $0.name = "secret"; $0.createdTime = .now
        }
        let insert = try #require(runs.all.last { $0.sql.hasPrefix("INSERT OR ABORT INTO \"Person\"") })
        #expect(insert.duration >= .zero)
        #expect(runs.all.allSatisfy { !$0.sql.contains("secret") })
        #expect(lines.all.contains { $0.contains("INSERT OR ABORT INTO \"Person\"") && !$0.contains("secret") })
        try db.close()
    }

    @Test("[53] what GRDB writes is journalled and followed, its schema changes captured, its failure undone")
    func grdb() throws {
        let db = try open()
        let bob = try Person.create(in: db) {
            $0.name = "Bob"; $0.createdTime = .now
        }
        try db.withGRDB { grdb in
            try grdb.execute(sql: "UPDATE Person SET age = 5")
            try grdb.create(table: "log") { $0.primaryKey("id", .text).notNull() }
            try grdb.execute(sql: "INSERT INTO log VALUES ('a')")
        }
        #expect(bob.age == 5)
        #expect(try db.value(Int.self, "SELECT count(*) FROM _journal") == 3)
        #expect(throws: Refused.self) {
            try db.withGRDB { grdb in
                try grdb.execute(sql: "DELETE FROM Person; DROP TABLE log")
                throw Refused()
            }
        }
        #expect(!bob.isDeleted && bob.age == 5)
        #expect(code { try db.withGRDB { try $0.execute(sql: "nonsense") } } == .sql)
        #expect(try db.readGRDB { try String.fetchOne($0, sql: "SELECT id FROM log") } == "a")
        try db.execute("INSERT INTO log VALUES ('b')")
        #expect(try db.value(Int.self, "SELECT count(*) FROM _journal") == 4)
        try db.close()
    }

    @Test("[53] a script is one transaction; its values bind in order")
    func script() throws {
        let db = try open()
        try db.execute(
            """
            -- two people
            INSERT INTO Person (id, name, created_time) VALUES (?, ?, 0);
            INSERT INTO Person (id, name, created_time) VALUES (?, 'b;c', 0); /* the end */
            """, 1, "a", 2)
        #expect(try Person.all(orderedBy: "id", in: db).map(\.name) == ["a", "b;c"])
        #expect(
            code { try db.execute("DELETE FROM Person WHERE id = 1; INSERT INTO nowhere VALUES (1)") } == .missingTable)
        #expect(try Person.count(in: db) == 2)
        try db.close()
    }

    @Test("[49] tasks write and read without blocking the pool; a cancelled one does not begin")
    func async() async throws {
        let db = try open()
        let bob = try await db.write {
            try Person.create(in: db) {
                $0.name = "Bob"; $0.age = 0; $0.createdTime = .now
            }
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<50 { group.addTask { _ = try await db.write { try bob.save { $0.age = ($0.age ?? 0) + 1 } } } }
            try await group.waitForAll()
        }
        #expect(try await db.read { try Person.first(in: db)?.age } == 50)
        await #expect(throws: Refused.self) { try await db.write { throw Refused() } }
        await #expect(throws: StoreError.self) { try await db.read { try bob.save { $0.age = 0 } } }
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await db.write { try bob.save { $0.age = -1 } }
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(bob.age == 50)
        try db.close()
    }
}

/// A log handler that keeps the lines.
private struct CollectingHandler: LogHandler {
    let lines: Collected<String>
    var metadata: Logger.Metadata = [:]
    var logLevel: Logger.Level = .trace

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) { lines.append("\(event.message)") }
}
