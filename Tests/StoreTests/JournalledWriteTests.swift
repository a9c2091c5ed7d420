import Foundation
import GRDB
import Store
import TestSupport
import Testing

/// The journal entries of each way to write: exactly the changed rows, and one transaction for one
/// transaction.
@Suite("The journal of every way to write")
struct JournalledWriteTests {
    let test: TestDatabase
    /// p1, p2 and p3, with the keys 1 to 3 and the ages 10 to 30.
    let people: [Person]
    var db: Store.Database { test.db }

    init() throws {
        test = try TestDatabase()
        people = try Person.create(from: 1...3, in: test.db) {
            $0.id = Int64($1)
            $0.name = "p\($1)"
            $0.age = $1 * 10
            $0.createdTime = Date(timeIntervalSince1970: 1)
        }
    }

    /// The transactions that `body` adds to the journal, each with its entries, such as "update Person 1
    /// name,age". A transaction without a mark at its end ends with "…".
    private func journalled(_ body: () throws -> Void) throws -> [[String]] {
        let before = try db.value(Int64.self, "SELECT max(seq) FROM _journal") ?? 0
        try body()
        let rows = try db.rows(
            """
            SELECT CASE op WHEN 1 THEN 'insert ' WHEN 2 THEN 'update ' ELSE 'delete ' END || name || ' ' || v0
              || CASE op WHEN 2 THEN (SELECT ' ' || group_concat(c.value, ',') FROM json_each(t.columns) AS c
                                      WHERE mask >> c.key & 1) ELSE '' END AS entry, tx
            FROM _journal AS j JOIN _journal_tables AS t ON t.shape = j.shape WHERE seq > ? ORDER BY seq
            """, before)
        var transactions: [[String]] = []
        var current: [String] = []
        for row in rows {
            current.append(try row.value(String.self, "entry"))
            if row["tx"] == .integer(1) {
                transactions.append(current)
                current = []
            }
        }
        if !current.isEmpty { transactions.append(current + ["…"]) }
        return transactions
    }

    @Test(
        "[4] [9] [10] [13] [17] one object: made, saved, modified, deleted; no entry for a write that changes nothing")
    func objects() throws {
        var made: Int64 = 0
        let creation = try journalled { made = try test.person("new").id }
        #expect(creation == [["insert Person \(made)"]])
        let bob = people[0]
        #expect(try journalled { try bob.save { $0.age = 11 } } == [["update Person 1 age"]])
        #expect(try journalled { try bob.save { $0.age = 11 } } == [])
        #expect(try journalled { try Person.modify(1, in: db) { $0.name = "Bob" } } == [["update Person 1 name"]])
        #expect(try journalled { try Person.modify(99, in: db) { $0.name = "Nobody" } } == [])
        #expect(try journalled { _ = try? bob.save { $0.age = 999 } } == [])
        #expect(try journalled { try bob.delete() } == [["delete Person 1"]])
        #expect(try journalled { try bob.delete() } == [])
    }

    @Test("[11] many objects at once are one transaction, and no entry when one of them fails")
    func batches() throws {
        let saves = try journalled { try Person.save(people, in: db) { $0.age = ($0.age ?? 0) + 1 } }
        #expect(saves == [["update Person 1 age", "update Person 2 age", "update Person 3 age"]])
        let edit = people[0].edit()
        edit.name = "edited"
        let made = try Person.makeUnsaved(7, in: db) {
            $0.name = "made"
            $0.createdTime = .now
        }
        #expect(try journalled { try db.save([edit, made]) } == [["update Person 1 name", "insert Person 7"]])
        #expect(try journalled { _ = try? Person.save(people, in: db) { $0.name = "same" } } == [])
        #expect(try journalled { try db.delete([made, people[2]]) } == [["delete Person 7", "delete Person 3"]])
        #expect(try journalled { try Person.delete(people, in: db) } == [["delete Person 1", "delete Person 2"]])
    }

    @Test("[12] an upsert is an insert, or an update of the columns that differ, or nothing")
    func upserts() throws {
        func upsert(_ id: Int64, _ name: String, age: Int) throws {
            try Person.upsert(id, in: db) {
                $0.name = name
                $0.age = age
                $0.createdTime = Date(timeIntervalSince1970: 1)
            }
        }
        #expect(try journalled { try upsert(7, "new", age: 1) } == [["insert Person 7"]])
        #expect(try journalled { try upsert(7, "new", age: 2) } == [["update Person 7 age"]])
        #expect(try journalled { try upsert(7, "new", age: 2) } == [])
        #expect(try journalled { _ = try? upsert(7, "p1", age: 3) } == [])
    }

