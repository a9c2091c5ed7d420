import Store
import TestSupport
import Testing

enum Phase: String, ColumnValue, CaseIterable { case draft, published }

@Model(table: "Paper")
struct PaperRow {
    var id: Int64
    @Column(unknown: Phase.draft) var phase: Phase
}

@Suite("Enum cases of a newer release")
struct UnknownCaseTests {
    @Model(table: "Paper") final class Paper {
        var id: Int64
        var title: String = ""
        @Column(unknown: Phase.draft) var phase: Phase = .draft
        @Column("later_phase", unknown: Phase.published) var next: Phase?
    }

    @Model(table: "Paper") final class StrictPaper {
        var id: Int64
        var phase: Phase = .draft
    }

    private func database() throws -> Database {
        let db = try Database.inMemory { $0.automatic(Paper.self) }
        try db.execute(
            "INSERT INTO Paper (id, phase, later_phase) VALUES (1, 'archived', 'shredded'), (2, 'draft', NULL)")
        return db
    }

    private func stored(_ db: Database) throws -> [[Value]] {
        try db.rows("SELECT phase, later_phase FROM Paper ORDER BY id").map(\.values)
    }

    @Test("[28] an unknown case shows as the chosen one, in lists, values, columns and structs")
    func shown() throws {
        let db = try database()
        #expect(try Paper.query.order(by: \.id).all(in: db).map(\.phase) == [.draft, .draft])
        #expect(try Paper.find(1, in: db)?.next == .published)
        #expect(try Paper.find(2, in: db)?.next == nil)
        let phases: [Phase] = try Paper.query.order(by: \.id).select(\.phase, in: db)
        #expect(phases == [.draft, .draft])
        #expect(try db.rows(as: PaperRow.self, "SELECT id, phase FROM Paper").count == 2)
        #expect(code { _ = try StrictPaper.all(in: db) } == .undecodable)
        #expect(Paper.schemaDescription.columns.map(\.storage) == [.integer, .text, .text, .text])
    }

    @Test("[28] a save keeps the unknown case until the property gets another one")
    func kept() throws {
        let db = try database()
        let paper = try #require(try Paper.find(1, in: db))
        try paper.save {
            $0.title = "renamed"
            $0.phase = .draft
        }
        let edit = paper.edit()
        edit.title = "edited"
        try db.save([edit])
        #expect(try stored(db)[0] == [.text("archived"), .text("shredded")])
        try paper.save {
            $0.phase = .published
            $0.next = nil
        }
        #expect(try stored(db)[0] == [.text("published"), .null])
    }

    @Test("[28] conditions compare what is stored")
    func conditions() throws {
        let db = try database()
        #expect(try Paper.where(\.phase == .draft).ids(in: db) == [2])
        #expect(try Paper.where(\.phase != .draft).ids(in: db) == [1])
    }

    @Test("[28] NULL and values of another class are errors, and input must name a case")
    func stillStrict() throws {
        let db = try Database.inMemory {
            $0.version(1) { try $0.execute("CREATE TABLE Paper (id INTEGER PRIMARY KEY, title, phase, later_phase)") }
        }
        try db.execute("INSERT INTO Paper VALUES (1, '', NULL, NULL)")
        #expect(code { _ = try Paper.all(in: db) } == .undecodable)
        try db.execute("UPDATE Paper SET phase = x'00'")
        #expect(code { _ = try Paper.all(in: db) } == .undecodable)
        #expect(code { try Paper.importJSON(#"{"id": 2, "phase": "archived"}"#, in: db) } == .undecodable)
        try Paper.importJSON(#"{"id": 2, "phase": "published"}"#, in: db)
        #expect(try Paper.find(2, in: db)?.phase == .published)
    }
}
