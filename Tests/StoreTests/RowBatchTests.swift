import Foundation
import Store
import TestSupport
import Testing

@Suite("Large results, a part at a time")
struct RowBatchTests {
    let test: TestDatabase
    var db: Database { test.db }

    init() throws {
        test = try TestDatabase()
        try Person.insertRows(from: 1...25, in: test.db) {
            ($0.id, $0.name, $0.age, $0.createdTime) = (Int64($1), "p\($1)", $1, Date(timeIntervalSince1970: 0))
        }
    }

    private let all = (1...25).map { Int64($0) }

    @Test("[25] rows of any SELECT and structs are passed in batches of one snapshot")
    func synchronous() throws {
        var sizes: [Int] = []
        var ids: [Int64] = []
        try db.forEachRow(batch: 10, "SELECT id FROM Person WHERE age > ? ORDER BY id", 0) { rows in
            sizes.append(rows.count)
            ids += try rows.map { try $0.value(Int64.self, "id") }
            guard sizes.count == 1 else { return }
            let outcome = OutcomeBox<Int>()
            Thread.detachNewThread { outcome.set(Result { try test.db.execute("DELETE FROM Person WHERE id > 20") }) }
            #expect(try outcome.wait().get() == 5)
        }
        #expect(sizes == [10, 10, 5] && ids == all)
        var names: [String] = []
        try db.forEachRow(as: PersonRow.self, batch: 0, "SELECT * FROM Person WHERE id < 3 ORDER BY id") {
            names += $0.map(\.name)
        }
        #expect(names == ["p1", "p2"])
        names = []
        try PersonRow.where(\.id < 4).order(by: \.id).forEach(batch: 2, in: db) { names += $0.map(\.name) }
        #expect(names == ["p1", "p2", "p3"])
        try db.forEachRow(batch: 3, "SELECT 1 WHERE 0") { _ in Issue.record("There is no row") }
    }

    @Test("[25, 37] inside a transaction the batches show what it wrote, and the body may write")
    func inTransaction() throws {
        var seen = 0
        try db.transaction {
            try Person.query.update(.set(\.age, to: 7), in: db)
            try db.forEachRow(batch: 10, "SELECT age FROM Person") { rows in
                for row in rows where row["age"] == .integer(7) { seen += 1 }
                try Item.create(in: db) { $0.title = "\(rows.count)" }
            }
        }
        #expect(try seen == 25 && Item.count(in: db) == 3)
    }

    @Test("[52] a statement that writes is refused, and an error of the body is passed on")
    func refused() async throws {
        #expect(code { try db.forEachRow(batch: 5, "DELETE FROM Person RETURNING id") { _ in } } == .readOnly)
        #expect(code { try db.transaction { try db.forEachRow(batch: 5, "DELETE FROM Person") { _ in } } } == .readOnly)
        #expect(code { try db.forEachRow(batch: 5, "BEGIN") { _ in } } == .transactionControl)
        #expect(code { try db.forEachRow(batch: 5, "SELECT ?") { _ in } } == .argumentCount)
        #expect(throws: Refused.self) { try db.forEachRow(batch: 5, "SELECT 1") { _ in throw Refused() } }
        for sql in ["DELETE FROM Person", "SELECT nix FROM Person", "SELECT ?"] as [SQL] {
            var rows = db.rowBatches(of: 5, sql).makeAsyncIterator()
            await #expect(throws: StoreError.self) { _ = try await rows.next() }
            // The error ends the rows.
            #expect(try await rows.next() == nil)
        }
        #expect(try Person.count(in: db) == 25)
    }

    @Test("[25] asynchronous batches are of one snapshot, while the program reads and writes")
    func asynchronous() async throws {
        var ids: [Int64] = []
        for try await rows in db.rowBatches(of: 10, "SELECT id FROM Person ORDER BY id") {
            ids += try rows.map { try $0.value(Int64.self, "id") }
            try await db.write { try db.execute("DELETE FROM Person WHERE id > 12") }
        }
        #expect(ids == all)
        var names: [String] = []
        for try await people in PersonRow.query.order(by: \.id).batches(of: 5, in: db) { names += people.map(\.name) }
        #expect(names == (1...12).map { "p\($0)" })
        names = []
        for try await people in db.rowBatches(as: PersonRow.self, of: 5, "SELECT * FROM Person ORDER BY id DESC") {
            names += people.map(\.name)
        }
        #expect(names.count == 12 && names.first == "p12")
        names = []
        for try await people in Person.query.order(by: \.id).valueBatches(of: 5, in: db) { names += people.map(\.name) }
        #expect(names.count == 12 && db.metrics.liveObjects["Person", default: 0] == 0)
    }

    @Test("[25] more iterators than connections for reads can be open, and one that is left ends its snapshot")
    func many() async throws {
        var iterators = (0..<12).map { _ in db.rowBatches(of: 10, "SELECT id FROM Person").makeAsyncIterator() }
        for index in iterators.indices { #expect(try await iterators[index].next()?.count == 10) }
        for index in iterators.indices { #expect(try await iterators[index].next()?.count == 10) }
        #expect(try Person.count(in: db) == 25)
        iterators = []
        try db.checkpoint()
    }

    @Test("[25] a database in memory has the same batches, and a closed one has none")
    func inMemory() async throws {
        let memory = try Database.inMemory { $0.automatic(Item.self) }
        try Item.insertRows(from: 1...7, in: memory) { $0.title = "\($1)" }
        var sizes: [Int] = []
        for try await rows in memory.rowBatches(of: 3, "SELECT * FROM Item") { sizes.append(rows.count) }
        #expect(sizes == [3, 3, 1])
        var open = db.rowBatches(of: 3, "SELECT * FROM Person").makeAsyncIterator()
        _ = try await open.next()
        try db.close()
        await #expect(throws: StoreError.self) { _ = try await open.next() }
    }

    @Test("[60] an export writes to a file in parts, with the same text")
    func export() throws {
        let path = test.directory.file("people.json")
        #expect(FileManager.default.createFile(atPath: path, contents: nil))
        let file = try #require(FileHandle(forWritingAtPath: path))
        #expect(try Person.exportJSON(in: db, to: file) == 25)
        #expect(try Person.exportJSON("WHERE id > \(24)", in: db, to: file) == 1)
        try file.close()
        let texts = try Person.exportJSON(in: db) + Person.exportJSON("WHERE id > \(24)", in: db)
        #expect(try String(contentsOfFile: path, encoding: .utf8) == texts)
        let long = String(repeating: "é", count: 20_000)
        try Item.insertRows(from: 1...9, in: db) { $0.title = "\($1)\(long)" }
        var parts: [String] = []
        #expect(try Item.exportJSON(in: db) { parts.append($0) } == 9)
        #expect(parts.count == 5 && parts.allSatisfy { $0.utf8.count < 200_000 })
        #expect(try parts.joined() == Item.exportJSON(in: db))
        #expect(try Item.exportJSON("WHERE 0", in: db) == "[]")
        #expect(throws: Refused.self) { try Item.exportJSON(in: db) { _ in throw Refused() } }
    }
}
