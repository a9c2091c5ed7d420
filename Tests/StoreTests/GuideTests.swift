import Foundation
import Store
import TestSupport
import Testing

@Model
final class Track {
    var id: Int64  // the primary key; generated when it is not given
    var title: String = ""
    var seconds: Int?
    @Column("added_at") var added: Date  // another column name; seconds since 1970, as REAL
    @JSON var tags: [String] = []  // Codable, as JSON text
    @Transient var isSelected: Bool = false  // in memory only
}

@Model
struct TitleCount {
    var title: String
    var n: Int = 0
}

struct Cancelled: Error {}

/// The examples of `docs/STORE.md`, word for word.
@Suite("The guide", .timeLimit(.minutes(1)))
struct GuideTests {
    let directory = TemporaryDirectory()

    @Test("the examples of docs/STORE.md do what it says")
    func examples() async throws {
        let path = directory.file("guide.sqlite")
        let db = try Database(path: path) { schema in
            schema.version(1) {
                try $0.execute(
                    """
                    CREATE TABLE Track (
                      id INTEGER PRIMARY KEY, title TEXT NOT NULL, seconds INTEGER, added_at REAL NOT NULL, tags TEXT NOT NULL)
                    """)
            }
            schema.version(2) { try $0.execute("CREATE INDEX track_title ON Track (title)") }
        }
        let song = try Track.create(in: db) {
            $0.title = "So What"
            $0.added = .now
        }
        try song.save { $0.seconds = 562 }  // true: written; only the changed column
        let same = try Track.find(song.id, in: db)  // the same object, without a query
        let long = try Track.where("seconds > \(300)").order(by: \.title).limit(10).all(in: db)
        let first = try Track.where("title = ?", "So What").first(in: db)
        let count = try Track.where("seconds IS NULL").count(in: db)
        #expect(same === song && long.first === song && first === song && count == 0)

        let unwanted = "Nothing of the kind"
        try Track.execute("UPDATE $T SET seconds = seconds + ? WHERE $PK = ?", 1, song.id, in: db)
        try db.execute("DELETE FROM Track WHERE title = \(unwanted)")
        let total = try db.value(Int.self, "SELECT sum(seconds) FROM Track")
        let rows = try db.rows("SELECT title, count(*) AS n FROM Track GROUP BY title")
        #expect(song.seconds == 563 && total == 563 && rows.count == 1)
        let counts = try db.rows(as: TitleCount.self, "SELECT title, count(*) AS n FROM Track GROUP BY title")
        #expect(counts.first?.n == 1)

        let changes = Track.changes(in: db)
        try db.transaction {
            try song.save { $0.title = "So What (live)" }
            try Track.execute("UPDATE $T SET seconds = 0 WHERE seconds IS NULL", in: db)
            try? db.transaction {  // a savepoint: its failure undoes its own part only
                try song.delete()
                throw Cancelled()
            }
        }
        #expect(!song.isDeleted && song.title == "So What (live)")
        for await change in changes {
            #expect(change.updated == [song.id] && change.columns == ["title"] && change.deleted.isEmpty)
            break
        }
        try db.close()
    }

    @Test("these tests have every line of code in docs/STORE.md")
    func guideIsCompiled() throws {
        let here = URL(fileURLWithPath: #filePath)
        let root = here.deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let guide = try String(contentsOf: root.appendingPathComponent("docs/STORE.md"), encoding: .utf8)
        let directory = here.deletingLastPathComponent()
        let files = try FileManager.default.contentsOfDirectory(atPath: directory.path).filter { $0.hasPrefix("Guide") }
        let tests = try files.map { try String(contentsOf: directory.appendingPathComponent($0), encoding: .utf8) }
            .joined()
        let compiled = Set(tests.split(separator: "\n").map(GuideTests.code))
        // The loop over changes has another sequence and body here.
        let skipped = ["for await change in Track.changes(in: db) {", "print(change."]
        for (index, part) in guide.components(separatedBy: "```").enumerated() where index % 2 == 1 {
            for line in part.split(separator: "\n").dropFirst().map(GuideTests.code) {
                guard !line.isEmpty, !skipped.contains(where: line.hasPrefix) else { continue }
                #expect(compiled.contains(line), "\(line)")
            }
        }
    }

    /// A line without indentation and comment.
    private static func code(_ line: Substring) -> String {
        let end = line.range(of: " // ")?.lowerBound ?? line.endIndex
        return String(line[..<end]).trimmingCharacters(in: .whitespaces)
    }
}
