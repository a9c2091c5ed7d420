import Foundation
import Store
import TestSupport
import Testing

@Model
private final class Golfer {
    var id: Int64
    var name: String = ""
}

@Model
private final class Course {
    @Column(as: UUIDAsBlob.self) var id: UUID
    var rival: Ref<Course>?
}

@Model
private final class Round {
    var id: Int64
    var player: Ref<Golfer>?
    var club: Ref<Course>?
    var points: Int = 0

    static let indexes = [Index(\.club, \.points)]
    static let foreignKeys = [ForeignKey(\.player, onDelete: .setNull)]
}

@Model
private final class Booking {
    @PrimaryKey var player: Ref<Golfer>
    @PrimaryKey var club: Ref<Course>
    static let foreignKeys = [ForeignKey(\.player, onDelete: .cascade)]
}

@Model(table: "Round")
private final class RequiredRound {
    var id: Int64
    var player: Ref<Golfer>
    static let foreignKeys = [ForeignKey(\.player, onDelete: .setNull)]
}

@Suite("References in automatic schemas")
struct ReferenceSchemaTests {
    private let directory = TemporaryDirectory()

    private func open(_ name: String = "db.sqlite", _ allowed: DestructiveSteps = []) throws -> Store.Database {
        try Database(path: directory.file(name)) {
            $0.automatic(Golfer.self, Course.self, Round.self, Booking.self, allowing: allowed)
        }
    }

    private func statement(of table: String, in db: Store.Database) throws -> String {
        try db.value(String.self, "SELECT sql FROM sqlite_master WHERE name = \(table)") ?? ""
    }

    @Test("a reference's column has the type of the other model's key")
    func types() throws {
        let db = try open()
        let score = try statement(of: "Round", in: db)
        #expect(score.contains(#""player" INTEGER"#) && score.contains(#""club" BLOB"#))
        #expect(try statement(of: "Course", in: db).contains(#""rival" BLOB"#))
        // Another program cannot write a text where a list would fail to decode it.
        #expect(throws: StoreError.self) { try db.execute("INSERT INTO Round (id, player, points) VALUES (1, 'x', 0)") }
        try Golfer.create(5, in: db)
        try db.execute("INSERT INTO Round (id, player, points) VALUES (2, '5', 0)")
        #expect(try Round.query.all(in: db).map(\.player?.id) == [5])
    }

    @Test("a reference has an index, unless a declared one or the key begins with it")
    func indexes() throws {
        let db = try open()
        let names = try db.values(
            String.self, "SELECT name FROM sqlite_master WHERE type = 'index' AND name LIKE 'model%' ORDER BY 1")
        #expect(names == ["model_Booking_club", "model_Course_rival", "model_Round_club_points", "model_Round_player"])
        #expect(Round.schemaDescription.indexes.count == 2)
    }

    @Test("a foreign key is kept by SQLite: a deletion sets references to nil, or deletes their rows")
    func foreignKeys() throws {
        let db = try open()
        let (ann, club) = (try Golfer.create(in: db), try Course.create(in: db))
        let score = try Round.create(in: db) { $0.player = Ref(ann) }
        let entry = try Booking.create(in: db) {
            $0.player = Ref(ann)
            $0.club = Ref(club)
        }
        #expect(throws: StoreError.self) { try score.save { $0.player = Ref<Golfer>(7) } }
        try ann.delete()
        #expect(score.player == nil)
        #expect(entry.isDeleted)
    }

    @Test("a table without the clause is reported, and rebuilt with it where that is allowed")
    func added() throws {
        let path = directory.file("db.sqlite")
        do {
            let db = try Database(path: path) { schema in
                schema.version(1) {
                    try $0.execute(
                        """
                        CREATE TABLE Round (id INTEGER PRIMARY KEY, player INTEGER, club BLOB, points INTEGER NOT NULL
                          DEFAULT 0 CHECK (points >= 0))
                        """)
                    try $0.execute("INSERT INTO Round (id, points) VALUES (1, 3)")
                }
            }
            try db.close()
        }
        do {
            let db = try open()
            #expect(db.schemaReport.notDone.contains { $0.column == "player" && $0.reason.contains("REFERENCES") })
            try db.close()
        }
        let db = try open("db.sqlite", .rebuildTables)
        let round = try statement(of: "Round", in: db).filter { $0 != " " }
        #expect(round.contains(#"REFERENCES"Golfer"("id")ONDELETESETNULL"#))
        #expect(try statement(of: "Round", in: db).contains("CHECK"))
        #expect(try Round.query.all(in: db).map(\.points) == [3])
        #expect(db.schemaReport.notDone.isEmpty)
    }

    @Test("a column that an earlier release made ANY is reported, and gets its type where a rebuild is allowed")
    func ofEarlierRelease() throws {
        let path = directory.file("db.sqlite")
        let earlier = try Database(path: path) { _ in }
        for sql in [
            "CREATE TABLE Course (id BLOB NOT NULL PRIMARY KEY, rival ANY) STRICT",
            "INSERT INTO Course VALUES (x'01010101010101010101010101010101', NULL)",
            "INSERT INTO Course VALUES (x'02020202020202020202020202020202', x'01010101010101010101010101010101')",
        ] {
            try earlier.execute(SQL(raw: sql))
        }
        try earlier.close()
        let reporting = try open()
        #expect(
            reporting.schemaReport.notDone.map { "\($0.column ?? ""): \($0.reason)" }
                == ["rival: the column is ANY, but the model stores BLOB"])
        try reporting.close()
        let db = try open("db.sqlite", .rebuildTables)
        #expect(try statement(of: "Course", in: db).contains("BLOB"))
        #expect(throws: StoreError.self) { try db.execute("UPDATE Course SET rival = 'x'") }
        #expect(try Course.query.all(in: db).compactMap(\.rival).count == 1)
        #expect(db.schemaReport.notDone.isEmpty)
        try db.close()
    }

    @Test("a required reference cannot be set to nil: the opening fails and says so")
    func setNullOfRequired() throws {
        let error = #expect(throws: StoreError.self) {
            try Database(path: directory.file("db.sqlite")) { $0.automatic(Golfer.self, RequiredRound.self) }
        }
        #expect(error?.code == .invalidSchema && error?.column == "player")
    }
}
