import Store
import TestSupport
import Testing

/// Records its hooks in the order of their calls.
@Model(table: "Note")
final class HookedNote {
    var id: Int64
    var text: String = ""

    static func willInsert(_ fields: inout Fields) throws {
        if fields.text == "refused" { throw Refused() }
        fields.text = fields.text.lowercased()
    }

    func willUpdate(_ fields: inout Fields) throws {
        if fields.text == "refused" { throw Refused() }
        if fields.text == "undo" { fields.text = text }
    }

    func willDelete() throws {
        if text == "kept" { throw Refused() }
    }

    func didInsert() { HookTests.calls.append("insert \(text) \(id)") }
    func didUpdate(_ columns: Set<String>) { HookTests.calls.append("update \(columns.sorted()) \(text) \(id)") }
    func didDelete() { HookTests.calls.append("delete \(id)") }
}

@Suite("Hooks", .serialized)
struct HookTests {
    static let calls = Collected<String>()
    let directory = TemporaryDirectory()
    let db: Database

    init() throws {
        db = try Database(path: directory.file("a.sqlite"), options: TestDatabase.options) {
            $0.version(1) { try $0.execute("CREATE TABLE Note (id INTEGER PRIMARY KEY, text TEXT NOT NULL)") }
        }
    }

    private func calls(of id: Int64) -> [String] {
        HookTests.calls.all.filter { $0.hasSuffix(" \(id)") }.map { String($0.dropLast("\(id)".count + 1)) }
    }

    @Test("[43] a hook that throws refuses the write; memory, file and journal are as before")
    func veto() throws {
        #expect(throws: Refused.self) { try HookedNote.create(in: db) { $0.text = "refused" } }
        let note = try HookedNote.create(in: db) { $0.text = "KEPT" }
        #expect(note.text == "kept")
        #expect(throws: Refused.self) { try note.save { $0.text = "refused" } }
        #expect(throws: Refused.self) { try note.delete() }
        #expect(note.text == "kept" && !note.isDeleted)
        #expect(try db.value(Int.self, "SELECT count(*) FROM _journal") == 1)
        #expect(try note.save { $0.text = "undo" } == false)
        #expect(calls(of: note.id) == ["insert kept"])
    }

    @Test("[43] what has happened is told after the commit, in order, and not after a rollback")
    func afterCommit() throws {
        let note = try HookedNote.create(in: db) { $0.text = "a" }
        try db.transaction {
            try note.save { $0.text = "b" }
            try? db.transaction {
                try note.save { $0.text = "lost" }
                throw Refused()
            }
            #expect(calls(of: note.id) == ["insert a"])
        }
        #expect(calls(of: note.id) == ["insert a", "update [\"text\"] b"])
        try? db.transaction {
            try note.delete()
            throw Refused()
        }
        #expect(calls(of: note.id).count == 2)
        try note.delete()
        try note.delete()
        #expect(calls(of: note.id).last == "delete" && calls(of: note.id).count == 3)
    }
}
