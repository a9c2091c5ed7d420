import Foundation
import Store
import Testing

@Suite("Article: import and export", .timeLimit(.minutes(1)))
struct ImportAndExportTests {
    let file = ArticleFile()
    let otherFile = ArticleFile()

    @Test("[54, 60] rows are exchanged as JSON, as values and as statements")
    func roundTrip() throws {
        let (db, other) = (try file.open(), try otherFile.open())
        let bob = try Person.create(in: db) {
            $0.name = "Bob"; $0.age = 42
        }
        let json = try Person.exportJSON("WHERE age > \(18) ORDER BY name", in: db)
        let imported = try Person.importJSON(json, existing: .update, in: other)
        let values = try bob.encodedValues  // ["name": .text("Bob"), …]
        let eve = try Person.create(fields: ["name": .text("Eve"), "age": .integer(30)], in: db)
        try eve.save(fields: ["age": .integer(31)])
        #expect(try imported == 1 && Person.find(bob.id, in: other)?.age == 42)
        #expect(values["name"] == .text("Bob") && eve.age == 31)
        let insert = Person.insertSQL
        let update = try Person.updateSQL("name")
        try bob.save { $0.name = "Robert" }
        try other.execute(try bob.upsertStatement())
        #expect(insert.hasPrefix("INSERT") && update.hasPrefix("UPDATE"))
        #expect(try Person.find(bob.id, in: other)?.name == "Robert")
    }

    @Test("[60] an export goes to a file in parts")
    func stream() throws {
        let db = try file.open()
        try Person.create(in: db) { $0.name = "Bob" }
        let pipe = Pipe()
        let file = pipe.fileHandleForWriting
        try Person.exportJSON(in: db, to: file)
        try file.close()
        let data = try #require(try pipe.fileHandleForReading.readToEnd())
        #expect(try String(decoding: data, as: UTF8.self) == Person.exportJSON(in: db))
    }

    @Test("[60] values of objects are JSON by the names of properties")
    func values() throws {
        let db = try file.open()
        let bob = try Person.create(in: db) { $0.name = "Bob" }
        let body = try JSONEncoder().encode(bob.values)
        let list = try JSONEncoder().encode(Person.query.order(by: \.name).values(in: db))  // one snapshot
        let input = try JSONDecoder().decode(Person.Fields.self, from: Data(#"{"name": "Zoe"}"#.utf8))
        let zoe = try Person.create(in: db) { $0 = input }  // the key was left out, so it is generated
        #expect(try JSONDecoder().decode(Person.Fields.self, from: body) == bob.values)
        #expect(try JSONDecoder().decode([Person.Fields].self, from: list) == [bob.values])
        #expect(zoe.name == "Zoe" && zoe.id != bob.id)
        let encoder = JSONEncoder()
        encoder.userInfo[.keysAsText] = true
        let forBrowser = try encoder.encode(bob.values)  // {"id":"4611686018427387905",…}
        let back = try JSONDecoder().decode(Person.Fields.self, from: forBrowser)
        #expect(back == bob.values && String(decoding: forBrowser, as: UTF8.self).contains("\"id\":\"\(bob.id)\""))
    }
}
