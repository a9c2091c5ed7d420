import Synchronization
import TestSupport
import Testing

@testable import Sync

@Suite("A single command asks an object store again that fails for a moment")
struct PatientStoreTests {
    /// A store whose requests fail so often, and the one in front of it.
    private struct Stores {
        let clock = ManualClock()
        let failing: FailingStore
        let patient: PatientStore

        init(failures: Int, _ error: SyncError) {
            failing = FailingStore(failures: failures, error: error)
            patient = PatientStore(failing, clock: clock) { .max }
        }
    }

    @Test(
        "what may pass is asked again, for each verb",
        arguments: [SyncError.Code.busy, .tooManyRequests])
    func again(code: SyncError.Code) async throws {
        let stores = Stores(failures: 3, SyncError(code, "not now", retryAfterSeconds: 2))
        #expect(try await stores.patient.create("a", [1]))
        #expect(try await stores.patient.get("a") == [1])
        try await stores.patient.replace("a", [2])
        #expect(try await stores.patient.listAll("").map(\.key) == ["a"])
        try await stores.patient.delete("a")
        #expect(stores.failing.requests == 4 * 5)
        // The time that the server names, and a part on top that doubles.
        #expect(stores.clock.steadyMilliseconds() == 5 * (3 * 2_000 + 250 + 500 + 1_000))
    }

    @Test("not for ever, and the error then says how often")
    func patience() async throws {
        let stores = Stores(failures: .max, SyncError(.busy, "not now"))
        let error = await #expect(throws: SyncError.self) { try await stores.patient.delete("a") }
        #expect(error?.message == "not now" && error?.code == .busy)
        #expect(error?.hint?.hasPrefix("It failed \(stores.failing.requests) times within 30 seconds.") == true)
        let waited = stores.clock.steadyMilliseconds()
        #expect(waited <= Limits.standard.storePatienceMilliseconds && waited > 10_000)
    }

    @Test(
        "a connection that breaks is tried again once the store has answered: before, the address may be wrong",
        arguments: [SyncError.Code.unreachable, .timedOut, .truncated])
    func address(code: SyncError.Code) async throws {
        let stores = Stores(failures: 1, SyncError(code, "gone"))
        await #expect(throws: SyncError.self) { try await stores.patient.delete("a") }
        #expect(stores.failing.requests == 1 && stores.clock.steadyMilliseconds() == 0)
        stores.failing.fail(0)
        try await stores.patient.delete("a")
        stores.failing.fail(2)
        try await stores.patient.delete("a")
        #expect(stores.failing.requests == 5)
    }

    @Test(
        "what stays wrong is not asked again",
        arguments: [SyncError.Code.forbidden, .unauthorized, .notFound, .storage, .failed, .clockSkew, .cancelled])
    func others(code: SyncError.Code) async throws {
        let stores = Stores(failures: 1, SyncError(code, "no"))
        await #expect(throws: SyncError.self) { try await stores.patient.delete("a") }
        #expect(stores.failing.requests == 1)
    }
}

/// A store in memory. Each request fails some times before it succeeds.
private final class FailingStore: ObjectStore {
    private let base = MemoryStore()
    private let error: SyncError
    private let state: Mutex<(failures: Int, left: Int, requests: Int)>

    init(failures: Int, error: SyncError) {
        self.error = error
        state = Mutex((failures, failures, 0))
    }

    var name: String { base.name }
    var requests: Int { state.withLock { $0.requests } }

    /// From now on, each request fails so often.
    func fail(_ failures: Int) { state.withLock { ($0.failures, $0.left) = (failures, failures) } }

    private func ask() throws {
        try state.withLock { state in
            state.requests += 1
            guard state.left == 0 else {
                state.left -= 1
                throw error
            }
            state.left = state.failures
        }
    }

    func create(_ key: String, _ bytes: [UInt8]) async throws -> Bool {
        try ask()
        return try await base.create(key, bytes)
    }

    func replace(_ key: String, _ bytes: [UInt8]) async throws {
        try ask()
        try await base.replace(key, bytes)
    }

    func get(_ key: String, range: Range<Int>?) async throws -> [UInt8]? {
        try ask()
        return try await base.get(key, range: range)
    }

    func list(_ prefix: String, after: String?) async throws -> Listing {
        try ask()
        return try await base.list(prefix, after: after)
    }

    func delete(_ key: String) async throws {
        try ask()
        try await base.delete(key)
    }
}
