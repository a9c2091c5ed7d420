import Foundation
import Store
import TestSupport
import Testing

@Suite("Tokens of writes", .timeLimit(.minutes(1)))
struct WriteTokenTests {
    private static func machine() throws -> ReplicatedDatabase {
        try ReplicatedDatabase { $0.automatic(Item.self) }
    }

    /// A duration that no test waits for to its end.
    private static let long = Duration.seconds(50)

    @Test("a wait ends when the write arrives, and reads and live objects then show it")
    func arrival() async throws {
        let (a, b) = (try Self.machine(), try Self.machine())
        let item = try Item.create(in: a.db) { $0.title = "first" }
        try b.pull(from: a)
        try await b.db.wait(for: try a.db.writeToken(), timeout: Self.long)
        let seen = try #require(try Item.find(item.id, in: b.db))
        let token = try await a.db.write { [db = a.db] in
            try item.save { $0.title = "second" }
            return try db.writeToken()
        }
        #expect(seen.title == "first")
        let waiting = Task { [db = b.db] in try await db.wait(for: token, timeout: Self.long) }
        try b.pull(from: a)
        try await waiting.value
        #expect(seen.title == "second")
    }

    @Test("what a replica wrote itself has arrived there, and so has the token of a replica that wrote nothing")
    func own() async throws {
        let (a, b) = (try Self.machine(), try Self.machine())
        try await b.db.wait(for: try a.db.writeToken(), timeout: .zero)
        try Item.create(in: a.db) { $0.title = "here" }
        try await a.db.wait(for: try a.db.writeToken(), timeout: .zero)
    }

    @Test("a token covers what others wrote to the same file, and no write of another replica")
    func coverage() async throws {
        let (a, b) = (try Self.machine(), try Self.machine())
        let before = try a.db.writeToken()
        let outside = try RawConnection(path: a.path)
        try outside.run("INSERT INTO Item (id, title) VALUES ('00000000-0000-7000-8000-000000000001', 'outside')")
        let after = try a.db.writeToken()
        #expect(after != before)
        try b.pull(from: a)
        #expect(try b.db.writeToken() != after)
        try Item.create(in: b.db) { $0.title = "b" }
        try a.pull(from: b)
        #expect(try a.db.writeToken() == after)
    }

    @Test("a write that does not arrive in time is an error, and the database goes on")
    func late() async throws {
        let (a, b) = (try Self.machine(), try Self.machine())
        try Item.create(in: a.db) { $0.title = "far away" }
        let token = try a.db.writeToken()
        for timeout in [Duration.zero, .milliseconds(5)] {
            let error = await #expect(throws: StoreError.self) { try await b.db.wait(for: token, timeout: timeout) }
            #expect(error?.code == .timedOut && error?.hint != nil)
        }
        try b.pull(from: a)
        try await b.db.wait(for: token, timeout: Self.long)
    }

    @Test("a cancelled wait throws at once, and closing the database ends a wait")
    func ends() async throws {
        let (a, b) = (try Self.machine(), try Self.machine())
        try Item.create(in: a.db) { $0.title = "far away" }
        let token = try a.db.writeToken()
        let cancelled = Task { [db = b.db] in try await db.wait(for: token) }
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        let closed = Task { [db = b.db] in try await db.wait(for: token) }
        try b.db.close()
        let error = await #expect(throws: StoreError.self) { try await closed.value }
        #expect(error?.code == .closed)
    }

    @Test("in memory, only its own writes can arrive")
    func memory() async throws {
        let a = try Self.machine()
        let memory = try Store.Database.inMemory { $0.automatic(Item.self) }
        try Item.create(in: memory) { $0.title = "own" }
        try await memory.wait(for: try memory.writeToken())
        try Item.create(in: a.db) { $0.title = "other" }
        let error = await #expect(throws: StoreError.self) { try await memory.wait(for: try a.db.writeToken()) }
        #expect(error?.code == .timedOut)
    }

    @Test("a token is its text again, without blanks; other texts are no tokens")
    func text() throws {
        let machine = try Self.machine()
        let token = try machine.db.writeToken()
        #expect(WriteToken(token.description) == token)
        #expect(token.description.utf8.allSatisfy { (0x21...0x7E).contains($0) })
        #expect(try JSONDecoder().decode(WriteToken.self, from: JSONEncoder().encode(token)) == token)
        let origin = String(repeating: "a", count: 32)
        for text in [
            "", "-", origin, "\(origin)-", "\(origin)--1", "\(origin)-+1", "\(origin)-1-1", "x\(origin)-1",
            "\(origin)- 1", "\(origin)-9223372036854775808", String(repeating: "0", count: 32) + "-1",
        ] {
            #expect(WriteToken(text) == nil, "\(text)")
        }
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(WriteToken.self, from: Data(#""x""#.utf8)) }
    }
}
