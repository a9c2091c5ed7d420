import Dispatch
import Foundation
import Store
import TestSupport
import Testing

@Suite("Accesses of tasks", .timeLimit(.minutes(1)))
struct AsyncAccessTests {
    @TaskLocal static var request = "none"

    let test: TestDatabase
    var db: Store.Database { test.db }

    init() throws { test = try TestDatabase() }

    /// Runs `body` while another thread holds the database in a transaction.
    private func whileWriting(_ body: () async throws -> Void) async throws {
        let (isHeld, isDone) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let outcome = OutcomeBox<Void>()
        Thread.detachNewThread { [db] in
            outcome.set(
                Result {
                    try db.transaction {
                        isHeld.signal()
                        isDone.wait()
                    }
                })
        }
        isHeld.waitBlocking()
        let failure: (any Error)?
        do {
            try await body()
            failure = nil
        } catch {
            failure = error
        }
        isDone.signal()
        try outcome.wait().get()
        if let failure { throw failure }
    }

    @Test("[37] a cancelled write throws at once, while another thread still holds the lock, and never begins")
    func cancelledWhileWaiting() async throws {
        let runs = Collected<Bool>()
        try await whileWriting {
            let writes = (0..<2).map { _ in Task { [db] in try await db.write { runs.append(true) } } }
            for write in writes { write.cancel() }
            for write in writes {
                await #expect(throws: CancellationError.self) { try await write.value }
            }
        }
        #expect(try await db.write { 1 } == 1)
        #expect(runs.all.isEmpty)
    }

    @Test("[37] a task that is cancelled before the call neither waits nor runs the body")
    func cancelledBefore() async throws {
        try await whileWriting {
            let task = Task { [db] in
                withUnsafeCurrentTask { $0?.cancel() }
                return try await db.write { true }
            }
            await #expect(throws: CancellationError.self) { _ = try await task.value }
        }
    }

    @Test("[37] the result of a transaction may be ignored")
    func ignoredResults() async throws {
        let (ann, bob) = (try test.person("Ann"), try test.person("Bob"))
        let db = db
        try db.transaction { try ann.delete() }
        try await db.write { try bob.delete() }
        try db.withGRDB { _ in true }
        #expect(try Person.count(in: db) == 0)
    }

    @Test("[37] the body sees the task-local values and the cancellation of its caller")
    func context() async throws {
        let hasBegun = DispatchSemaphore(value: 0)
        let write = Self.$request.withValue("r1") {
            Task { [db] in
                try await db.write {
                    hasBegun.signal()
                    let before = Task.isCancelled
                    // The test cancels the task as soon as the body has begun.
                    let deadline = ContinuousClock.now + .seconds(20)
                    while !Task.isCancelled, ContinuousClock.now < deadline { sched_yield() }
                    return (Self.request, before, Task.isCancelled)
                }
            }
        }
        hasBegun.waitBlocking()
        write.cancel()
        let (request, before, after) = try await write.value
        #expect(request == "r1" && !before && after)
        let read = try await Self.$request.withValue("r2") { try await db.read { Self.request } }
        #expect(read == "r2")
    }
}

extension DispatchSemaphore {
    /// `wait` for asynchronous tests: the thread that signals is not one of the task pool.
    func waitBlocking() { wait() }
}
