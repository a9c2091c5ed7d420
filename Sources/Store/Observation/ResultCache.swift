import Synchronization

/// The cached results of queries and computations. Each is kept until a commit touches what it was computed
/// from.
///
/// Invariant: an entry is not older than the last commit that touches it. An entry is stored only when no
/// commit was handled after its computation began.
final class ResultCache: Dependent {
    private struct Entry {
        let value: any Sendable
        let region: ReadRegion
        let ignored: Set<String>
        var lastUse: Int
    }

    private struct State {
        var entries: [CacheKey: Entry] = [:]
        var uses = 0
    }

    /// The maximum number of results. The least recently used one is dropped first.
    static let limit = 1_000

    private let state = Mutex(State())
    private let counters: Counters

    init(counters: Counters) { self.counters = counters }

    var count: Int { state.withLock { $0.entries.count } }
    var isIdle: Bool { count == 0 }

    func value<T: Sendable>(_ key: CacheKey, as type: T.Type) -> T? {
        let value = state.withLock { state -> (any Sendable)? in
            guard var entry = state.entries[key] else { return nil }
            state.uses += 1
            entry.lastUse = state.uses
            state.entries[key] = entry
            return entry.value
        }
        // Unwrapped before the cast: a missing entry must not be taken for a nil of an optional T.
        guard let value, let known = value as? T else {
            counters.countLookup(hit: false)
            return nil
        }
        counters.countLookup(hit: true)
        return known
    }

    func store(
        _ value: any Sendable, for key: CacheKey, region: ReadRegion, ignoring ignored: Set<String>,
        if isCurrent: () -> Bool
    ) {
        // Dropped results may release objects, which must not happen under the lock.
        var evicted: [Entry?] = []
        state.withLock { state in
            guard isCurrent() else { return }
            state.uses += 1
            evicted.append(
                state.entries.updateValue(
                    Entry(value: value, region: region, ignored: ignored, lastUse: state.uses), forKey: key))
            if state.entries.count > ResultCache.limit,
                let oldest = state.entries.min(by: { $0.value.lastUse < $1.value.lastUse })
            {
                evicted.append(state.entries.removeValue(forKey: oldest.key))
            }
        }
    }

    func committed(_ summary: CommitSummary) {
        var evicted: [Entry] = []
        state.withLock { state in
            for (key, entry) in state.entries where entry.region.isTouched(by: summary, ignoring: entry.ignored) {
                evicted.append(entry)
                state.entries[key] = nil
            }
        }
    }

    func finish() { removeAll() }

    func removeAll() {
        let entries = state.withLock { state in
            defer { state.entries = [:] }
            return state.entries
        }
        _ = entries
    }
}

/// The key of a cached result.
struct CacheKey: Hashable, @unchecked Sendable {
    // Sendable because it consists only of Sendable values, which the type eraser hides from the compiler.
    private let parts: [AnyHashable]

    init(_ parts: any (Hashable & Sendable)...) { self.parts = parts.map { AnyHashable($0) } }
}
