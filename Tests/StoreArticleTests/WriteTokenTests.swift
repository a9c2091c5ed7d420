import Store
import Testing

@Suite("Article: your own writes on another machine", .timeLimit(.minutes(1)))
struct WriteTokenArticleTests {
    let file = ArticleFile()

    @Test("a write gives a token, and a wait for it ends once the write is here")
    func token() async throws {
        let db = try file.open()
        let bob = try Person.create(in: db) { $0.name = "Bob" }
        let token = try await db.write {
            try bob.save { $0.name = "Rob" }
            return try db.writeToken()
        }
        try await db.wait(for: token, timeout: .seconds(5))
        #expect(bob.name == "Rob")
    }
}
