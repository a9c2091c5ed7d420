/// How long a database keeps live objects of a model that the program does not hold.
///
/// ```swift
/// extension Person {
///     static var cachePolicy: CachePolicy { .recent(1_000) }
/// }
/// ```
public enum CachePolicy: Sendable {
    /// Not at all: an object is released with its last reference. The default.
    case weak
    /// The most recently fetched or created objects, up to this number.
    case recent(Int)
    /// All objects, until ``Database/evictAll()``. For small tables that are read often.
    case all
}

/// The objects that a cache policy keeps.
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

    /// Keeps `object`, and drops the oldest one when the limit is reached.
    ///
    /// - Returns: The dropped object. The caller must release it after unlocking its lock.
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
