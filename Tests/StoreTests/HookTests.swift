import Foundation
import Store
import Synchronization
import Testing

/// A model whose hooks trim, refuse and record.
@Model
final class Hooked {
    var id: Int64
    var name: String = ""

    static let notes = Mutex<[Int64: [String]]>([:])

    static func willInsert(_ fields: inout Fields) throws {
        fields.name = fields.name.trimmingCharacters(in: .whitespaces)
        if fields.name == "refused" { throw Refused() }
    }

    func willUpdate(_ fields: inout Fields) throws {
        if fields.name == "refused" { throw Refused() }
        fields.name += "!"
    }

    func willDelete() throws {
        if name == "kept" { throw Refused() }
    }

    func didInsert() { note("inserted") }
    func didUpdate(_ columns: Set<String>) { note("updated \(columns.sorted())") }
    func didDelete() { note("deleted") }

    private func note(_ text: String) { Hooked.notes.withLock { $0[id, default: []].append(text) } }
    var noted: [String] { Hooked.notes.withLock { $0[id] ?? [] } }
}

@Suite("Hooks of a model")
struct HookTests {
    let test: TestDatabase
    var db: Database { test.db }

    init() throws {
        test = try TestDatabase()
        try test.db.execute("CREATE TABLE Hooked (id INTEGER PRIMARY KEY, name TEXT NOT NULL)")
    }

    @Test("[43] hooks change what is written, and the others run once after the commit")
    func order() throws {
        let object = try db.transaction {
            let object = try Hooked.create(in: db) { $0.name = " a " }
            #expect(object.name == "a" && object.noted.isEmpty)
            return object
        }
        try object.save { $0.name = "b" }
        #expect(object.name == "b!")
        try object.save { _ in }
        try object.delete()
        try object.delete()
        #expect(object.noted == ["inserted", "updated [\"name\"]", "deleted"])
    }

    @Test("[43] a hook that throws refuses the write, and nothing changes")
    func veto() throws {
        #expect(throws: Refused.self) { try Hooked.create(in: db) { $0.name = "refused" } }
        let object = try Hooked.makeUnsaved(in: db) { $0.name = "kept" }
        #expect(try object.save())
        #expect(throws: Refused.self) { try object.save { $0.name = "refused" } }
        #expect(throws: Refused.self) { try object.delete() }
        #expect(object.name == "kept" && object.existsInDatabase)
        #expect(try Hooked.count(in: db) == 1)
    }

    @Test(
        "[12] [43] upserts, bulk statements and SQL run no hooks; insert runs the hook before it, as it has no object")
    func withoutHooks() throws {
        let object = try Hooked.upsert(1, in: db) { $0.name = " refused " }
        #expect(object.name == " refused ")
        try Hooked.where(\.id == 1).update(.set(\.name, to: "kept"), in: db)
        #expect(object.name == "kept")
        try Hooked.query.delete(in: db)
        try db.execute("INSERT INTO Hooked VALUES (1, 'refused')")
        #expect(object.name == "refused" && object.noted.isEmpty)
        try Hooked.insertRows(from: [" a "], in: db) { $0.name = $1 }
        let inserted = try #require(try Hooked.where(\.name == "a").first(in: db))
        #expect(inserted.noted.isEmpty)
        #expect(throws: Refused.self) { try Hooked.insertRows(from: ["b", "refused"], in: db) { $0.name = $1 } }
        #expect(try Hooked.count(in: db) == 2)
    }

    @Test("[43] nothing is reported of a rollback, as a whole or in part")
    func rollback() throws {
        let object = try Hooked.create(in: db) { $0.name = "a" }
        try? db.transaction {
            try object.save { $0.name = "b" }
            throw Refused()
        }
        try db.transaction {
            try? db.transaction {
                try object.delete()
                throw Refused()
            }
            try object.save { $0.name = "c" }
        }
        #expect(object.noted == ["inserted", "updated [\"name\"]"])
    }
}
