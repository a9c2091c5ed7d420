import Sync

/// The content of an object store in memory, as a value.
package struct MemoryObjects: Sendable {
    private struct Object {
        let bytes: [UInt8]
        let tag: Int
        let milliseconds: Int64
    }

    /// The most objects of one listing.
    private static let listed = 100

    private var objects: [String: Object] = [:]
    private var nextTag = 1
    private let createsOnce: Bool
    /// The keys that were created again with other bytes, on a store that allows it.
    package private(set) var overwritten: [String] = []

    /// - Parameter createsOnce: False for a store that replaces an object when it is created again.
    package init(createsOnce: Bool = true) { self.createsOnce = createsOnce }

    /// All keys, in order.
    package var keys: [String] { objects.keys.sorted() }

    /// The bytes of all objects, for ``restore(_:at:)``.
    package var content: [String: [UInt8]] { objects.mapValues(\.bytes) }

    /// Replaces everything, as a backup of the store does.
    package mutating func restore(_ content: [String: [UInt8]], at milliseconds: Int64) {
        objects = [:]
        for (key, bytes) in content.sorted(by: { $0.key < $1.key }) { replace(key, bytes, at: milliseconds) }
    }

    /// - Returns: False when the key is taken, and the object unchanged.
    package mutating func create(_ key: String, _ bytes: [UInt8], at milliseconds: Int64) -> Bool {
        if let old = objects[key] {
            guard !createsOnce else { return false }
            if old.bytes != bytes { overwritten.append(key) }
        }
        replace(key, bytes, at: milliseconds)
        return true
    }

    package mutating func replace(_ key: String, _ bytes: [UInt8], at milliseconds: Int64) {
        objects[key] = Object(bytes: bytes, tag: nextTag, milliseconds: milliseconds)
        nextTag += 1
    }

    package func get(_ key: String, range: Range<Int>? = nil) -> [UInt8]? {
        objects[key].map { object in
            let all = 0..<object.bytes.count
            return Array(object.bytes[(range ?? all).clamped(to: all)])
        }
    }

    package func list(_ prefix: String, after: String?) -> Listing {
        let found = objects.filter { $0.key.hasPrefix(prefix) && $0.key > after ?? "" }.sorted { $0.key < $1.key }
        return Listing(
            objects: found.prefix(MemoryObjects.listed).map { key, object in
                StoredObject(
                    key: key, size: object.bytes.count, tag: String(object.tag), milliseconds: object.milliseconds)
            }, isCut: found.count > MemoryObjects.listed)
    }

    package mutating func delete(_ key: String) { objects[key] = nil }
}
