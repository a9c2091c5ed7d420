import Foundation
import Store
import TestSupport
import Testing

@Suite("What an error says of its place")
struct ErrorPlaceTests {
    @Model final class Tag {
        @PrimaryKey var name: String
        var color: String = "red"
        static func makePrimaryKey() -> String? { nil }
    }

    @Model final class Ticket {
        var id: UUID
        var seat: Int
        var holder: String
        @Column(as: DateAsText.self) var issued: Date?
        static let indexes = [Index(\Columns.seat, unique: true)]
    }

    @Model final class Lap {
        @PrimaryKey var race: Int64
        @PrimaryKey var number: Int
        var seconds: Double = 0
    }

    let db: Database

    init() throws { db = try Database.inMemory { $0.automatic(Tag.self, Ticket.self, Lap.self) } }

    private func failure(_ body: () throws -> Void) throws -> StoreError {
        do { try body() } catch let error as StoreError { return error }
        throw StoreFailure.nothingFailed
    }

    private enum StoreFailure: Error { case nothingFailed }

    @Test("[52] an error names the row: in the key, and in its text when the key tells nothing about a person")
    func key() throws {
        let missing = try failure { _ = try Lap.require(Lap.ID(race: 7, number: 2), in: db) }
        #expect(missing.key == [.integer(7), .integer(2)] && missing.table == "Lap")
        #expect(missing.description.hasPrefix("finding Lap (key 7, 2): No row has this key"))
        let tag = try failure { _ = try Tag.require("ann@example.com", in: db) }
        #expect(tag.key == [.text("ann@example.com")] && !tag.description.contains("ann@"))
        let id = UUID()
        let ticket = try Ticket.create(id, in: db) { ($0.seat, $0.holder) = (1, "Ann") }
        try Ticket.create(in: db) { ($0.seat, $0.holder) = (2, "Bob") }
        let taken = try failure { try ticket.save { $0.seat = 2 } }
        #expect(taken.code == .unique && taken.description.contains("(key \(id.uuidString.lowercased()))"))
        try ticket.delete()
        #expect(try failure { try ticket.save { $0.seat = 3 } }.key == [.text(id.uuidString.lowercased())])
        let again = try failure {
            try Lap.insertRows(from: [5, 6, 5], in: db) { ($0.race, $0.number) = ($1, 1) }
        }
        #expect(again.code == .primaryKey && again.key == [.integer(5), .integer(1)])
    }

    @Test("[52] a row that cannot be decoded is named, in a list of objects and in one of values")
    func undecodable() throws {
        try Lap.create(Lap.ID(race: 1, number: 1), in: db)
        let file = TemporaryDirectory()
        let db = try Database(path: file.file("laps.sqlite")) { schema in
            schema.version(1) { try $0.execute("CREATE TABLE Lap (number, race, seconds, PRIMARY KEY (race, number))") }
        }
        try db.execute("INSERT INTO Lap (race, number, seconds) VALUES (1, 1, 60.5), (1, 2, 'soon')")
        for error in [try failure { _ = try Lap.all(in: db) }, try failure { _ = try Lap.query.values(in: db) }] {
            #expect(error.code == .undecodable && error.column == "seconds" && error.key == [.integer(1), .integer(2)])
        }
        let found = try failure { _ = try Lap.find(Lap.ID(race: 1, number: 2), in: db) }
        #expect(found.key == [.integer(1), .integer(2)])
        try db.close()
    }

    @Test("[52] all properties that were not set are named, in singular or plural")
    func missing() throws {
        let one = try failure { try Ticket.create(in: db) { $0.seat = 1 } }
        #expect(one.message == "holder was not set" && one.column == "holder")
        let two = try failure { try Ticket.create(in: db) }
        #expect(two.message == "seat, holder were not set" && two.column == nil)
        #expect(two.hint == "Set them in the block, make them optional, or give them default values.")
        #expect(one.key == nil && two.key == nil)
    }

    @Test("[52] numbers agree with their nouns")
    func plurals() throws {
        let one = try failure { _ = try db.rows("SELECT ?, ?", 1) }
        #expect(one.message == "The SQL has 2 parameters, and 1 value was given")
        let two = try failure { _ = try db.rows("SELECT ?", 1, 2) }
        #expect(two.message == "The SQL has 1 parameter, and 2 values were given")
        let script = try failure { try db.execute("DELETE FROM Lap WHERE race = ?", 1, 2) }
        #expect(script.message == "2 values were given, and the SQL has another number of parameters")
        let name = try failure { _ = try SQL("a = :a", named: ["a": 1, "b": 2]) }
        #expect(name.message == "The SQL has no parameter for the name b")
        let row = try #require(try db.rows("SELECT 1 AS x").first)
        #expect(try failure { _ = try row.value(Int.self, "y") }.hint == "Its only column is x.")
    }

    @Test("[52] an object of another database is named with both")
    func otherDatabase() throws {
        let file = TemporaryDirectory()
        let other = try Database(path: file.file("other.sqlite")) { $0.automatic(Lap.self) }
        let lap = try Lap.create(Lap.ID(race: 1, number: 1), in: other)
        for error in [
            try failure { try db.delete([lap]) }, try failure { try db.save([lap]) },
            try failure { try Lap.delete([lap], in: db) },
        ] {
            #expect(error.code == .otherDatabase && error.table == "Lap" && error.key == [.integer(1), .integer(1)])
            #expect(error.message == "The object belongs to the database \(other.path), and not to this one")
        }
        try other.close()
    }

    @Test("[52, 60] an import names the element of the array")
    func element() throws {
        let wrong = try failure {
            try Lap.importJSON(#"[{"race": 1, "number": 1}, {"race": 1, "number": "x"}]"#, in: db)
        }
        #expect(wrong.code == .undecodable && wrong.message.hasPrefix("Element 2 of 2: ") && wrong.column == "number")
        let twice = try failure {
            try Lap.importJSON(#"[{"race": 1, "number": 1}, {"race": 1, "number": 1}]"#, in: db)
        }
        #expect(twice.code == .primaryKey && twice.message.hasPrefix("Element 2 of 2: "))
        let text = try failure { try Lap.importJSON("[1]", in: db) }
        #expect(text.message == "It is not a JSON object")
        #expect(try Lap.count(in: db) == 0)
    }

    @Test("[52] an error in SQL that Store made of a query says what the program can change")
    func hints() throws {
        try Lap.create(Lap.ID(race: .max, number: 1), in: db)
        try Lap.create(Lap.ID(race: 1, number: 1), in: db)
        let sum = try failure { _ = try Lap.query.sum(\.race, in: db) }
        #expect(sum.code == .sql)
        #expect(sum.hint == "A result does not fit 64 bits; for a sum, take fewer rows or use `average`.")
        let limit = try failure { _ = try Lap.where("race > 1 LIMIT 1").all(in: db) }
        #expect(limit.hint == "A condition ends before ORDER BY and LIMIT: write `order` and `limit` after `where`.")
    }
}
