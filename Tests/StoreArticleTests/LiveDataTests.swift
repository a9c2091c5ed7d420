import Dispatch
import Foundation
import Observation
import Store
import Testing

@Suite("Article: live data", .timeLimit(.minutes(1)))
struct LiveDataTests {
    let file = ArticleFile()

    @Test("[39, 41] change events have rows, columns, old values and origin; filters select them")
    func events() async throws {
        let db = try file.open()
        let bob = try Person.create(in: db) { $0.name = "Bob" }
        let changes = Person.changes(in: db)
        let renames = Person.changes(in: db, columns: [\.name])
        let others = Person.changes(in: db, ignoring: [\.visits])
        let bobs = Person.changes(in: db, id: bob.id)
        let comings = Person.changes(in: db, kinds: [.inserted, .deleted])
        let renamed = Person.changes(in: db, kinds: [.updated], columns: [\.name])  // kinds beside each of the others
        let everything = db.changes()  // or `changes(of: Person.self, kinds: [.deleted])`
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
        #expect(await comings.makeAsyncIterator().next()?.inserted.count == 1)
        #expect(await renamed.makeAsyncIterator().next()?.updated == [bob.id])
        var (tables, inserted) = ([String](), [Int64]())
        for await change in everything {
            tables.append(change.table)
            if let people = change.of(Person.self) { inserted += people.inserted }
            break
        }
        #expect(tables == ["Person"] && inserted == seen.map(\.id))
    }

    @Test("[40, 42] a save that changes nothing, and a silent one, have no event")
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

    @Test("[45] results, values and objects follow; observers are notified")
    func following() async throws {
        let db = try file.open()
        let bob = try Person.create(in: db) {
            $0.name = "Bob"; $0.age = 70
        }
        var (shown, sum, name) = ([String](), Int?.none, String?.none)
        let now = bob.values
        let line = "\(now.name): \(now.visits)"
        #expect(line == "Bob: 0")
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

    @Test("[44, 46, 47] the commits that change cached results drop them")
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

    @Test("[44] updates of ignored columns keep a cached result, inserts and deletes drop it")
    func ignoredColumns() throws {
        let db = try file.open()
        let people = try Person.create(from: [5, 3], in: db) {
            $0.name = "p\($1)"; $0.visits = $1
        }
        func names() throws -> [String] {
            let top = try Person.query.order(.descending(\.visits)).limit(10).cached(ignoring: [\.visits], in: db)
            return top.map(\.name)
        }
        func frequent() throws -> Int {
            let count = try db.cached("frequent", ignoringColumns: ["visits"]) {
                try Person.where(\.visits > 4).count(in: db)
            }
            return count
        }
        #expect(try names() == ["p5", "p3"] && frequent() == 1)
        try people[1].save { $0.visits = 9 }
        #expect(try names() == ["p5", "p3"] && frequent() == 1)
        try Person.create(in: db) { $0.name = "p1" }
        #expect(try names() == ["p3", "p5", "p1"] && frequent() == 2)
    }

    @Test("conflicts and held rows can be read and restored")
    func otherMachines() throws {
        let db = try file.open()
        let bob = try Person.create(in: db) { $0.name = "Bob" }
        try bob.save { $0.age = 41 }
        // As replication records it: the newest change lost against the one before it.
        try db.execute(
            """
            INSERT INTO _journal_conflicts (id, tbl, key, kind, columns, lost_origin, lost_version, lost_seq, kept_seq,
              kept_life, kept_stamp, kept_origin, time)
            SELECT 1, tbl, x'00', 'update/update', '["age"]', 0, seq, seq, seq - 1, 1, 1, zeroblob(16), 5
            FROM _journal JOIN _journal_tables USING (shape) ORDER BY seq DESC LIMIT 1
            """)
        try bob.save { $0.age = 42 }
        var (lost, waiting) = ([String](), [String]())
        for conflict in try db.conflicts(ConflictFilter(table: "Person")) {
            for value in conflict.lost { lost.append(value.column) }  // and `kept`: what stayed, from where, since when
            try db.restoreConflicts([conflict.id])  // or `dismissConflicts`
        }
        #expect(try lost == ["age"] && bob.age == 41 && db.conflicts().isEmpty)
        // A row with the key 9 that was received and is held.
        try db.execute(
            """
            INSERT INTO _journal_held (tbl, key, reason, detail, image)
            SELECT tbl, x'09', 'unique', 'its name is taken', x'00000000000000026964010000000000000009'
            FROM _journal_tables WHERE name = 'Person'
            """)
        for row in try db.heldRows(table: "Person") {
            waiting.append("\(row.reason): \(row.detail)")  // such as `unique`, with a sentence
        }
        #expect(waiting == ["unique: its name is taken"])
    }
}
