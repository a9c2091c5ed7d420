import Foundation
import Journal
import Store
import TestSupport
import Testing

@Suite("Edits of a row that others have changed", .timeLimit(.minutes(1)))
struct MeetingTests {
    /// The writer that changes the row while it is edited.
    enum Writer: CaseIterable {
        case save
        case bulkStatement
        case otherDatabase
        case otherProgram
        case otherMachine

        /// Sets the age to 40, and a column without an edit.
        func write(_ bob: Person, in test: TestDatabase) throws {
            let sql = "UPDATE Person SET age = 40, created_time = 7 WHERE id = \(bob.id)"
            switch self {
            case .save:
                try bob.save {
                    $0.age = 40
                    $0.createdTime = Date(timeIntervalSince1970: 7)
                }
            case .bulkStatement: try test.db.execute(SQL(raw: sql))
            case .otherDatabase:
                let other = try Database(path: test.path, options: TestDatabase.options)
                try other.execute(SQL(raw: sql))
                try other.close()
            case .otherProgram: try RawConnection(path: test.path).run(sql)
            case .otherMachine:
                try RemoteRows.apply(to: test.path) { remote in
                    try remote.write(
                        "Person", insert: false, key: [.integer(bob.id)],
                        ["age": .integer(40), "created_time": .real(7)])
                }
            }
        }
    }

    /// The rule of the edit.
    enum Rule: CaseIterable {
        case nothing
        case keepLocal
        case takeDatabase
        case merge

        /// - Parameter resolve: The closure for `.merge`.
        func edit<M: Model>(
            _ object: M, _ resolve: @escaping @Sendable (inout M.Fields, Conflict<M>) -> Void
        ) -> Edit<M> {
            switch self {
            case .nothing: object.edit()
            case .keepLocal: object.edit(onConflict: .keepLocal)
            case .takeDatabase: object.edit(onConflict: .takeDatabase)
            case .merge: object.edit(onConflict: .merge(resolve))
            }
        }

        /// The result for a number that began as 30, was edited to 31, and that another writer set to 40.
        var outcome: Int {
            switch self {
            case .nothing, .keepLocal: 31
            case .takeDatabase: 40
            case .merge: 41
            }
        }
    }

    @Test(
        "[16] the policy decides columns that both have changed, and no others, for any writer, before and after a refresh",
        arguments: Writer.allCases, Rule.allCases)
    func meeting(writer: Writer, rule: Rule) throws {
        for looksFirst in [true, false] {
            let test = try TestDatabase()
            let bob = try test.person("Bob", age: 30)
            let asked = Collected<Conflict<Person>>()
            let edit = rule.edit(bob) { merged, conflict in
                asked.append(conflict)
                merged.age = (conflict.local.age ?? 0) + (conflict.database.age ?? 0) - (conflict.base.age ?? 0)
            }
            edit.age = 31
            edit.name = "Robert"
            try writer.write(bob, in: test)
            if looksFirst {
                try test.db.refresh()
                #expect(bob.age == 40 && edit.conflicts == ["age"])
                let shown = rule == .takeDatabase ? 40 : 31
                #expect(edit.age == shown && edit.name == "Robert")
                #expect(edit.createdTime == Date(timeIntervalSince1970: 7))
            }
            #expect(try edit.save())
            let row = try test.db.rows("SELECT name, age, created_time FROM Person")
            #expect(row.map(\.values) == [[.text("Robert"), .integer(Int64(rule.outcome)), .real(7)]])
            #expect(bob.age == rule.outcome && bob.name == "Robert")
            #expect(!edit.hasChanges && edit.conflicts.isEmpty)
            // The save writes only what it must: the name, and the age unless the database's value stays.
            let mask = rule == .takeDatabase ? 0b010 : 0b110
            #expect(try test.db.value(Int.self, "SELECT mask FROM _journal ORDER BY seq DESC LIMIT 1") == mask)
            let contested: [Set<String>] = rule == .merge ? [["age"]] : []
            #expect(asked.all.map(\.columns) == contested)
        }
    }

    @Test(
        "[16] an edit that merges with a pulled change ends equal on both machines, without a conflict",
        arguments: Rule.allCases)
    func exchange(rule: Rule) throws {
        let declare = { (schema: inout SchemaBuilder) in
            schema.version(1) {
                try $0.execute("CREATE TABLE Seat (id INTEGER PRIMARY KEY, room INTEGER, label TEXT NOT NULL)")
            }
        }
        let (here, there) = (try ReplicatedDatabase(declare), try ReplicatedDatabase(declare))
        let mine = try Seat.create(7, in: here.db) {
            $0.room = 30
            $0.label = "A"
        }
        try there.pull(from: here)
        try there.db.refresh()
        let theirs = try #require(try Seat.find(7, in: there.db))
        let edit = rule.edit(mine) { merged, conflict in
            merged.room = (conflict.local.room ?? 0) + (conflict.database.room ?? 0) - (conflict.base.room ?? 0)
        }
        edit.room = 31
        edit.label = "B"
        try theirs.save { $0.room = 40 }
        try here.pull(from: there)
        #expect(try edit.save())
        try there.pull(from: here)
        try there.db.refresh()
        #expect(mine.room == Int64(rule.outcome) && mine.label == "B")
        #expect(theirs.room == mine.room && theirs.label == "B")
        // The save had seen both sides, and the pulled change was not published again as an own one.
        #expect(try here.db.conflicts().isEmpty && there.db.conflicts().isEmpty)
        #expect(try here.db.value(Int.self, "SELECT count(*) FROM _journal WHERE origin IS NULL") == 2)
        #expect(try there.db.value(Int.self, "SELECT count(*) FROM _journal WHERE origin IS NULL") == 1)
    }
}
