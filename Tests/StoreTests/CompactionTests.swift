import Journal
import TestSupport
import Testing

@testable import Store

/// Properties: the journal of a file without peers does not grow with each change for ever; rows, live objects and
/// capture stay as they are.
@Suite("The journal of a file that replicates with nobody is compacted", .timeLimit(.minutes(1)))
struct CompactionTests {
    private let directory = TemporaryDirectory()

    private func open(history: Duration? = .seconds(7 * 86_400)) throws -> Store.Database {
        var options = TestDatabase.options
        options.history = history
        return try Store.Database(path: directory.file("a.sqlite"), options: options, schema: Self.declare)
    }

    private static func declare(_ schema: inout SchemaBuilder) {
        schema.version(1) {
            try $0.execute("CREATE TABLE Seat (id INTEGER PRIMARY KEY, room INTEGER, label TEXT NOT NULL)")
        }
    }

    /// Writes 10 rows 200 times each, and deletes half of them.
    private func churn(_ db: Store.Database) throws {
        for id in 0..<10 { try db.execute("INSERT INTO Seat (id, label) VALUES (\(id), 'seat')") }
        for room in 0..<200 { try db.execute("UPDATE Seat SET room = \(room)") }
        try db.execute("DELETE FROM Seat WHERE id % 2 = 1")
    }

    private func entries(_ db: Store.Database) throws -> Int? {
        try db.value(Int.self, "SELECT count(*) FROM _journal")
    }

    private static let now = Duration.seconds(4_000_000_000)

    @Test("what later changes overwrote goes; rows and objects stay, and changes are captured as before")
    func compacts() async throws {
        let db = try open()
        try churn(db)
        let seat = try #require(try Seat.find(4, in: db))
        let removed = try #require(try await db.compact(keeping: .zero))
        #expect(removed > 1_990)
        #expect(try #require(try entries(db)) < 20)
        #expect(try db.values(Int.self, "SELECT id FROM Seat WHERE room = 199") == [0, 2, 4, 6, 8])
        try db.execute("UPDATE Seat SET label = 'later' WHERE id = 4")
        #expect(seat.label == "later")
        let before = try entries(db)
        try seat.save { $0.room = 7 }
        #expect(try entries(db) == before.map { $0 + 1 })
        #expect(try db.integrityProblems() == [])
        #expect(try await db.compact(keeping: .seconds(3_600)) == 0)
    }

    @Test("by itself, when there is a day of history beyond what stays")
    func due() async throws {
        let db = try open()
        try churn(db)
        let (week, day) = (Duration.seconds(7 * 86_400), Duration.seconds(86_400))
        let written = try writeTime(db)
        #expect(try await db.compactWhenDue(now: written + week) == nil)
        let removed = try #require(try await db.compactWhenDue(now: written + week + day + .seconds(60)))
        #expect(removed > 1_990)
        #expect(try await db.compactWhenDue(now: written + week + day + .seconds(120)) == nil)
    }

    private func writeTime(_ db: Store.Database) throws -> Duration {
        try db.withGRDB { connection in
            let reader = try JournalReader(connection)
            let stamp = try reader.stamp(of: reader.identity.origin, version: reader.vector()[reader.identity.origin])
            return .milliseconds(stamp?.milliseconds ?? 0)
        }
    }

    @Test("not when all history is to stay, nor in a short journal")
    func notDue() async throws {
        let db = try open(history: nil)
        try churn(db)
        #expect(try await db.compactWhenDue(now: Self.now) == nil)
        #expect(try await db.compact() == 0)
        #expect(try await db.compact(keeping: .seconds(Int64.max)) == 0)
        let small = try Store.Database(path: directory.file("b.sqlite"), options: TestDatabase.options) { schema in
            schema.version(1) { try $0.execute("CREATE TABLE Seat (id INTEGER PRIMARY KEY, label TEXT)") }
        }
        for label in 0..<10 { try small.execute("INSERT OR REPLACE INTO Seat VALUES (1, \(label))") }
        #expect(try await small.compactWhenDue(now: Self.now) == nil)
    }

    @Test("a file that knows of other replicas is left to its daemon")
    func replicated() async throws {
        let (here, there) = (try ReplicatedDatabase(Self.declare), try ReplicatedDatabase(Self.declare))
        try churn(there.db)
        try here.pull(from: there)
        try here.db.execute("UPDATE Seat SET room = 1")
        try here.db.execute("UPDATE Seat SET room = 2")
        #expect(try await here.db.compact(keeping: .zero) == nil)
        #expect(try here.db.value(Int.self, "SELECT count(*) > 2000 FROM _journal") == 1)
        // Nobody has heard of the other file.
        #expect(try #require(try await there.db.compact(keeping: .zero)) > 1_990)
    }

    @Test("a first peer gets the content of a compacted file")
    func firstPeer() async throws {
        let (here, there) = (try ReplicatedDatabase(Self.declare), try ReplicatedDatabase(Self.declare))
        try churn(there.db)
        _ = try await there.db.compact(keeping: .zero)
        try here.db.execute("INSERT INTO Seat (id, label) VALUES (77, 'mine')")
        try await here.comeBack(by: there)
        try there.pull(from: here)
        for machine in [here, there] {
            try machine.db.refresh()
            #expect(try machine.db.values(Int.self, "SELECT id FROM Seat ORDER BY id") == [0, 2, 4, 6, 8, 77])
        }
    }

    @Test("rows without their parents keep the history that decides about them")
    func orphans() async throws {
        let db = try Store.Database(path: directory.file("a.sqlite"), options: TestDatabase.options) { schema in
            schema.version(1) {
                try $0.execute(
                    """
                    CREATE TABLE room (id INTEGER PRIMARY KEY);
                    CREATE TABLE chair (id INTEGER PRIMARY KEY, room INTEGER REFERENCES room(id))
                    """)
            }
        }
        let other = try RawConnection(path: directory.file("a.sqlite"))
        try other.run("INSERT INTO chair VALUES (1, 5); UPDATE chair SET room = 6")
        #expect(try await db.compact(keeping: .zero) == nil)
        try other.run("INSERT INTO room VALUES (6)")
        #expect(try await db.compact(keeping: .zero) != nil)
    }

    @Test("a cancelled compaction ends, and the next one goes on")
    func cancelled() async throws {
        let db = try open()
        try churn(db)
        let task = Task { try await db.compact(keeping: .zero) }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try #require(try await db.compact(keeping: .zero)) > 1_990)
    }
}
