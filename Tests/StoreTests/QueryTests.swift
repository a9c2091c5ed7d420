import Foundation
import Store
import Testing

@Suite("Queries and SQL")
struct QueryTests {
    let test: TestDatabase
    var db: Database { test.db }

    init() throws {
        test = try TestDatabase()
        try Person.create(from: 1...5, in: test.db) {
            $0.id = Int64($1)
            $0.name = "p\($1)"
            $0.age = $1 * 10
            $0.createdTime = .now
        }
    }

    @Test("[20] where, tails, first, all, count")
    func queries() throws {
        #expect(
            try Person.where("age > \(20)").order(by: \.age, .descending).limit(2).all(in: db).map(\.name) == [
                "p5", "p4",
            ])
        #expect(try Person.where("age > ? AND name <> ?", 20, "p4").count(in: db) == 2)
        #expect(try Person.query.order(.sql("$PK DESC")).all(in: db).map(\.id) == [5, 4, 3, 2, 1])
        #expect(try Person.where("age >= \(30)").order(by: \.age).first(in: db)?.name == "p3")
        #expect(try Person.query.order(.sql("age DESC")).first(in: db)?.name == "p5")
        #expect(try Person.where("age > ?", 1_000).first(in: db) == nil)
        #expect(try Person.count(in: db) == 5)
        #expect(try Person.where("age < ?", 30).count(in: db) == 2)
        #expect(try Person.find([4, 99, 2], in: db).map(\.id) == [4, 2])
    }

    @Test("[21] an interpolated value binds, with any content; raw SQL must be marked as such")
    func interpolation() throws {
        let hostile = "x'; DROP TABLE Person; --"
        #expect(try Person.where("name = \(hostile)").isEmpty(in: db))
        #expect(try Person.count(in: db) == 5)
        let condition: SQL = "age IN (\([10, 20])) AND \(raw: "name") <> \("p1")"
        #expect(condition.text == "age IN (?, ?) AND name <> ?")
        #expect(try Person.where("\(condition)").order(by: \.age).all(in: db).map(\.name) == ["p2"])
        let none: [Int] = []
        #expect(try Person.where("age IN (\(none))").isEmpty(in: db))
        #expect(try Person.where("age IS \(Int?.none)").isEmpty(in: db))
    }

    @Test("[18] $T and $PK are replaced outside of literals, names, comments and longer parameters")
    func placeholders() throws {
        let changed = try Person.execute(
            """
            UPDATE $T -- $T it's
            SET name = '$T ''$PK' || "name" /* $PK ' */ WHERE $PK = ?
            """, 1, in: db)
        #expect(changed == 1)
        #expect(try Person.find(1, in: db)?.name == "$T '$PKp1")
    }

    @Test("[21] a wrong number of arguments is refused before anything runs")
    func arity() throws {
        #expect(code { _ = try Person.where("name = ?").all(in: db) } == .argumentCount)
        #expect(code { _ = try Person.where("name = ?", "a", "b").all(in: db) } == .argumentCount)
        #expect(code { try db.execute("UPDATE Person SET age = ?", 1, 2) } == .argumentCount)
        #expect(code { try db.execute("UPDATE Person SET age = \(1) WHERE id = ?", 2) } == .argumentCount)
        #expect(try db.value(Int.self, "SELECT count(*) FROM Person WHERE age = 1") == 0)
    }

    @Test("[52] [T15] constraint failures differ by kind, with table and column")
    func constraints() throws {
        func failure(_ sql: SQL) -> StoreError? {
            do {
                try db.execute(sql)
                return nil
            } catch {
                return error as? StoreError
            }
        }
        let unique = failure("UPDATE Person SET name = 'p2' WHERE id = 1")
        #expect(unique?.code == .unique && unique?.table == "Person" && unique?.column == "name")
        #expect(unique?.sqliteCode == 2_067)
        let notNull = failure("UPDATE Person SET created_time = NULL")
        #expect(notNull?.code == .notNull && notNull?.column == "created_time")
        #expect(failure("UPDATE Person SET age = 1000")?.code == .check)
        #expect(failure("INSERT INTO Item VALUES ('a', 't', 77)")?.code == .foreignKey)
        #expect(failure("INSERT INTO Person VALUES (1, 'n', 1, 1)")?.code == .primaryKey)
        #expect(failure("INSERT INTO NoSuchTable VALUES (1)")?.code == .missingTable)
        #expect(failure("UPDATE Person SET no_such_column = 1")?.code == .missingColumn)
        #expect(failure("UPDATE Person SET")?.code == .sql)
    }

    @Test("[52] a column that the table lacks is an error, not the text of its name")
    func missingColumn() throws {
        try db.execute("CREATE TABLE Narrow (id INTEGER PRIMARY KEY)")
        #expect(code { _ = try Narrow.all(in: db) } == .missingColumn)
        #expect(code { try Narrow.create(in: db) } == .missingColumn)
    }

    @Test("[53] a failed script leaves nothing behind, and transaction control is refused in SQL")
    func scripts() throws {
        #expect(code { try db.execute("UPDATE Person SET age = 1; UPDATE Person SET age = 1000") } == .check)
        #expect(try db.value(Int.self, "SELECT max(age) FROM Person") == 50)
        for sql in ["BEGIN", "COMMIT", " -- c\n ROLLBACK", "SAVEPOINT x"] {
            #expect(code { try db.execute(SQL(raw: sql)) } == .transactionControl)
        }
        #expect(try db.execute("UPDATE Person SET age = 1 WHERE id = 1; UPDATE Person SET age = 2 WHERE id > 3;") == 3)
    }

    @Test("[25] rows deliver columns by name with exact values")
    func rows() throws {
        let rows = try db.rows("SELECT 1 AS one, NULL AS none, x'00ff' AS blob")
        #expect(rows[0]["ONE"] == .integer(1))
        #expect(rows[0]["none"] == .null)
        #expect(rows[0]["blob"] == .blob([0, 255]))
        #expect(rows[0]["absent"] == nil)
        #expect(try db.values(String.self, "SELECT name FROM Person ORDER BY id") == ["p1", "p2", "p3", "p4", "p5"])
        #expect(try db.value(Int.self, "SELECT max(age) FROM Person WHERE id > ?", 100) == nil)
    }

    @Test("[49] a write inside of a read is refused, with every kind of write")
    func writeInsideRead() throws {
        let bob = try #require(try Person.find(1, in: db))
        try db.read {
            #expect(code { try bob.save { $0.age = 1 } } == .writeInsideRead)
            #expect(code { try db.execute("DELETE FROM Person") } == .writeInsideRead)
            #expect(code { try db.transaction {} } == .writeInsideRead)
        }
        #expect(code { _ = try db.rows("DELETE FROM Person RETURNING id") } == .readOnly)
        #expect(try Person.count(in: db) == 5)
    }
}

@Model
final class Narrow {
    var id: Int64
    var missing: String = ""
}
