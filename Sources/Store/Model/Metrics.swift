import Synchronization

/// What a database holds in memory, and how often that spared a query. For logs and dashboards.
public struct StoreMetrics: Sendable, Equatable {
    /// Live objects that someone holds, by the models' names.
    public let liveObjects: [String: Int]
    /// Results of ``Database/cached(_:ignoringColumns:_:)`` and `Query.cached`.
    public let cachedResults: Int
    /// How often a cached result was given since the database was opened.
    public let cacheHits: Int
    /// How often one was asked for and had to be computed; inside of a transaction or a read, which cache nothing, it
    /// does not count.
    public let cacheMisses: Int
    /// SELECTs run so far, those by key included.
    public let queries: Int
}

/// Counts without a lock.
final class Counters: Sendable {
    private let queries = Atomic<Int>(0)
    private let hits = Atomic<Int>(0)
    private let misses = Atomic<Int>(0)

    func countQuery() { queries.add(1, ordering: .relaxed) }

    func countLookup(hit: Bool) {
        if hit { hits.add(1, ordering: .relaxed) } else { misses.add(1, ordering: .relaxed) }
    }

    var values: (queries: Int, hits: Int, misses: Int) {
        (queries.load(ordering: .relaxed), hits.load(ordering: .relaxed), misses.load(ordering: .relaxed))
    }
}

extension Database {
    /// What is in memory now.
    public var metrics: StoreMetrics {
        let counts = counters.values
        var live: [String: Int] = [:]
        for registry in allInstances() { live[registry.modelName, default: 0] += registry.heldCount }
        return StoreMetrics(
            liveObjects: live, cachedResults: cache.count, cacheHits: counts.hits, cacheMisses: counts.misses,
            queries: counts.queries)
    }

    /// Releases everything that is kept in memory without being held by others: objects that a ``CachePolicy`` keeps, and cached
    /// results. For times when memory is short. Objects that someone holds stay what they are.
    public func evictAll() {
        cache.removeAll()
        for registry in allInstances() { registry.evict() }
    }
}
