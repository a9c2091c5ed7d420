import Dispatch
import Foundation
import Observation
import Store
import Testing

@Suite("Article: live data", .timeLimit(.minutes(1)))
struct LiveDataTests {
    let file = ArticleFile()

    @Test("[39, 41] change events tell rows, columns, old values and origin; filters narrow them")
    func events() async throws {
        let db = try file.open()
        let bob = try Person.create(in: db) { $0.name = "Bob" }
        let changes = Person.changes(in: db)
        let renames = Person.changes(in: db, columns: [\.name])
        let others = Person.changes(in: db, ignoring: [\.visits])
        let bobs = Person.changes(in: db, id: bob.id)
        try Person.create(in: db) { $0.name = "Eve" }
        try bob.save { $0.visits = 1 }
        try bob.save { $0.name = "Robert" }
        var seen: [(id: Int64, kind: RowChange<Person>.Kind, columns: Set<String>, old: String?)] = []
        var origin: ChangeOrigin?
        for await change in changes {
            for row in change.changes { seen.append((row.id, row.kind, row.columns, row.old?.name)) }
            origin = change.origin  // .local, or .remote with the other machine's id
            break
        }
        #expect(seen.count == 1 && seen[0].kind == .inserted && origin == .local)
        for filtered in [renames, others] {
            let iterator = filtered.makeAsyncIterator()
            #expect(await iterator.next()?.inserted.count == 1)
            #expect(await iterator.next()?.columns == ["name"])
        }
        #expect(await bobs.makeAsyncIterator().next()?.columns == ["visits"])
    }

    @Test("[40, 42] a save that changes nothing, and a silent one, are told to nobody")
    func silence() async throws {
        let db = try file.open()
        let bob = try Person.create(in: db) { $0.name = "Robert" }
        let changes = Person.changes(in: db)
        let isWritten = try bob.save { $0.name = "Robert" }  // false: it was the name already
        try db.silently { try bob.save { $0.visits += 1 } }
        try bob.delete()
        #expect(!isWritten && bob.visits == 1)
        #expect(await changes.makeAsyncIterator().next()?.changes.map(\.kind) == [.deleted])
    }

    @Test("[45] results, values and objects follow; observation tells")
    func following() async throws {
        let db = try file.open()
        let bob = try Person.create(in: db) {
            $0.name = "Bob"; $0.age = 70
        }
        var (shown, sum, name) = ([String](), Int?.none, String?.none)
        for try await people in Person.where(\.age > 60).order(by: \.name).live(in: db) {
            shown = people.map(\.name)
            break
        }
        for try await total in db.live({ try db.value(Int.self, "SELECT sum(visits) FROM Person") }) {
            sum = total
            break
        }
        for try await values in bob.live() {
            name = values?.name  // nil when the row is deleted
            break
        }
        #expect(shown == ["Bob"] && sum == 0 && name == "Bob")
        let observed = DispatchSemaphore(value: 0)
        withObservationTracking {
            _ = bob.name
        } onChange: {
            observed.signal()  // after the commit
        }
        try bob.save { $0.name = "Robert" }
        #expect(observed.wait(timeout: .now()) == .success)
    }

    @Test("[44, 46, 47] cached results are dropped by the commits that change them")
    func caches() throws {
        let db = try file.open()
        let bob = try Person.create(in: db) {
            $0.name = "Bob"; $0.age = 70
        }
        let old = try Person.where(\.age > 60).order(by: \.name).cached(ignoring: [\.visits], in: db)
        let total = try db.cached("total") { try Person.query.sum(\.visits, in: db) }
        #expect(old.count == 1 && total == 0)
        try bob.save { $0.visits = 5 }
        #expect(try db.cached("total") { try Person.query.sum(\.visits, in: db) } == 5)
        db.evictAll()
        let held = db.metrics.liveObjects["Person"]
        #expect(held == 1)
        try db.refresh()
        try db.notifyExternalChange()
        withExtendedLifetime(bob) {}
    }
}
