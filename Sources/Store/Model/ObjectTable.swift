/// The live objects of one model by key, held weakly.
///
/// Of one type for all models: what runs once for each row must not look up generic metadata.
struct ObjectTable {
    private struct Weak {
        weak var object: (any AnyObject & Sendable)?

        /// Changes nothing; a mutating call reads a dictionary's value in place, where copying a weak reference costs more than
        /// all the rest of a lookup.
        mutating func load() -> (any AnyObject & Sendable)? { object }
    }

    private var objects: [ExactKey: Weak] = [:]
    /// The number of entries at which the dead ones are swept out: so that each costs a constant amount.
    private var sweepAt = 64
    private var recent: [Weak] = []
    /// Objects that the model's cache policy keeps.
    private var kept: KeptObjects

    init(_ policy: CachePolicy) { kept = KeptObjects(policy) }

    var isEmpty: Bool { objects.isEmpty }

    /// How many objects there are at most: some of them may have been released.
    var count: Int { objects.count }

    subscript(key: ExactKey) -> (any AnyObject & Sendable)? {
        mutating get {
            // In place: through the key's own subscript the weak reference would be copied.
            guard let index = objects.index(forKey: key) else { return nil }
            return objects.values[index].load()
        }
    }

    /// Every object that someone holds.
    var all: [any AnyObject & Sendable] { objects.values.compactMap(\.object) }

    /// - Parameter isRecent: True while a transaction runs that may have to look at the object at its end.
    /// - Returns: An object that is no longer kept. The caller holds a lock, under which it must not be released.
    mutating func register(_ object: any AnyObject & Sendable, _ key: ExactKey, isRecent: Bool) -> (
        any AnyObject & Sendable
    )? {
        objects[key] = Weak(object: object)
        if isRecent { recent.append(Weak(object: object)) }
        if objects.count >= sweepAt {
            objects = objects.filter { $0.value.object != nil }
            sweepAt = max(64, objects.count * 2)
        }
        return kept.append(object)
    }

    /// Makes room for `count` objects more.
    mutating func reserve(_ count: Int) {
        guard objects.count + count >= sweepAt else { return }
        objects = objects.filter { $0.value.object != nil }
        objects.reserveCapacity(objects.count + count)
        sweepAt = max(64, (objects.count + count) * 2)
    }

    mutating func takeRecent() -> [any AnyObject & Sendable] {
        if recent.isEmpty { return [] }
        defer { recent = [] }
        return recent.compactMap(\.object)
    }

    /// Releases what is kept without being held by others; the caller does so when no lock is held.
    mutating func takeKept() -> [any AnyObject & Sendable] { kept.removeAll() }
}
