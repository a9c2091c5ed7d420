/// How long a database keeps the live objects of a model that nobody holds.
///
/// ```swift
/// extension Person {
///     static var cachePolicy: CachePolicy { .recent(1_000) }
/// }
/// ```
public enum CachePolicy: Sendable {
    /// Not at all: an object goes when its last holder goes. The default.
    case weak
    /// The last ones that were read or made, this many.
    case recent(Int)
    /// All of them, until ``Database/evictAll()``. For small tables that are looked up often.
    case all
}

/// The objects that a policy keeps.
struct KeptObjects {
    private let limit: Int
    private var objects: [any AnyObject & Sendable] = []
    private var next = 0

    init(_ policy: CachePolicy) {
        switch policy {
        case .weak: limit = 0
        case .recent(let count): limit = max(0, count)
        case .all: limit = .max
        }
    }

    /// Keeps `object`, in the place of the oldest one when there are enough.
    ///
    /// - Returns: The one that is no longer kept. The caller holds a lock, under which it must not be released.
    mutating func append(_ object: any AnyObject & Sendable) -> (any AnyObject & Sendable)? {
        guard limit > 0 else { return nil }
        if objects.count < limit {
            objects.append(object)
            return nil
        }
        let oldest = objects[next]
        objects[next] = object
        next = (next + 1) % limit
        return oldest
    }

    mutating func removeAll() -> [any AnyObject & Sendable] {
        defer {
            objects = []
            next = 0
        }
        return objects
    }
}
