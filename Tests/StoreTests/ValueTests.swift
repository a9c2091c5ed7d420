import Foundation
import Store
import Testing

@Suite("Values")
struct ValueTests {
    let test: TestDatabase
    var db: Database { test.db }

    init() throws { test = try TestDatabase() }

    /// Reads the row in a database of its own, so that no live object can answer from memory.
    private func reread(_ key: String) throws -> Everything {
        try Database(path: test.path, options: TestDatabase.options).read(key)
    }

    @Test("[28] [29] every type reads back as it was stored")
    func roundTrip() throws {
        let uuid = UUID()
        let moment = Date(timeIntervalSinceReferenceDate: 812_345_678.123456789)
        let made = try Everything.create("k", in: db) {
            $0.int = .min
            $0.small = -128
            $0.large = UInt64(Int64.max)
            $0.flag = true
            $0.double = 0.1 + 0.2
            $0.float = 1.1
            $0.text = "nul \0 and é"
            $0.data = Data([0, 255])
            $0.moment = moment
            $0.milliseconds = Date(timeIntervalSince1970: 1.2345)
            $0.spelled = Date(timeIntervalSince1970: 1_234_567_890.5)
            $0.uuid = uuid
            $0.uuidBlob = uuid
            $0.url = URL(string: "https://example.org/a?b=c")
            $0.amount = Decimal(string: "12345678901234567890.123456789") ?? 0
            $0.mood = .bad
            $0.maybeMood = .good
            $0.address = Address(city: "Zürich", zip: 8_000)
            $0.tags = ["a", "b"]
            $0.default = "quoted"
        }
        let read = try reread("k")
        #expect(read.int == .min && read.small == -128 && read.large == UInt64(Int64.max) && read.flag)
        #expect(read.double == 0.1 + 0.2 && read.float == 1.1)
        #expect(read.text == "nul \0 and é")
        #expect(read.data == Data([0, 255]))
        #expect(
            read.milliseconds == Date(timeIntervalSince1970: 1.234)
                || read.milliseconds == Date(timeIntervalSince1970: 1.235))
        #expect(read.spelled == Date(timeIntervalSince1970: 1_234_567_890.5))
        #expect(read.uuid == uuid && read.uuidBlob == uuid)
        #expect(read.url == made.url)
        #expect(read.amount == Decimal(string: "12345678901234567890.123456789"))
        #expect(read.mood == .bad && read.maybeMood == .good)
        #expect(read.address == Address(city: "Zürich", zip: 8_000) && read.tags == ["a", "b"])
        #expect(read.default == "quoted")
        // After the save, memory equals the file to the last bit.
        #expect(made.moment == read.moment && made.milliseconds == read.milliseconds)
        #expect(try db.value(String.self, "SELECT spelled FROM \"every thing\"") == "2009-02-13 23:31:30.500")
        #expect(try db.value(String.self, "SELECT typeof(uuidBlob) FROM \"every thing\"") == "blob")
    }

    @Test("[T15] empty data is an empty blob, not NULL, and text is not cut at NUL")
    func emptyData() throws {
        try Everything.create("k", in: db) {
            $0.uuid = UUID(); $0.mood = .good; $0.text = "a\0b"
        }
        let row = try db.rows(
            "SELECT typeof(data) AS d, length(data) AS n, length(CAST(text AS BLOB)) AS t FROM \"every thing\"")
        #expect(try row.first?.value(String.self, "d") == "blob")
        #expect(try row.first?.value(Int.self, "n") == 0)
        #expect(try row.first?.value(Int.self, "t") == 3)
    }

    @Test("[29] [31] nil is NULL in both directions, for plain and for coded columns")
    func null() throws {
        let made = try Everything.create("k", in: db) {
            $0.uuid = UUID(); $0.mood = .good; $0.address = .init(city: "x", zip: 1)
        }
        try made.save {
            $0.address = nil; $0.spelled = nil
        }
        #expect(
            try db.value(Int.self, "SELECT count(*) FROM \"every thing\" WHERE address IS NULL AND spelled IS NULL")
                == 1)
        #expect(try reread("k").address == nil)
    }

    @Test("[T14] an integer is never converted to a double")
    func exactIntegers() throws {
        let odd = (1 << 53) + 1
        try Everything.create("k", in: db) {
            $0.int = odd; $0.uuid = UUID(); $0.mood = .good
        }
        #expect(try reread("k").int == odd)
        try db.execute("UPDATE \"every thing\" SET amount = 1.5")
        #expect(code { _ = try reread("k") } == .undecodable)
    }

    @Test("[5] keys differ by their bytes: two normal forms of a word are two rows and two objects")
    func normalForms() throws {
        let (nfc, nfd) = ("\u{e9}", "e\u{301}")
        #expect(nfc == nfd)
        let first = try Everything.create(nfc, in: db) {
            $0.uuid = UUID(); $0.mood = .good; $0.text = "nfc"
        }
        let second = try Everything.create(nfd, in: db) {
            $0.uuid = UUID(); $0.mood = .good; $0.text = "nfd"
        }
        #expect(first !== second)
        #expect(try Everything.find(nfc, in: db) === first)
        #expect(try Everything.find(nfd, in: db) === second)
        #expect(try first.save { $0.text = nfc })
        #expect(try first.save { $0.text = nfd })
    }

    @Test("[28] a value that does not fit the type names table and column, never the value")
    func undecodable() throws {
        try Everything.create("k", in: db) {
            $0.uuid = UUID(); $0.mood = .good
        }
        try db.execute("UPDATE \"every thing\" SET mood = 'secret'")
        let error = #expect(throws: StoreError.self) { _ = try reread("k") }
        #expect(error?.code == .undecodable)
        #expect(error?.table == "every thing")
        #expect(error?.column == "mood")
        #expect(error?.description.contains("secret") == false)
    }

    @Test("[28] a text that is not UTF-8 is an error, as a value and as a key, and is not repaired")
    func invalidText() throws {
        try Everything.create("k", in: db) {
            $0.uuid = UUID(); $0.mood = .good
        }
        try db.execute("UPDATE \"every thing\" SET text = CAST(x'ff' AS TEXT)")
        #expect(code { _ = try reread("k") } == .undecodable)
        try db.execute("UPDATE \"every thing\" SET text = 'good', key = CAST(x'ff41' AS TEXT)")
        #expect(code { _ = try Everything.all(in: db) } == .undecodable)
    }

    @Test("[28] a value that SQLite cannot store is refused with its column, before any write")
    func unstorable() throws {
        let made = try Everything.create("k", in: db) {
            $0.uuid = UUID(); $0.mood = .good
        }
        for edit in [{ $0.double = .nan }, { $0.large = .max }] as [(inout Everything.Fields) -> Void] {
            let error = #expect(throws: StoreError.self) { try made.save(edit) }
            #expect(error?.code == .unstorable)
            #expect(["double", "large"].contains(error?.column))
        }
        #expect(made.double == 0)
    }

    @Test("[15] a live object keeps its values and says why when its row no longer decodes")
    func refreshError() throws {
        let made = try Everything.create("k", in: db) {
            $0.uuid = UUID(); $0.mood = .good
        }
        try db.execute("UPDATE \"every thing\" SET mood = 'unknown'")
        #expect(made.mood == .good)
        #expect(made.refreshError?.code == .undecodable)
        try db.execute("UPDATE \"every thing\" SET mood = 'bad'")
        #expect(made.mood == .bad)
        #expect(made.refreshError == nil)
    }

    @Test("[5] bytes and small integers are keys, too, which the caller chooses")
    func givenKeys() throws {
        let db = try Database.inMemory { $0.automatic(Chunk.self, Channel.self) }
        let keys = [Data(), Data([0]), Data([0, 255])]
        let chunks = try Chunk.create(from: keys, in: db) { $0.digest = $1 }
        for (key, chunk) in zip(keys, chunks) { #expect(try Chunk.find(key, in: db) === chunk) }
        #expect(try db.values(String.self, "SELECT DISTINCT typeof(digest) FROM Chunk") == ["blob"])
        #expect(try chunks[1].save { $0.size = 5 })
        #expect(try Chunk.where(.in(\.digest, keys) && \.size == 5).ids(in: db) == [Data([0])])
        #expect(try Chunk.delete(ids: keys.dropFirst(), in: db) == 2)
        #expect(chunks.map(\.isDeleted) == [false, true, true])
        #expect(code { try Chunk.create(in: db) } == .missingValue)
        let channel = try Channel.create(255, in: db) { $0.name = "last" }
        #expect(try Channel.find(255, in: db) === channel)
        #expect(code { try Channel.create(in: db) } == .missingValue)
        try db.close()
    }

    @Test("[5] composite keys find, save and delete one row; the table may have the key's columns in another order")
    func compositeKeys() throws {
        let line = try OrderLine.create(.init(order: 1, line: "a"), in: db) { $0.count = 2 }
        try OrderLine.create(.init(order: 1, line: "b"), in: db)
        #expect(try OrderLine.find(.init(order: 1, line: "a"), in: db) === line)
        #expect(line.id == OrderLine.ID(order: 1, line: "a"))
        try line.save { $0.count = 3 }
        try OrderLine.execute("UPDATE $T SET count = count + 10 WHERE $PK = (?, ?)", 1, "a", in: db)
        #expect(line.count == 13)
        #expect(try OrderLine.count(in: db) == 2)
        try line.delete()
        #expect(try OrderLine.count(in: db) == 1)
        #expect(code { try OrderLine.create(in: db) } == .missingValue)
    }

    @Test("[4] UUID keys are of version 7: they begin with the time, and are stored as lower-case text")
    func uuidKeys() throws {
        let before = Int64(Date().timeIntervalSince1970 * 1_000)
        let item = try Item.create(in: db) { $0.title = "hat" }
        let after = Int64(Date().timeIntervalSince1970 * 1_000)
        let text = try #require(try db.value(String.self, "SELECT id FROM Item"))
        #expect(text == item.id.uuidString.lowercased())
        let digits = Array(text.filter { $0 != "-" })
        // RFC 9562, section 5.7: 48 bits of milliseconds, the version, the variant.
        let milliseconds = try #require(Int64(String(digits.prefix(12)), radix: 16))
        #expect(before <= milliseconds && milliseconds <= after)
        #expect(digits[12] == "7" && "89ab".contains(digits[16]))
    }

    @Test("[2] a struct decodes from any SELECT by column names, with defaults for missing columns")
    func structs() throws {
        let bob = try test.person("Bob", age: 3)
        let rows = try db.rows(as: PersonRow.self, "SELECT upper(name) AS NAME, id FROM Person WHERE id = ?", bob.id)
        #expect(rows == [PersonRow(id: bob.id, name: "BOB")])
        #expect(try PersonRow.where("age = \(3)").all(in: db) == [PersonRow(id: bob.id, name: "Bob", age: 3)])
        #expect(code { _ = try db.rows(as: PersonRow.self, "SELECT id FROM Person") } == .missingColumn)
    }

    @Test("[32] a model's schema can be read at run time")
    func schema() {
        #expect(OrderLine.schema.table == "order_line")
        #expect(OrderLine.schema.columns.map(\.name) == ["order", "line_name", "count"])
        #expect(OrderLine.schema.key == [0, 1])
    }
}

@Model
final class Chunk {
    @PrimaryKey var digest: Data
    var size: Int = 0
}

@Model
final class Channel {
    @PrimaryKey var number: UInt8
    var name: String = ""
}

extension Database {
    fileprivate func read(_ key: String) throws -> Everything {
        defer { try? close() }
        let found = try Everything.find(key, in: self)
        return try #require(found)
    }
}
