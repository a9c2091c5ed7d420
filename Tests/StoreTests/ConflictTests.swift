import Foundation
import GRDB
import Journal
import Store
import Testing

@Suite("Conflicts and held rows of a database", .timeLimit(.minutes(1)))
struct ConflictTests {
    let test: TestDatabase
    var db: Store.Database { test.db }

    init() throws { test = try TestDatabase() }

    /// Writes what the replication writes at a conflict: the losing change is the newest journal entry, and
    /// the winner the one before it.
    private func recordConflict(kind: String = "update/update") throws {
        let replica = try Replica.open(at: db.path)
        try replica.write { db in
            try db.execute(
                sql: """
                    INSERT INTO _journal_conflicts (id, tbl, key, kind, columns, lost_origin, lost_version, lost_seq,
                      kept_seq, kept_life, kept_stamp, kept_origin, time)
                    SELECT (SELECT coalesce(max(id), 0) + 1 FROM _journal_conflicts), t.tbl, x'00', ?, '["age"]', 0, j.seq,
                      j.seq, j.seq - 1, 1, 1, zeroblob(16), 5
                    FROM _journal AS j JOIN _journal_tables AS t USING (shape) ORDER BY j.seq DESC LIMIT 1
                    """, arguments: [kind])
        }
        try replica.close()
    }

    @Test("a restored value appears in live objects, and the entry is closed")
    func restore() throws {
        let bob = try test.person("Bob", age: 1)
        try bob.save { $0.age = 2 }
        try recordConflict()
        try bob.save { $0.age = 3 }
        let conflict = try #require(try db.conflicts().first)
        #expect(conflict.lost.map(\.value) == [.integer(2)])
        #expect(try db.restoreConflicts([conflict.id]).map(\.state) == [.restored])
        #expect(bob.age == 2)
        #expect(try db.conflicts().isEmpty)
        #expect(try db.conflicts(ConflictFilter(states: [.restored])).count == 1)
    }

    @Test("a restore inside of a transaction is undone with it")
    func rolledBack() throws {
        let bob = try test.person("Bob", age: 1)
        try bob.save { $0.age = 2 }
        try recordConflict()
        try bob.save { $0.age = 3 }
        struct Refused: Error {}
        #expect(throws: Refused.self) {
            try db.transaction {
                try db.restoreConflicts([1])
                #expect(bob.age == 2)
                throw Refused()
            }
        }
        #expect(bob.age == 3)
        #expect(try db.conflicts().count == 1)
    }

    @Test("an entry that cannot be restored is an error with a code, also inside of a transaction that continues")
    func refused() throws {
        let bob = try test.person("Bob", age: 1)
        try bob.save { $0.age = 2 }
        try recordConflict()
        try db.transaction {
            let error = #expect(throws: StoreError.self) { try db.restoreConflicts([1, 9]) }
            #expect(error?.code == .unknownConflict)
            try bob.save { $0.age = 4 }
        }
        #expect(bob.age == 4)
        #expect(try db.conflicts().count == 1)
        #expect(throws: StoreError.self) { try db.dismissConflicts([9]) }
    }

    @Test("dismissed entries are not listed")
    func dismiss() throws {
        for number in 0..<3 {
            try test.person("Bob \(number)", age: 1).save { $0.age = 2 }
            try recordConflict()
        }
        #expect(try db.dismissConflicts([1]).map(\.state) == [.dismissed])
        #expect(try db.dismissConflicts(matching: ConflictFilter(table: "Person")) == 2)
        #expect(try db.conflicts().isEmpty)
    }

    @Test("new conflicts arrive from any process")
    func sequence() async throws {
        try test.person("Bob", age: 1).save { $0.age = 2 }
        try recordConflict()
        var conflicts = try db.newConflicts().makeAsyncIterator()
        try test.person("Ann", age: 1).save { $0.age = 2 }
        try recordConflict(kind: "key change")
        #expect(try await conflicts.next()?.kind == .keyChange)
    }

    @Test("held rows are reported")
    func held() throws {
        #expect(try db.heldRows().isEmpty)
        let bob = try test.person("Bob", age: 1)
        var image = RowImage()
        image.columns = ["id": .integer(bob.id + 1), "age": .integer(5)]
        let replica = try Replica.open(at: db.path)
        try replica.write { db in
            try db.execute(
                sql: """
                    INSERT INTO _journal_held (tbl, key, reason, detail, image)
                    SELECT tbl, x'01', 'unique', 'taken', ?
                    FROM _journal_tables WHERE name = 'Person'
                    """, arguments: [Data(image.encoded())])
        }
        try replica.close()
        let held = try #require(try db.heldRows(table: "Person").first)
        #expect(held.key.map(\.value) == [.integer(bob.id + 1)])
        #expect(held.row?.columns.map(\.value) == [.integer(5)] && held.reason == "unique")
        #expect(try db.heldRows(reason: "check").isEmpty)
    }
}
