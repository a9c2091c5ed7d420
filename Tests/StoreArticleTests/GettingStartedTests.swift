import Foundation
import Store
import Testing

@Suite("Article: getting started", .timeLimit(.minutes(1)))
struct GettingStartedTests {
    let file = ArticleFile()

    @Test("[1, 7, 18, 20, 39] the first steps do what the article says")
    func firstSteps() async throws {
        let path = file.path
        let name = "Bob"
        let db = try Database(path: path) { $0.automatic(Person.self) }
        let events = Person.changes(in: db)
        let bob = try Person.create(in: db) { $0.name = "Bob" }
        try bob.save { $0.age = 42 }
        let same = try Person.find(bob.id, in: db)
        let adults = try Person.where(\.age >= 18).order(by: \.name).all(in: db)
        let first = try Person.where("name = \(name)").first(in: db)
        #expect(same === bob && adults.first === bob && first === bob)
        try Person.execute("UPDATE $T SET visits = visits + 1 WHERE $PK = ?", bob.id, in: db)
        let visits = bob.visits  // 1
        #expect(visits == 1)

        var inserted: [Int64] = []
        for await change in events {
            inserted = change.inserted
            break
        }
        #expect(inserted == [bob.id])
        try db.close()
    }

    @Test("[39] a listener gets the rows and columns that changed")
    func listening() async throws {
        let db = try file.open()
        let bob = try Person.create(in: db) { $0.name = "Bob" }
        var seen: (ids: [Int64], columns: Set<String>, origin: ChangeOrigin) = ([], [], .local)
        // Saves until the loop has received a change: it subscribes when it begins.
        let writer = Task {
            while !Task.isCancelled {
                try bob.save { $0.age = ($0.age ?? 0) + 1 }
                await Task.yield()
            }
        }
        for await change in Person.changes(in: db) {
            seen = (change.updated, change.columns, change.origin)
            break
        }
        writer.cancel()
        try await writer.value
        #expect(seen.ids == [bob.id] && seen.columns == ["age"] && seen.origin == .local)
    }
}
