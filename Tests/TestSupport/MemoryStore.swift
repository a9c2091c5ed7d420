import Sync
import Synchronization

/// An object store in memory, which can fail as a server does.
package final class MemoryStore: ObjectStore {
    /// One of the five verbs.
    package enum Verb: Sendable, Hashable { case create, replace, get, list, delete }

    /// How a request fails.
    package enum Fault: Sendable, Hashable {
        /// Nothing happens.
        case refused
        /// It happens, and the answer is lost.
        case answerLost
    }

    private struct State {
        var objects: [String: (bytes: [UInt8], tag: Int, time: Int64)] = [:]
        var nextTag = 1
        var overwritten: [String] = []
    }

    package let name: String
    private let state = Mutex(State())
    private let createsOnce: Bool
    private let clock: @Sendable () -> Int64
    private let fault: @Sendable (Verb, String) -> Fault?

    /// - Parameters:
    ///   - createsOnce: False for a store that replaces an object when it is created again.
    ///   - fault: How a request fails; nil for not at all.
    package init(
        _ name: String = "memory", createsOnce: Bool = true, clock: @escaping @Sendable () -> Int64 = { 0 },
        fault: @escaping @Sendable (Verb, String) -> Fault? = { _, _ in nil }
    ) {
        self.name = name
        self.createsOnce = createsOnce
        self.clock = clock
        self.fault = fault
    }

    /// The keys that were created again with other bytes, on a store that allows it.
    package var overwritten: [String] { state.withLock { $0.overwritten } }

    /// All keys, in order.
    package var keys: [String] { state.withLock { $0.objects.keys.sorted() } }

    /// Everything that is stored, for ``restore(_:)``.
    package var content: [String: [UInt8]] { state.withLock { $0.objects.mapValues(\.bytes) } }

    /// Replaces everything, as a backup of the store does.
    package func restore(_ content: [String: [UInt8]]) {
        state.withLock { state in
            state.objects = [:]
            for (key, bytes) in content { MemoryStore.put(key, bytes, clock(), &state) }
        }
    }

    /// Changes one object by hand; nil removes it.
    package func damage(_ key: String, _ bytes: [UInt8]?) {
        state.withLock { state in
            if let bytes { MemoryStore.put(key, bytes, clock(), &state) } else { state.objects[key] = nil }
        }
    }

    package func create(_ key: String, _ bytes: [UInt8]) async throws -> Bool {
        try answer(.create, key) { state in
            if let old = state.objects[key] {
                guard !createsOnce else { return false }
                if old.bytes != bytes { state.overwritten.append(key) }
            }
            MemoryStore.put(key, bytes, clock(), &state)
            return true
        }
    }

    package func replace(_ key: String, _ bytes: [UInt8]) async throws {
        try answer(.replace, key) { MemoryStore.put(key, bytes, clock(), &$0) }
    }

    package func get(_ key: String, range: Range<Int>?) async throws -> [UInt8]? {
        try answer(.get, key) { state in
            state.objects[key].map { object in
                Array(object.bytes[(range ?? 0..<object.bytes.count).clamped(to: 0..<object.bytes.count)])
            }
        }
    }

    package func list(_ prefix: String, after: String?) async throws -> Listing {
        try answer(.list, prefix) { state in
            let found = state.objects.filter { $0.key.hasPrefix(prefix) && $0.key > after ?? "" }
                .sorted { $0.key < $1.key }
            return Listing(
                objects: found.prefix(100).map {
                    StoredObject(
                        key: $0.key, size: $0.value.bytes.count, tag: String($0.value.tag), milliseconds: $0.value.time)
                }, isCut: found.count > 100)
        }
    }

    package func delete(_ key: String) async throws { try answer(.delete, key) { $0.objects[key] = nil } }

    private static func put(_ key: String, _ bytes: [UInt8], _ time: Int64, _ state: inout State) {
        state.objects[key] = (bytes, state.nextTag, time)
        state.nextTag += 1
    }

    private func answer<T: Sendable>(_ verb: Verb, _ key: String, _ body: (inout State) throws -> T) throws -> T {
        guard !Task.isCancelled else { throw SyncError(.cancelled, "The work with \(name) was stopped") }
        guard verb == .list || ObjectKey.isValid(key) else { throw SyncError(.failed, "\"\(key)\" is no key") }
        let fault = fault(verb, key)
        if fault == .refused { throw SyncError(.unreachable, "\(name) cannot be reached") }
        let result = try state.withLock { try body(&$0) }
        if fault == .answerLost { throw SyncError(.timedOut, "\(name) did not answer in time") }
        return result
    }
}
