import Synchronization

/// Counts of what a database keeps in memory, and of the queries that this saved. For logs and dashboards.
public struct StoreMetrics: Sendable, Equatable {
    /// The number of live objects, by name of the model.
    public let liveObjects: [String: Int]
    /// The number of cached results of ``Database/cached(_:ignoringColumns:_:)`` and `Query.cached`.
    public let cachedResults: Int
    /// The number of times a cached result was returned since the database was opened.
    public let cacheHits: Int
    /// The number of times a result had to be computed. Calls inside a transaction or a read cache nothing
    /// and do not count.
    public let cacheMisses: Int
    /// The number of SELECTs run so far, including those by key.
    public let queries: Int
    /// The number of times a list left out a row that it could not read (``UnreadableRows/skip``).
    public let skippedRows: Int
}

/// Counters without a lock, except for the rare rows that are skipped.
final class Counters: Sendable {
    private let queries = Atomic<Int>(0)
    private let hits = Atomic<Int>(0)
    private let misses = Atomic<Int>(0)
    private let skipped = Mutex<[String: Int]>([:])

    func countQuery() { queries.add(1, ordering: .relaxed) }

    func countLookup(hit: Bool) {
        if hit { hits.add(1, ordering: .relaxed) } else { misses.add(1, ordering: .relaxed) }
    }

    /// Counts a row that a list left out; true for the first one of its table.
    func countSkippedRow(of table: String) -> Bool {
        skipped.withLock { counts in
            counts[table, default: 0] += 1
            return counts[table] == 1
        }
    }

    var skippedRows: Int { skipped.withLock { $0.values.reduce(0, +) } }

    var values: (queries: Int, hits: Int, misses: Int) {
        (queries.load(ordering: .relaxed), hits.load(ordering: .relaxed), misses.load(ordering: .relaxed))
    }
}

extension Database {
    /// The current counts.
    public var metrics: StoreMetrics {
        let counts = counters.values
        var live: [String: Int] = [:]
        for registry in allInstances() { live[registry.modelName, default: 0] += registry.heldCount }
        return StoreMetrics(
            liveObjects: live, cachedResults: cache.count, cacheHits: counts.hits, cacheMisses: counts.misses,
            queries: counts.queries, skippedRows: counters.skippedRows)
    }

    /// Releases everything that the database keeps in memory beyond what the program holds: objects that a
    /// ``CachePolicy`` keeps, and cached results. For times when memory is short. Objects that the program
    /// holds are not affected.
    public func evictAll() {
        cache.removeAll()
        for registry in allInstances() { registry.evict() }
    }
}