    @Test("[18] bulk SQL: each row that changes, the rows that REPLACE evicts, and all rows of a DELETE without WHERE")
    func bulkSQL() throws {
        let update = try journalled { try Person.execute("UPDATE $T SET age = age + 10 WHERE $PK < ?", 3, in: db) }
        #expect(update == [["update Person 1 age", "update Person 2 age"]])
        let partial = try journalled { try Person.execute("UPDATE $T SET age = 20", in: db) }
        #expect(partial == [["update Person 2 age", "update Person 3 age"]])
        let insert = try journalled {
            try Person.execute(
                "INSERT INTO $T (id, name, created_time) SELECT id + 10, name || '+', 1 FROM $T ORDER BY id", in: db)
        }
        #expect(insert == [["insert Person 11", "insert Person 12", "insert Person 13"]])
        let replace = try journalled { try db.execute("REPLACE INTO Person VALUES (99, 'p1', 1, 1)") }
        #expect(replace.map { $0.sorted() } == [["delete Person 1", "insert Person 99"]])
        let delete = try journalled { try Person.execute("DELETE FROM $T", in: db) }
        #expect(delete.count == 1 && delete[0].count == 6 && delete[0].allSatisfy { $0.hasPrefix("delete Person") })
    }

    @Test("[19] bulk changes by condition, by expression, and by keys in any number of statements")
    func bulkByConditions() throws {
        let update = try journalled {
            try Person.where(\.age > 10).update(.set(\.age, to: \.age + 1), .set(\.name, to: \.name + "!"), in: db)
        }
        #expect(update == [["update Person 2 name,age", "update Person 3 name,age"]])
        let keys = (1...1_200).map { Int64($0) }
        let byKeys = try journalled { try Person.update(ids: keys, .set(\.age, to: 5), in: db) }
        #expect(byKeys == [["update Person 1 age", "update Person 2 age", "update Person 3 age"]])
        #expect(try journalled { try Person.where(\.id == 1).delete(in: db) } == [["delete Person 1"]])
        #expect(try journalled { try Person.delete(ids: keys, in: db) } == [["delete Person 2", "delete Person 3"]])
    }

    @Test("[53] scripts, GRDB's handle, tables WITHOUT ROWID, triggers, foreign-key actions, and other programs")
    func rawSQL() throws {
        let script = try journalled {
            try db.execute(
                """
                INSERT INTO order_line VALUES ('a', 1, 1);
                UPDATE order_line SET count = 2;
                UPDATE Person SET age = 1 WHERE id = 1
                """)
        }
        #expect(script == [["insert order_line a", "update order_line a count", "update Person 1 age"]])
        #expect(try journalled { _ = try? db.execute("DELETE FROM Person; nonsense") } == [])
        let grdb = try journalled { try db.withGRDB { try $0.execute(sql: "UPDATE Person SET age = 2 WHERE id = 1") } }
        #expect(grdb == [["update Person 1 age"]])
        try db.execute(
            """
            CREATE TRIGGER follow AFTER UPDATE OF age ON Person BEGIN
              UPDATE order_line SET count = NEW.age;
            END
            """)
        let trigger = try journalled { try people[0].save { $0.age = 3 } }
        #expect(trigger == [["update Person 1 age", "update order_line a count"]])
        try db.execute("INSERT INTO Item VALUES ('i', 'hat', 2)")
        let cascade = try journalled { try people[1].delete() }
        #expect(cascade.map { $0.sorted() } == [["delete Item i", "delete Person 2"]])
        // A program without Tandem marks no end.
        let program = try RawConnection(path: test.path)
        let foreign = try journalled { try program.run("UPDATE Person SET age = 4 WHERE id = 3") }
        #expect(foreign == [["update Person 3 age", "update order_line a count", "…"]])
    }

    @Test("[37] [38] [40] a rollback, whole or in part, leaves no entry; a silent write leaves all its entries")
    func transactions() throws {
        let outer = try journalled {
            try db.transaction {
                try people[0].save { $0.age = 11 }
                try? db.transaction {
                    try people[1].save { $0.age = 21 }
                    try db.execute("DELETE FROM Person")
                    throw Refused()
                }
                try db.silently { try people[2].save { $0.age = 31 } }
            }
        }
        #expect(outer == [["update Person 1 age", "update Person 3 age"]])
        let undone = try journalled {
            _ = try? db.transaction {
                try people[0].save { $0.age = 12 }
                try db.execute("DELETE FROM Person")
                throw Refused()
            }
        }
        #expect(undone == [])
    }
}
