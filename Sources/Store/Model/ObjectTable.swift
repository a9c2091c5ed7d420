/// The live objects of one model by key, as weak references.
///
/// This type is not generic, so that work that runs once for each row needs no generic metadata.
struct ObjectTable {
    private struct Weak {
        weak var object: (any AnyObject & Sendable)?

        /// Changes nothing. It is mutating because a mutating call reads a dictionary's value in place;
        /// copying a weak reference would cost more than the rest of a lookup.
        mutating func load() -> (any AnyObject & Sendable)? { object }
    }

    private var objects: [ExactKey: Weak] = [:]
    /// The number of entries at which entries of released objects are removed. It doubles with the size, so
    /// the amortised cost of each entry is constant.
    private var sweepAt = 64
    private var recent: [Weak] = []
    /// Objects that the model's cache policy keeps.
    private var kept: KeptObjects

    init(_ policy: CachePolicy) { kept = KeptObjects(policy) }

    var isEmpty: Bool { objects.isEmpty }

    /// An upper bound of the number of objects: some may have been released.
    var count: Int { objects.count }

    subscript(key: ExactKey) -> (any AnyObject & Sendable)? {
        mutating get {
            // Reads in place: the subscript by key would copy the weak reference.
            guard let index = objects.index(forKey: key) else { return nil }
            return objects.values[index].load()
        }
    }

    /// Every object that is still referenced.
    var all: [any AnyObject & Sendable] { objects.values.compactMap(\.object) }

    /// Adds an object.
    ///
    /// - Parameter isRecent: True while a transaction runs that may have to mark the object as stale at its
    ///   end.
    /// - Returns: An object that the cache policy drops. The caller must release it after unlocking its lock.
    mutating func register(_ object: any AnyObject & Sendable, _ key: ExactKey, isRecent: Bool) -> (
        any AnyObject & Sendable
    )? {
        objects[key] = Weak(object: object)
        if isRecent { recent.append(Weak(object: object)) }
        if objects.count >= sweepAt {
            removeReleased()
            sweepAt = max(64, objects.count * 2)
        }
        return kept.append(object)
    }

    /// Removes the entries of released objects. Values are read in place, as in the subscript.
    private mutating func removeReleased() {
        var released: [ExactKey] = []
        var index = objects.startIndex
        while index != objects.endIndex {
            if objects.values[index].load() == nil { released.append(objects.keys[index]) }
            objects.formIndex(after: &index)
        }
        for key in released { objects[key] = nil }
    }

    /// Removes the object of a key, and returns it.
    mutating func remove(_ key: ExactKey) -> (any AnyObject & Sendable)? {
        guard let object = self[key] else { return nil }
        objects[key] = nil
        return object
    }

    /// Puts an object that was removed under another key.
    ///
    /// - Returns: False, without any change, when the key has an object.
    mutating func place(_ object: any AnyObject & Sendable, _ key: ExactKey) -> Bool {
        guard self[key] == nil else { return false }
        objects[key] = Weak(object: object)
        return true
    }

    /// Reserves capacity for `count` more objects.
    mutating func reserve(_ count: Int) {
        guard objects.count + count >= sweepAt else { return }
        removeReleased()
        objects.reserveCapacity(objects.count + count)
        sweepAt = max(64, (objects.count + count) * 2)
    }

    mutating func takeRecent() -> [any AnyObject & Sendable] {
        if recent.isEmpty { return [] }
        defer { recent = [] }
        return recent.compactMap(\.object)
    }

    /// Returns the objects that the cache policy kept, and keeps them no more. The caller releases them when
    /// no lock is held.
    mutating func takeKept() -> [any AnyObject & Sendable] { kept.removeAll() }
}
