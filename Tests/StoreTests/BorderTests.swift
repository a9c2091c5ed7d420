import Foundation
import Store
import TestSupport
import Testing

@Suite("JSON of other programs")
struct BorderTests {
    @Model(table: "Owner") final class Owner {
        var id: Int64
        var name: String = ""
    }

    @Model(table: "Thing") final class Thing {
        var id: Int64
        var owner: Ref<Owner>?
        var mark: UUID = UUID()
        var seen: Date?
        @Column(as: DateAsMilliseconds.self) var made: Date = Date(timeIntervalSince1970: 0)
        @JSON var tags: [String] = []
        @JSON var sizes: [String: Int] = [:]
        var title: String = ""
    }

    /// A key that a double cannot hold.
    private static let key: Int64 = 9_007_199_254_740_993

    private func database() throws -> Database { try Database.inMemory { $0.automatic(Owner.self, Thing.self) } }

    @Test("[60] import takes ISO dates, upper-case UUIDs, arrays and objects for @JSON, and keys as text")
    func imports() throws {
        let db = try database()
        let mark = UUID()
        let count = try Thing.importJSON(
            """
            {"id": "\(Self.key)", "owner": "7", "mark": "\(mark.uuidString)", "seen": "1970-01-02T00:00:00.5Z",
             "made": "1970-01-02T01:00:00+01:00", "tags": ["a", "b"], "sizes": {"x": 1}, "title": "12"}
            """, in: db)
        let thing = try #require(try Thing.find(Self.key, in: db))
        #expect(count == 1 && thing.owner == Ref(7) && thing.mark == mark && thing.title == "12")
        #expect(thing.seen == Date(timeIntervalSince1970: 86_400.5))
        #expect(thing.made == Date(timeIntervalSince1970: 86_400))
        #expect(thing.tags == ["a", "b"] && thing.sizes == ["x": 1])
        // The file holds the usual forms.
        let stored = try db.rows("SELECT typeof(seen), made, tags, mark FROM Thing").map(\.values)
        #expect(
            stored == [
                [.text("real"), .integer(86_400_000), .text(#"["a","b"]"#), .text(mark.uuidString.lowercased())]
            ])
    }

    @Test(
        "[60] input that is in no form of the property is an error with the column",
        arguments: [
            (#"{"seen": "yesterday"}"#, "seen"), (#"{"tags": [1]}"#, "tags"), (#"{"mark": "x"}"#, "mark"),
            (#"{"id": "x"}"#, "id"), (#"{"title": ["x"]}"#, "title"), (#"{"id": "99999999999999999999"}"#, "id"),
        ])
    func refused(json: String, column: String) throws {
        let db = try database()
        do {
            try Thing.importJSON(json, in: db)
            Issue.record("it was imported")
        } catch let error as StoreError {
            #expect(error.code == .undecodable && error.column == column)
        }
        #expect(try Thing.count(in: db) == 0)
    }

    @Test("[60] values take dates in ISO 8601 from a decoder that knows nothing of them, and others in its own form")
    func dates() throws {
        func decoded(_ json: String) throws -> Thing.Fields {
            try JSONDecoder().decode(Thing.Fields.self, from: Data(json.utf8))
        }
        let values = try decoded(#"{"seen": "1970-01-02T00:00:00.5Z", "made": "1970-01-02T01:00:00+01:00"}"#)
        #expect(
            values.seen == Date(timeIntervalSince1970: 86_400.5) && values.made == Date(timeIntervalSince1970: 86_400))
        // As Java and Python write them.
        let precise = try decoded(#"{"seen": "1970-01-02T01:00:00.500+01:00"}"#)
        #expect(precise.seen == Date(timeIntervalSince1970: 86_400.5))
        #expect(try decoded(#"{"seen": 7}"#).seen == Date(timeIntervalSinceReferenceDate: 7))
        #expect(try decoded(#"{"seen": null}"#).seen == nil)
        #expect(throws: DecodingError.self) { try decoded(#"{"seen": "yesterday"}"#) }
        #expect(throws: DecodingError.self) { try decoded(#"{"title": 7}"#) }
    }

    @Test("[60] keys and references can be written as text for browsers, and read back")
    func keysAsText() throws {
        let db = try database()
        let thing = try Thing.create(Self.key, in: db) { $0.owner = Ref(7) }
        let encoder = JSONEncoder()
        encoder.userInfo[.keysAsText] = true
        let data = try encoder.encode(thing.values)
        let text = String(decoding: data, as: UTF8.self)
        #expect(text.contains(#""id":"9007199254740993""#) && text.contains(#""owner":"7""#))
        #expect(text.contains(#""title":"""#))
        #expect(try JSONDecoder().decode(Thing.Fields.self, from: data) == thing.values)
        let plain = String(decoding: try JSONEncoder().encode(thing.values), as: UTF8.self)
        #expect(plain.contains(#""id":9007199254740993"#) && plain.contains(#""owner":7"#))
    }

    /// The answer of a service, which is no model.
    private struct Reply: Codable, Equatable {
        var owner: Ref<Owner>
        var others: [Ref<Owner>]
        var next: Ref<Owner>?
    }

    @Test("[60] a reference in a type of the program is written as text, too, and read from both forms")
    func referencesAsText() throws {
        let reply = Reply(owner: Ref(Self.key), others: [Ref(7)], next: nil)
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        #expect(String(decoding: try encoder.encode(reply), as: UTF8.self).contains(#""others":[7]"#))
        encoder.userInfo[.keysAsText] = true
        let data = try encoder.encode(reply)
        #expect(String(decoding: data, as: UTF8.self) == #"{"others":["7"],"owner":"9007199254740993"}"#)
        #expect(try JSONDecoder().decode(Reply.self, from: data) == reply)
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(Ref<Owner>.self, from: Data(#""x""#.utf8)) }
    }
}
