import Foundation
import GRDB
import GRDBSQLite
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

    @Test("[56] statistics are renewed after a number of changes, counted across openings")
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

    @Test("[56] VACUUM frees space; live objects, capture and text index still work")
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

    @Test("[56] a checkpoint runs under the common lock, and reports when another process holds it")
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

    /// The error of a flush when a device that opens and cannot be synced replaces the log. Only a flush that
    /// syncs the log fails.
    private func flushOfUnsyncable(_ db: Store.Database) -> StoreError.Code? {
        let (log, aside) = (path + "-wal", path + "-wal.aside")
        #expect(rename(log, aside) == 0 && symlink("/dev/null", log) == 0)
        defer { #expect(unlink(log) == 0 && rename(aside, log) == 0) }
        return code { try db.flush() }
    }

    @Test("[57] commits do not wait for the disk; a flush syncs the log of all of them, and reports a failure")
    func flush() throws {
        let failures = Collected<StoreError>()
        let db = try open {
            $0.durability = .normal
            $0.onFailure = { failures.append($0) }
        }
        // NORMAL: a commit does not sync the log (https://sqlite.org/pragma.html#pragma_synchronous).
        #expect(try db.transaction { try db.value(Int.self, "PRAGMA synchronous") } == 1)
        try fill(db, 0..<5)
        try db.flush()
        #expect(failures.all.isEmpty)
        #expect(flushOfUnsyncable(db) == .sqlite)
        #expect(failures.all.filter { $0.operation == "flushing" }.map(\.code) == [.sqlite])
        try db.flush()
        try fill(db, 5..<7)
        #expect(try Person.count(in: db) == 7)
        try db.close()
    }

    @Test("[57] a flush finds the log of a database that is opened by a symbolic link")
    func flushByLink() throws {
        try open().close()
        let link = directory.file("link.sqlite")
        #expect(symlink(path, link) == 0)
        let db = try Store.Database(path: link, options: TestDatabase.options)
        try fill(db, 0..<5)
        try db.flush()
        #expect(flushOfUnsyncable(db) == .sqlite)
        try db.close()
    }

    @Test("[57] a flush releases no lock: another program cannot change the journal mode of an open database")
    func flushKeepsLocks() throws {
        let db = try open { $0.durability = .normal }
        try fill(db, 0..<5)
        try db.flush()
        let script = """
            import sqlite3, sys
            db = sqlite3.connect(sys.argv[1], timeout=0)
            try:
                print(db.execute("PRAGMA journal_mode = DELETE").fetchone()[0])
            except sqlite3.OperationalError as error:
                print(error)
            """
        let other = try Program.run(["python3", "-c", script, path])
        #expect(other.output.contains("locked"), "\(other.output)\(other.errors)")
        #expect(try db.value(String.self, "PRAGMA journal_mode") == "wal")
        try db.close()
    }

    @Test("[57] without a log a flush does nothing, and on a read-only database it is refused")
    func flushWithoutLog() throws {
        let memory = try Store.Database.inMemory()
        try memory.flush()
        try memory.close()
        #expect(code { try memory.flush() } == .closed)
        try open().close()
        let reader = try open { $0.isReadOnly = true }
        #expect(code { try reader.flush() } == .readOnly)
        try reader.close()
    }

    @Test("[57] a statement is prepared once and run again, for writes and for reads")
    func statementCache() throws {
        let db = try open()
        try fill(db, 0..<1)
        let first = try db.withGRDB { try StatementUse(Person.insertSQL, $0) }
        try fill(db, 1..<4)
        let second = try db.withGRDB { try StatementUse(Person.insertSQL, $0) }
        // Each insert counts with its triggers, so four count four times as much as one.
        #expect(first.runs > 0 && second.runs == 4 * first.runs && second.handle == first.handle)
        // One connection: the next read may get another one.
        try db.read {
            let before = try db.readGRDB { try StatementUse(Person.selectSQL, $0) }
            for _ in 0..<3 { #expect(try Person.query.all(in: db).count == 4) }
            let after = try db.readGRDB { try StatementUse(Person.selectSQL, $0) }
            #expect(after.runs == before.runs + 3 && after.handle == before.handle)
        }
        try db.close()
    }

    @Test("[58] an online backup has one moment of the database, reports its progress, and can be stopped")
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

    @Test("[59] each statement's text and time reach the profiler, values do not; slow statements are logged")
    func profile() throws {
        let runs = Collected<StatementProfile>()
        let log = LogRecord()
        let db = try open {
            $0.profile = { runs.append($0) }
            $0.slowStatement = .zero
            $0.logger = log.logger
        }
        try Person.create(in: db) {
            $0.name = "classified"; $0.createdTime = .now
        }
        let insert = try #require(runs.all.last { $0.sql.hasPrefix("INSERT OR ABORT INTO \"Person\"") })
        #expect(insert.duration >= .zero)
        #expect(runs.all.allSatisfy { !$0.sql.contains("classified") })
        #expect(log.all.contains { $0.message.contains("INSERT OR ABORT INTO \"Person\"") })
        #expect(log.all.allSatisfy { !$0.message.contains("classified") })
        try db.close()
    }

    @Test(
        "[59] a statement that takes the threshold or longer is one warning, a shorter one is none",
        arguments: [nil, .zero, .milliseconds(1), .seconds(3_600)] as [Duration?])
    func slowStatements(threshold: Duration?) throws {
        let runs = Collected<StatementProfile>()
        let log = LogRecord()
        let db = try open {
            $0.profile = { runs.append($0) }
            $0.slowStatement = threshold
            $0.logger = log.logger
        }
        try fill(db, 0..<20)
        try db.close()
        let slow = runs.all.filter { run in threshold.map { run.duration >= $0 } ?? false }
        let logged = log.all.filter { $0.message.contains("a statement took") }
        #expect(runs.all.count > 20 && logged.count == slow.count)
        #expect(logged.allSatisfy { $0.level == .warning && $0.message.hasPrefix(path) })
        #expect(slow.allSatisfy { run in logged.contains { $0.message.hasSuffix(run.sql) } })
    }

    @Test("[53] GRDB's writes are journalled and followed, its schema changes captured, its failures undone")
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
        #expect(try Person.query.order(by: \.id).all(in: db).map(\.name) == ["a", "b;c"])
        #expect(
            code { try db.execute("DELETE FROM Person WHERE id = 1; INSERT INTO nowhere VALUES (1)") } == .missingTable)
        #expect(try Person.count(in: db) == 2)
        try db.close()
    }

    @Test(
        "[49] [T13] tasks write and read without blocking the pool, an error reaches the task, a cancelled task does not begin"
    )
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

/// The statement of some text that a connection keeps.
private struct StatementUse {
    let handle: OpaquePointer
    /// The number of runs (https://sqlite.org/c3ref/c_stmtstatus_counter.html).
    let runs: Int32

    init(_ sql: String, _ db: GRDB.Database) throws {
        handle = try db.cachedStatement(sql: sql).sqliteStatement
        runs = sqlite3_stmt_status(handle, SQLITE_STMTSTATUS_RUN, 0)
    }
}
