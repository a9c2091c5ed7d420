import Synchronization

/// A store whose requests are counted.
package final class CountedStore: ObjectStore {
    private let base: any ObjectStore
    private let counts = Mutex(StoreRequests())

    package init(_ base: any ObjectStore) { self.base = base }

    package var name: String { base.name }

    /// The requests up to now.
    package var requests: StoreRequests { counts.withLock { $0 } }

    package func create(_ key: String, _ bytes: [UInt8]) async throws -> Bool {
        counts.withLock {
            $0.creates += 1
            $0.sentBytes += bytes.count
        }
        return try await base.create(key, bytes)
    }

    package func replace(_ key: String, _ bytes: [UInt8]) async throws {
        counts.withLock {
            $0.replaces += 1
            $0.sentBytes += bytes.count
        }
        try await base.replace(key, bytes)
    }

    package func get(_ key: String, range: Range<Int>?) async throws -> [UInt8]? {
        counts.withLock { $0.gets += 1 }
        let bytes = try await base.get(key, range: range)
        counts.withLock { $0.receivedBytes += bytes?.count ?? 0 }
        return bytes
    }

    package func list(_ prefix: String, after: String?) async throws -> Listing {
        counts.withLock { $0.lists += 1 }
        return try await base.list(prefix, after: after)
    }

    package func delete(_ key: String) async throws {
        counts.withLock { $0.deletes += 1 }
        try await base.delete(key)
    }
}
