import Foundation
import Observation
import Store
import TestSupport
import Testing

/// A type of a program that is stored but not Codable.
struct Celsius: ColumnValue, Hashable {
    var tenths: Int
    init(_ tenths: Int) { self.tenths = tenths }
    init(columnValue: Value) throws { tenths = try Int(columnValue: columnValue) }
    var columnValue: Value { .integer(Int64(tenths)) }
    static var columnStorage: ColumnStorage { .integer }
}

@Suite("Values of objects")
struct ValuesTests {
    @Model(table: "Station") final class Station {
        var id: Int64
        var name: String
        @Column("was_read") var read: Date?
        @JSON var tags: [String] = []
        var phase: Phase = .draft
        var warmest: Celsius = Celsius(0)
        var note: String?
        @Transient var isOpen: Bool = false
    }

    private func database() throws -> Database { try Database.inMemory { $0.automatic(Station.self) } }

    private func oslo(_ db: Database) throws -> Station {
        try Station.create(7, in: db) {
            $0.name = "Oslo \"S\""
            $0.read = Date(timeIntervalSince1970: 86_400)
            $0.tags = ["wet", "cold"]
            $0.warmest = Celsius(301)
        }
    }

    private func json(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .iso8601
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    private func decoded(_ json: String) throws -> Station.Fields {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        return try decoder.decode(Station.Fields.self, from: Data(json.utf8))
    }

    private static let oslo =
        #"{"id":7,"name":"Oslo \"S\"","note":null,"phase":"draft","read":"1970-01-02T00:00:00Z","#
        + #""tags":["wet","cold"],"warmest":301}"#

    @Test("[60] values are JSON by the names of properties, each in the form of its type, and read back equal")
    func codable() throws {
        let db = try database()
        let station = try oslo(db)
        #expect(try json(station.values) == Self.oslo)
        #expect(try json(Station.query.values(in: db)) == "[\(Self.oslo)]")
        #expect(try decoded(Self.oslo) == station.values)
    }

    @Test("[60] input may leave out the key and what has a default value, and must have the rest")
    func decoding() throws {
        let db = try database()
        let input = try decoded(#"{"name": "Bergen", "tags": ["wet"]}"#)
        let made = try Station.create(in: db) { $0 = input }
        #expect(made.id > 0 && made.name == "Bergen" && made.tags == ["wet"] && made.read == nil)
        #expect(throws: DecodingError.self) { _ = try decoded(#"{"tags": []}"#) }
        #expect(throws: DecodingError.self) { _ = try decoded(#"{"name": null}"#) }
        #expect(throws: DecodingError.self) { _ = try decoded(#"{"name": "x", "phase": "archived"}"#) }
        #expect(throws: DecodingError.self) { _ = try decoded(#"{"name": "x", "warmest": "hot"}"#) }
    }

    @Test("[3] values compare by their columns, objects by identity; both can be keys of sets")
    func equality() throws {
        let db = try database()
        let station = try oslo(db)
        let before = station.values
        #expect(before == station.values && before.hashValue == station.values.hashValue)
        var changed = before
        changed.isOpen = true
        #expect(changed == before)
        changed.tags = []
        #expect(changed != before)
        let other = try database()
        let twin = try oslo(other)
        #expect(station != twin && station.values == twin.values)
        #expect(try Set([station, twin, Station.find(7, in: db) ?? twin]).count == 2)
    }

    @Test("[60] objects and values print their properties")
    func printing() throws {
        let station = try oslo(database())
        let text =
            #"Station(id: 7, name: "Oslo \"S\"", read: 1970-01-02 00:00:00 +0000, tags: ["wet", "cold"], phase: draft, "#
            + #"warmest: Celsius(tenths: 301), note: nil)"#
        #expect("\(station)" == text)
        #expect("\(station.values)" == text)
    }

    /// Properties with the names of members of the protocols.
    @Model(table: "Station") final class Described {
        var id: Int64
        var description: String?
        var hash: Int = 0
        @Column("encoding") var encode: String = ""
    }

    @Test("[60] properties may have the names of members that print, compare and encode")
    func namesOfMembers() throws {
        let db = try Database.inMemory { $0.automatic(Described.self) }
        let made = try Described.create(1, in: db) { $0.description = "a" }
        let text: String? = made.description
        #expect(text == "a" && made.hash == 0)
        #expect("\(made)" == #"Described(id: 1, description: "a", hash: 0, encode: "")"#)
        #expect(try json(made.values) == #"{"description":"a","encode":"","hash":0,"id":1}"#)
    }

    @Test("[20] values(in:) reads one snapshot, and what the own transaction has written")
    func snapshot() throws {
        let db = try database()
        let station = try oslo(db)
        try db.transaction {
            try station.save { $0.note = "x" }
            #expect(try Station.query.values(in: db).map(\.note) == ["x"])
        }
        let before = try Station.where(\.note == "x").values(in: db)
        try station.save { $0.note = "y" }
        #expect(before.map(\.note) == ["x"])
    }

    @Test("[45] observers of values hear of a change of any property, and of none after it")
    func observedValues() throws {
        let db = try database()
        let station = try oslo(db)
        let changes = Collected<String>()
        withObservationTracking {
            _ = station.values
        } onChange: {
            changes.append("values")
        }
        try station.save { $0.name = "Oslo S" }
        #expect(changes.all == ["values"])
        try db.execute("UPDATE Station SET note = 'x'")
        #expect(changes.all == ["values"])
    }

    @Test("[44] a cached value follows the properties of objects that it read")
    func cachedProperties() throws {
        let db = try database()
        let station = try oslo(db)
        func shout() throws -> String {
            try db.cached("shout") { station.name.uppercased() + (station.values.note ?? "") }
        }
        #expect(try shout() == "OSLO \"S\"")
        try station.save { $0.name = "Bergen" }
        #expect(try shout() == "BERGEN")
        try db.execute("UPDATE Station SET note = '!'")
        #expect(try shout() == "BERGEN!")
    }

    @Test("[45] a live value follows the properties of objects that it read, and objects whose values change")
    func liveProperties() async throws {
        let db = try database()
        let station = try oslo(db)
        let names = db.live { station.name }.makeAsyncIterator()
        let lists = db.live { try [Station.find(7, in: db)].map { $0 } }.makeAsyncIterator()
        #expect(try await names.next() == "Oslo \"S\"")
        #expect(try await lists.next()?.count == 1)
        try station.save { $0.name = "Bergen" }
        #expect(try await names.next() == "Bergen")
        #expect(try await lists.next()?.first??.name == "Bergen")
    }
}
