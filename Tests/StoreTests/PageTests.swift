import Foundation
import Store
import Testing

@Suite("Pages and batches", .timeLimit(.minutes(1)))
struct PageTests {
    @Model final class Entry {
        var id: Int64
        var group: String?
        var rank: Int?
        var price: Decimal?
        var done = false
    }

    @Model final class Cell {
        @PrimaryKey var row: Int64
        @PrimaryKey var column: String
        var data: Data?
    }

    let db: Database

    /// 60 rows with many equal values and many NULLs in each column.
    init() throws {
        db = try Database.inMemory { $0.automatic(Entry.self, Cell.self) }
        try Entry.create(from: 0..<60, in: db) { fields, number in
            fields.id = Int64((number * 37) % 61)
            fields.group = number % 4 == 0 ? nil : ["a", "B", "é.%"][number % 3]
            fields.rank = number % 5 == 0 ? nil : number % 7 - 3
            fields.price = number % 6 == 0 ? nil : Decimal(number % 11) / 4
        }
        try Cell.create(from: 0..<12, in: db) { fields, number in
            fields.row = Int64(number % 3)
            fields.column = "c\(number / 3)"
            fields.data = number % 2 == 0 ? nil : Data([UInt8(number % 4), 0, 255])
        }
    }

    /// The keys of all pages, each found by the text of the cursor before it.
    private func walk<M: Model>(_ query: Query<M>, size: Int) throws -> [M.ID] {
        var keys: [M.ID] = []
        var cursor: PageCursor?
        repeat {
            let page = try query.page(size: size, after: cursor, in: db)
            #expect(page.objects.count == max(1, size) || page.next == nil)
            keys += page.objects.map(\.id)
            cursor = try page.next.map { try #require(PageCursor($0.description)) }
        } while cursor != nil
        return keys
    }

    @Test("[22, 25] pages together are the whole query, in any order, with NULL and with equal values")
    func pages() throws {
        let orders = [
            Entry.query, Entry.where(\.rank > 0), Entry.query.order(by: \.id, .descending),
            Entry.query.order(by: \.rank, \.group), Entry.query.order(.descending(\.rank), .ascending(\.group)),
            Entry.query.order(by: \.price), Entry.query.order(by: \.price, .descending).order(by: \.group, .descending),
            Entry.where(\.done).order(by: \.group),
        ]
        for query in orders {
            let all = try query.order(by: \.id).ids(in: db)
            for size in [1, 7, 60, 1_000] { #expect(try walk(query, size: size) == all) }
        }
        #expect(try walk(Cell.query, size: 5) == Cell.query.order(by: \.row, \.column).ids(in: db))
        let blobs = Cell.query.order(by: \.data, .descending)
        #expect(try walk(blobs, size: 5) == blobs.order(by: \.row, \.column).ids(in: db))
        #expect(try walk(Entry.query, size: 0).count == 60)
    }

    @Test("[22] rows that are deleted before a page do not move it")
    func stable() throws {
        let first = try Entry.query.page(size: 5, in: db)
        let cursor = try #require(first.next)
        #expect(cursor.description == "i\(first.objects[4].id)")
        // Rows before the page do not move it.
        try Entry.delete(first.objects, in: db)
        #expect(try Entry.query.page(size: 5, after: cursor, in: db).objects == Entry.query.limit(5).all(in: db))
    }

    @Test("[52] a text that is no cursor, and a cursor of another order, are refused")
    func badCursors() throws {
        for text in ["", "x", "i", "i1.", "t1", "tzz", "r7ff8000000000001", "n1", "i99999999999999999999"] {
            #expect(PageCursor(text) == nil, "\(text)")
        }
        for text in ["n", "i-7", "r3ff0000000000000.t", "b00ff.ted95"] {
            #expect(PageCursor(text)?.description == text)
        }
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(PageCursor.self, from: Data(#""x""#.utf8)) }
        let cursor = try #require(PageCursor("i1.t62"))
        #expect(try JSONDecoder().decode(PageCursor.self, from: JSONEncoder().encode(cursor)) == cursor)
        #expect(code { _ = try Entry.query.page(size: 5, after: cursor, in: db) } == .invalidInput)
        #expect(code { _ = try Entry.query.order(.sql("rank DESC")).page(size: 5, in: db) } == .sql)
        #expect(code { _ = try Entry.query.limit(5).page(size: 5, in: db) } == .sql)
        #expect(code { try Entry.query.limit(-1, offset: 2).forEach(batch: 5, in: db) { _ in } } == .sql)
    }

    @Test("[20] a loop over batches holds one of them, and may write")
    func batches() throws {
        var seen: [Int64] = []
        try Entry.query.forEach(batch: 8, in: db) { entries in
            #expect(db.metrics.liveObjects["Entry"] == entries.count)
            try db.transaction { for entry in entries { try entry.save { $0.done = true } } }
            seen += entries.map(\.id)
        }
        #expect(try seen.count == 60 && Entry.where(!\.done).isEmpty(in: db))
        #expect(throws: Refused.self) { try Entry.query.forEach(batch: 8, in: db) { _ in throw Refused() } }
        try Entry.where(\.rank > 100).forEach(batch: 8, in: db) { _ in Issue.record("There is no such row") }
    }

    @Test("[20, 49] batches inside a read are of its snapshot")
    func snapshot() throws {
        let test = try TestDatabase()
        for number in 1...9 { try test.person("p\(number)") }
        var names: [String] = []
        try test.db.read {
            try Person.query.order(by: \.name).forEachValues(batch: 2, in: test.db) { people in
                names += people.map(\.name)
                guard names.count == 2 else { return }
                let outcome = OutcomeBox<Int>()
                Thread.detachNewThread {
                    outcome.set(Result { try test.db.execute("UPDATE Person SET name = 'x' || name") })
                }
                let changed = try outcome.wait().get()
                #expect(changed == 9)
            }
        }
        #expect(names == (1...9).map { "p\($0)" })
    }

    @Test("[20] an asynchronous loop reads each batch when it is asked for")
    func asynchronous() async throws {
        var keys: [Int64] = []
        for try await entries in Entry.query.order(by: \.rank).batches(of: 25, in: db) {
            // The thread that read the batch before may still hold it. All three batches have 60 objects.
            #expect(try #require(db.metrics.liveObjects["Entry"]) <= entries.count + 25)
            keys += entries.map(\.id)
        }
        #expect(try keys == Entry.query.order(by: \.rank, \.id).ids(in: db))
        let iterator = Entry.query.limit(1).batches(of: 25, in: db).makeAsyncIterator()
        await #expect(throws: StoreError.self) {
            var iterator = iterator
            _ = try await iterator.next()
        }
    }
}
