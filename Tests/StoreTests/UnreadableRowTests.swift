import Foundation
import Store
import TestSupport
import Testing

@Suite("Rows of a newer release, which a model skips")
struct UnreadableRowTests {
    @Model(table: "Report") final class Report {
        static var unreadableRows: UnreadableRows { .skip }
        static let textIndexes = [TextIndex("title")]

        var id: Int64
        var title: String = ""
        var phase: Phase = .draft
        var parent: Ref<Report>?
    }

    @Model final class Note {
        var id: Int64
        var report: Ref<Report>?
    }

    @Model(table: "Report") final class StrictReport {
        var id: Int64
        var title: String = ""
        var phase: Phase = .draft
    }

    @Model(table: "Report") struct ReportRow {
        static var unreadableRows: UnreadableRows { .skip }

        var id: Int64
        var phase: Phase
    }

    let directory = TemporaryDirectory()
    let errors = Collected<StoreError>()
    let log = LogRecord()
    let db: Database

    /// Rows 1 and 3 hold a case that this release does not know.
    init() throws {
        var options = TestDatabase.options
        options.onFailure = { [errors] error in errors.append(error) }
        options.logger = log.logger
        db = try Database(path: directory.file("a.sqlite"), options: options) { $0.automatic(Report.self, Note.self) }
        try db.execute(
            """
            INSERT INTO Report (id, title, phase) VALUES (1, 'red', 'archived'), (2, 'red', 'draft'),
              (3, 'red', 'shredded'), (4, 'red', 'published')
            """)
    }

    @Test("[28] lists of objects, values and structs leave the rows out")
    func lists() throws {
        let query = Report.query.order(by: \.id)
        #expect(try query.all(in: db).map(\.id) == [2, 4])
        #expect(try query.first(in: db)?.id == 2)
        #expect(try query.values(in: db).map(\.id) == [2, 4])
        #expect(try query.keyed(in: db).keys.sorted() == [2, 4])
        #expect(try Report.find([1, 2, 3], in: db).map(\.id) == [2])
        #expect(try Report.fetch("WHERE id < 4 ORDER BY id", in: db).map(\.id) == [2])
        #expect(try Report.search("red", in: db).map(\.object.id).sorted() == [2, 4])
        #expect(try db.transaction { try query.all(in: db).map(\.id) } == [2, 4])
        #expect(try db.rows(as: ReportRow.self, "SELECT * FROM Report ORDER BY id").map(\.id) == [2, 4])
        #expect(try ReportRow.query.order(by: \.id).first(in: db)?.id == 2)
        #expect(try Report.count(in: db) == 4)
        #expect(code { _ = try StrictReport.all(in: db) } == .undecodable)
    }

    @Test("[28] pages and batches go on behind such a row")
    func pages() throws {
        let first = try Report.query.page(size: 3, in: db)
        #expect(first.objects.map(\.id) == [2])
        let next = try #require(first.next)
        let second = try Report.query.page(size: 3, after: next, in: db)
        #expect(second.objects.map(\.id) == [4] && second.next == nil)
        var batches: [[Int64]] = []
        try Report.query.forEachValues(batch: 1, in: db) { batches.append($0.map(\.id)) }
        #expect(batches == [[2], [4]])
    }

    @Test("[28] each skipped row is reported, with its table, key and column, and counted; the log names a table once")
    func reported() throws {
        _ = try Report.all(in: db)
        _ = try Report.query.order(by: \.id).values(in: db)
        let found = errors.all
        #expect(found.map(\.code) == [.undecodable, .undecodable, .undecodable, .undecodable])
        #expect(found.allSatisfy { $0.table == "Report" && $0.column == "phase" })
        #expect(found.map(\.key) == [[.integer(1)], [.integer(3)], [.integer(1)], [.integer(3)]])
        #expect(db.metrics.skippedRows == 4)
        #expect(log.all.filter { $0.message.contains("skipping rows of Report") }.count == 1)
    }

    @Test("[28] live lists, batches, relations and prefetched references leave the rows out", .timeLimit(.minutes(1)))
    func otherLists() async throws {
        let query = Report.query.order(by: \.id)
        let lists = db.live { [db] in try query.all(in: db).map(\.id) }.makeAsyncIterator()
        #expect(try await lists.next() == [2, 4])
        try db.execute("UPDATE Report SET phase = 'archived' WHERE id = 4")
        #expect(try await lists.next() == [2])
        var batches: [[Int64]] = []
        for try await batch in query.batches(of: 3, in: db) { batches.append(batch.map(\.id)) }
        #expect(batches.flatMap { $0 } == [2])
        var objects: [Int64] = []
        try query.forEach(batch: 3, in: db) { objects += $0.map(\.id) }
        #expect(objects == [2])
        for id in 1...4 as ClosedRange<Int64> { try Note.create(id, in: db) { $0.report = Ref(id) } }
        let notes = try Note.query.order(by: \.id).including(\.report).all(in: db)
        #expect(notes.map(\.0.id) == [1, 2, 3, 4] && notes.map { $0.1?.id } == [nil, 2, nil, nil])
        try db.execute(
            "INSERT INTO Report (id, title, phase, parent) VALUES (5, 'red', 'draft', 2), (6, '', 'shredded', 2)")
        let parent = try #require(try Report.find(2, in: db))
        #expect(try parent.related(Report.self, by: \.parent).all(in: db).map(\.id) == [5])
    }

    @Test("[28] joins and selected columns fail, because a pair or a value without its row would mislead")
    func joinsAndSelections() throws {
        try Note.create(1, in: db) { $0.report = Ref(1) }
        #expect(code { _ = try Note.join(Report.self, on: \.report == \.id).all(in: db) } == .undecodable)
        #expect(code { _ = try Report.leftJoin(Note.self, on: \.id == \.report).all(in: db) } == .undecodable)
        #expect(code { _ = try Report.query.select(\.phase, in: db) } == .undecodable)
        #expect(try Report.query.order(by: \.id).select(\.title, in: db).count == 4)
        #expect(try Note.join(Report.self, on: \.report == \.id).count(in: db) == 1)
    }

    @Test("[28] a row that is asked for by its key is an error, and an object keeps its last values")
    func oneRow() throws {
        #expect(code { _ = try Report.find(1, in: db) } == .undecodable)
        let report = try #require(try Report.find(2, in: db))
        try db.execute("UPDATE Report SET phase = 'archived' WHERE id = 2")
        #expect(report.phase == .draft && report.refreshError?.code == .undecodable)
        #expect(try Report.all(in: db).map(\.id) == [4])
        try db.execute("UPDATE Report SET phase = 'published' WHERE id = 2")
        #expect(try Report.query.order(by: \.id).all(in: db).map(\.id) == [2, 4] && report.phase == .published)
    }
}
