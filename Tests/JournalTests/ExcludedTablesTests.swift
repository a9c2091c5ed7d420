import GRDB
import Journal
import TestSupport
import Testing

@Suite("Tables that stay local")
struct ExcludedTablesTests {
    private let directory = TemporaryDirectory()
    private var path: String { directory.file("a.sqlite") }

    private func initialize(_ request: InitializeRequest) throws -> [String] {
        let (replica, report) = try Replica.create(at: path, request)
        try replica.close()
        return report.tracked.map(\.table).sorted()
    }

    @Test("stay local when another table is excluded; only naming one includes it")
    func kept() throws {
        try RawConnection(path: path).run(
            "CREATE TABLE a (id INTEGER PRIMARY KEY); CREATE TABLE draft (id INTEGER PRIMARY KEY); "
                + "CREATE TABLE cache (id INTEGER PRIMARY KEY)")
        #expect(try initialize(InitializeRequest(excluding: ["draft"])) == ["a", "cache"])
        #expect(try initialize(InitializeRequest(excluding: ["CACHE"])) == ["a"])
        #expect(try initialize(InitializeRequest()) == ["a"])
        #expect(try initialize(InitializeRequest(tables: ["a", "Draft"])) == ["a", "draft"])
    }

    @Test("are included by any name that was declared for them")
    func renamed() throws {
        try RawConnection(path: path).run("CREATE TABLE draft (id INTEGER PRIMARY KEY)")
        #expect(try initialize(InitializeRequest(excluding: ["draft"])).isEmpty)
        #expect(try initialize(InitializeRequest(renamed: [.init(old: "draft", new: "text")])).isEmpty)
        try RawConnection(path: path).run("ALTER TABLE draft RENAME TO text")
        #expect(try initialize(InitializeRequest(tables: ["text"])) == ["text"])
    }
}
