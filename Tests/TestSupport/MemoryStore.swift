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

    package let name: String
    private let objects: Mutex<MemoryObjects>
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
        objects = Mutex(MemoryObjects(createsOnce: createsOnce))
        self.clock = clock
        self.fault = fault
    }

    /// The keys that were created again with other bytes, on a store that allows it.
    package var overwritten: [String] { objects.withLock { $0.overwritten } }

    /// All keys, in order.
    package var keys: [String] { objects.withLock { $0.keys } }

    /// Everything that is stored, for ``restore(_:)``.
    package var content: [String: [UInt8]] { objects.withLock { $0.content } }

    /// Replaces everything, as a backup of the store does.
    package func restore(_ content: [String: [UInt8]]) { objects.withLock { $0.restore(content, at: clock()) } }

    /// Changes one object by hand; nil removes it.
    package func damage(_ key: String, _ bytes: [UInt8]?) {
        objects.withLock { objects in
            if let bytes { objects.replace(key, bytes, at: clock()) } else { objects.delete(key) }
        }
    }

    package func create(_ key: String, _ bytes: [UInt8]) async throws -> Bool {
        try answer(.create, key) { $0.create(key, bytes, at: clock()) }
    }

    package func replace(_ key: String, _ bytes: [UInt8]) async throws {
        try answer(.replace, key) { $0.replace(key, bytes, at: clock()) }
    }

    package func get(_ key: String, range: Range<Int>?) async throws -> [UInt8]? {
        try answer(.get, key) { $0.get(key, range: range) }
    }

    package func list(_ prefix: String, after: String?) async throws -> Listing {
        try answer(.list, prefix) { $0.list(prefix, after: after) }
    }

    package func delete(_ key: String) async throws { try answer(.delete, key) { $0.delete(key) } }

    private func answer<T: Sendable>(_ verb: Verb, _ key: String, _ body: (inout MemoryObjects) -> T) throws -> T {
        guard !Task.isCancelled else { throw SyncError(.cancelled, "The work with \(name) was stopped") }
        guard verb == .list || ObjectKey.isValid(key) else { throw SyncError(.failed, "\"\(key)\" is no key") }
        let fault = fault(verb, key)
        if fault == .refused { throw SyncError(.unreachable, "\(name) cannot be reached") }
        let result = objects.withLock { body(&$0) }
        if fault == .answerLost { throw SyncError(.timedOut, "\(name) did not answer in time") }
        return result
    }
}
