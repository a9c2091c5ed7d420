import Foundation
import GRDB
import Store
import TestSupport
import Testing

@Suite("Import, export and statements as values")
struct ExchangeTests {
    let test: TestDatabase
    var db: Store.Database { test.db }

    init() throws { test = try TestDatabase() }

    private func makeEverything(_ key: String, in db: Store.Database) throws -> Everything {
        try Everything.create(key, in: db) {
            $0.int = .min
            $0.large = UInt64(Int64.max)
            $0.flag = true
            $0.double = 0.1 + 0.2
            $0.float = .leastNonzeroMagnitude
            $0.text = "quote \" back \\ line \n tab \t nul \u{0} emoji 🙂 \u{1}"
            $0.data = Data([0, 255, 0])
            $0.moment = Date(timeIntervalSince1970: 1_234_567_890.123456)
            $0.uuid = UUID()
            $0.uuidBlob = UUID()
            $0.amount = Decimal(string: "123456789012345678.901234567") ?? 0
            $0.mood = .bad
            $0.address = Address(city: "Köln", zip: 50_667)
            $0.tags = ["a", "b"]
        }
    }

    @Test(
        "[60] [T14] a JSON export and import gives the same bytes in the file: integers, doubles, blobs, dates, texts")
    func roundTrip() throws {
        _ = try makeEverything("one", in: db)
        try db.execute(
            """
            INSERT INTO "every thing" (key, int, small, large, flag, double, float, text, data, moment, milliseconds, uuid, amount, mood, tags)
            VALUES ('two', 9223372036854775807, -128, 9007199254740993, 0, 1.7976931348623157e308, 1.0, '', x'', -0.0, 5,
              '00000000-0000-7000-8000-000000000000', '3', 'good', '[]')
            """)
        let json = try Everything.exportJSON(in: db)
        #expect(json.contains("9007199254740993") && json.contains("9223372036854775807"))
        let other = try TestDatabase()
        #expect(try Everything.importJSON(json, in: other.db) == 2)
        #expect(try Everything.exportJSON(in: other.db) == json)
        let dump =
            "SELECT key, quote(int), quote(large), quote(double), quote(float), hex(text), quote(data), quote(moment), amount FROM \"every thing\" ORDER BY key"
        let (here, there) = (try db.rows(SQL(raw: dump)), try other.db.rows(SQL(raw: dump)))
        #expect(here.map(\.values) == there.map(\.values))
        // Foundation reads it: it is plain JSON.
        #expect(try JSONSerialization.jsonObject(with: Data(json.utf8)) is [[String: Any]])
    }

    @Test("[60] infinite doubles, texts that are not UTF-8, and 1 against 1.0 keep their class")
    func oddValues() throws {
        try db.execute("CREATE TABLE Odd (id INTEGER PRIMARY KEY, value)")
        try db.execute(
            "INSERT INTO Odd VALUES (1, 1), (2, 1.0), (3, 9e999), (4, CAST(x'FF00' AS TEXT)), (5, x'FF'), (6, NULL), (7, -9e999)"
        )
        let json = try Odd.exportJSON(in: db)
        try db.execute("CREATE TABLE Copy AS SELECT * FROM Odd; DELETE FROM Odd")
        #expect(try Odd.importJSON(json, in: db) == 7)
        let different = try db.value(
            Int.self,
            "SELECT count(*) FROM Odd JOIN Copy USING (id) WHERE typeof(Odd.value) <> typeof(Copy.value) OR hex(Odd.value) <> hex(Copy.value)"
        )
        #expect(different == 0)
    }

    @Test("[60] dictionaries insert and change rows, by names of properties or columns")
    func dictionaries() throws {
        let bob = try Person.create(
            fields: ["name": .text("Bob"), "createdTime": .real(1.5), "age": .integer(3)], in: db)
        #expect(bob.createdTime == Date(timeIntervalSince1970: 1.5))
        #expect(try bob.save(fields: ["age": .null]))
        #expect(bob.age == nil)
        #expect(try bob.save(fields: ["created_time": .real(1.5)]) == false)
        let values = try bob.encodedValues
        #expect(values == ["id": .integer(bob.id), "name": .text("Bob"), "age": .null, "created_time": .real(1.5)])
        let same = try Person.importJSON(bob.exportJSON(), existing: .skip, in: db)
        #expect(same == 0)
    }

