import Foundation
import Store
import Synchronization
import Testing

@Suite("Many tasks at once", .timeLimit(.minutes(2)))
struct StressTests {
    private static let rows: Int64 = 12
    private static let workers = 6
    private static let rounds = 40

    @Test(
        "[49] for any work of tasks of two databases on one file, no update is lost, and every object in memory shows its row"
    )
    func twoDatabases() async throws {
        let test = try TestDatabase()
        let other = try Database(path: test.path, options: TestDatabase.options)
        try Person.create(from: 1...StressTests.rows, in: test.db) {
            $0.id = $1
            $0.name = "p\($1)"
            $0.age = 0
            $0.createdTime = .now
        }
        let tally = Tally()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for worker in 0..<StressTests.workers {
                let db = worker % 2 == 0 ? test.db : other
                group.addTask {
                    for round in 0..<StressTests.rounds {
                        let id = Int64((worker * 7 + round * 5) % Int(StressTests.rows)) + 1
                        let person = try #require(try Person.find(id, in: db))
                        let count = try StressTests.step(round + worker, person, in: db)
                        tally.add(count)
                        if round % 8 == worker { tally.keep(person) }
                    }
                }
            }
            try await group.waitForAll()
        }
        try test.db.refresh()
        try other.refresh()
        #expect(try test.db.value(Int.self, "SELECT sum(age) FROM Person") == tally.added)
        for person in tally.kept {
            #expect(try test.db.value(Int.self, "SELECT age FROM Person WHERE id = ?", person.id) == person.age)
        }
        #expect(try test.db.value(String.self, "PRAGMA integrity_check") == "ok")
        try other.close()
    }

    /// Does one random step of a service.
    ///
    /// - Returns: The growth of the ages.
    private static func step(_ kind: Int, _ person: Person, in db: Database) throws -> Int {
        switch kind % 4 {
        case 0:
            try person.save { $0.age = ($0.age ?? 0) + 1 }
            return 1
        case 1:
            return try Person.execute("UPDATE $T SET age = age + 1 WHERE $PK % 3 = ?", person.id % 3, in: db)
        case 2:
            try? db.transaction {
                try person.save { $0.age = ($0.age ?? 0) + 50 }
                try Person.execute("UPDATE $T SET age = age + 50", in: db)
                throw Refused()
            }
            return 0
        default:
            return try db.transaction {
                try person.save { $0.age = ($0.age ?? 0) + 1 }
                try? db.transaction {
                    try person.save { $0.age = ($0.age ?? 0) + 50 }
                    throw Refused()
                }
                try Person.execute("UPDATE $T SET age = age + 1 WHERE $PK = ?", person.id, in: db)
                return 2
            }
        }
    }
}

/// The work of the tasks, and the objects that they keep in memory.
private final class Tally: Sendable {
    private let state = Mutex((added: 0, kept: [Person]()))

    var added: Int { state.withLock { $0.added } }
    var kept: [Person] { state.withLock { $0.kept } }

    func add(_ count: Int) { state.withLock { $0.added += count } }
    func keep(_ person: Person) { state.withLock { $0.kept.append(person) } }
}