    @Test("[60] input that does not fit is a typed error with the column, and nothing is imported")
    func wrongInput() throws {
        let bob = try test.person("Bob")
        let journal = try test.journalCount()
        func failure(_ json: String) -> StoreError? {
            do {
                try Person.importJSON(json, in: db)
                return nil
            } catch { return error as? StoreError }
        }
        let good = "{\"name\": \"Ann\", \"created_time\": 1}"
        for (json, expected, column) in [
            ("[\(good), {\"name\": \"x\", \"created_time\": 1, \"shoe\": 2}]", StoreError.Code.invalidInput, "shoe"),
            ("[\(good), {\"name\": 5, \"created_time\": 1}]", .undecodable, "name"),
            ("[\(good), {\"name\": \"x\", \"created_time\": [1]}]", .undecodable, "created_time"),
            ("[\(good), {\"name\": \"x\"}]", .missingValue, "created_time"),
            ("[\(good), {\"name\": \"Bob\", \"created_time\": 1}]", .unique, "name"),
            ("[\(good), {\"name\": null, \"created_time\": 1}]", .undecodable, "name"),
            ("[\(good), {\"age\": 1.5, \"name\": \"x\", \"created_time\": 1}]", .undecodable, "age"),
            ("[\(good), {\"createdTime\": 1, \"name\": \"x\", \"created_time\": 1}]", .invalidInput, "created_time"),
        ] {
            let error = failure(json)
            #expect(error?.code == expected, "\(json) \(String(describing: error))")
            #expect(error?.column == column && error?.table == "Person", "\(String(describing: error))")
        }
        for json in [
            "", "[", "[1]", "{\"a\": 1} x", "{\"name\": \"\\ud800\"}", "{\"a\": 1, \"a\": 2}", "[01]",
            "{\"id\": 9223372036854775808}",
            "{\"name\": \"a\u{1}\"}", String(repeating: "[", count: 100_000), "nul", "{\"a\": 1e999}",
        ] {
            #expect(failure(json)?.code == .invalidInput, "\(json.prefix(40))")
        }
        #expect(try Person.count(in: db) == 1)
        #expect(try test.journalCount() == journal)
        #expect(try bob.save { $0.age = 1 })
    }

    @Test("[60] an import updates or skips existing rows")
    func existing() throws {
        let bob = try test.person("Bob", age: 1)
        let json = "[{\"id\": \(bob.id), \"age\": 2}, {\"name\": \"Ann\", \"createdTime\": 0.5}]"
        #expect(try Person.importJSON(json, existing: .update, in: db) == 2)
        #expect(bob.age == 2 && bob.name == "Bob")
        #expect(try Person.importJSON("{\"id\": \(bob.id), \"age\": 9}", existing: .skip, in: db) == 0)
        #expect(bob.age == 2)
        #expect(
            code { try Person.importJSON("{\"id\": \(bob.id), \"name\": \"x\", \"created_time\": 1}", in: db) }
                == .primaryKey)
        #expect(try Person.exportJSON("WHERE name = \("Ann")", in: db).contains("Ann"))
    }

    @Test("[54] the statements of Store are values with the same effect")
    func statements() throws {
        #expect(
            Person.insertSQL
                == "INSERT OR ABORT INTO \"Person\" (\"id\", \"name\", \"age\", \"created_time\") VALUES (?, ?, ?, ?)")
        #expect(
            try Person.updateSQL("createdTime")
                == "UPDATE OR ABORT \"Person\" SET \"created_time\" = ? WHERE \"Person\".\"id\" = ?")
        #expect(Person.deleteSQL == "DELETE FROM \"Person\" WHERE \"Person\".\"id\" = ?")
        #expect(code { _ = try Person.updateSQL("shoe") } == .missingColumn)
        let bob = try test.person("Bob", age: 1)
        let insert = try bob.insertStatement()
        let upsert = try bob.upsertStatement()
        #expect(try db.execute(upsert) == 0)  // the same row: nothing is written
        #expect(try db.execute(bob.deleteStatement()) == 1)
        #expect(bob.isDeleted)
        #expect(try db.execute(insert) == 1)
        #expect(!bob.isDeleted)
        try db.execute("UPDATE Person SET age = 7")
        #expect(try db.execute(upsert) == 1)
        #expect(bob.age == 1)
        let line = try OrderLine.create(.init(order: 1, line: "a"), in: db)
        #expect(try db.execute(line.upsertStatement()) == 0)
        #expect(try db.execute(line.updateStatement("count")) == 1)
        // A clash in another UNIQUE column does not overwrite a row.
        #expect(
            code {
                try db.execute(
                    "INSERT INTO Person (id, name, created_time) VALUES (5, 'Bob', 1) ON CONFLICT (id) DO UPDATE SET name = excluded.name"
                )
            } == .unique)
    }
}

@Model
final class Odd {
    var id: Int64
    var value: Value?
}
