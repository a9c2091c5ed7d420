/// Keeps objects, which are bytes under a key, for any number of machines: a bucket of an S3 server, a directory.
///
/// Five verbs, and no promise beyond these: an object that was written is read from then on; ``create(_:_:)`` of
/// one key succeeds once. A listing may lag.
///
/// Keys are made of `a-z`, `0-9`, `.`, `-` and `/`: other characters are signed in different ways by different
/// servers. What comes before a slash in a key is the name of a directory in some stores: no other key is that name, or
/// that name with `-` or `.` behind it. A directory cannot keep the former, and SeaweedFS lists the latter in another
/// order.
/// Calls may run at the same time, and throw ``SyncError``. A call that throws `unreachable`, `timedOut`,
/// `truncated`, `busy` or `cancelled` may have had its effect.
package protocol ObjectStore: Sendable {
    /// The store's name in messages and in the status; holds no secret.
    var name: String { get }

    /// Writes an object, unless one has the key.
    ///
    /// - Returns: False when the key is taken; its object is unchanged then.
    /// - Throws: ``SyncError``; `failed` for a store that cannot do this (see ``StoreAbilities``).
    func create(_ key: String, _ bytes: [UInt8]) async throws -> Bool

    /// Writes an object in place of the one that has the key, if any.
    func replace(_ key: String, _ bytes: [UInt8]) async throws

    /// Returns an object, or a part of it.
    ///
    /// - Parameter range: The bytes to return; nil for all. A range that ends behind the object is cut.
    /// - Returns: nil when no object has the key.
    func get(_ key: String, range: Range<Int>?) async throws -> [UInt8]?

    /// Returns the objects whose keys begin with `prefix`, in the order of their keys as bytes.
    ///
    /// - Parameter after: Only keys behind this one; nil for all.
    /// - Returns: At most some thousand objects. When there are more, ``Listing/isCut`` is true, and the next call
    ///   gives the last key as `after`.
    func list(_ prefix: String, after: String?) async throws -> Listing

    /// Removes an object. Nothing happens when there is none.
    func delete(_ key: String) async throws
}

extension ObjectStore {
    /// Returns a whole object.
    ///
    /// - Throws: As ``get(_:range:)``.
    package func get(_ key: String) async throws -> [UInt8]? { try await get(key, range: nil) }

    /// Returns all objects whose keys begin with `prefix`.
    ///
    /// - Throws: As ``list(_:after:)``.
    package func listAll(_ prefix: String, after: String? = nil) async throws -> [StoredObject] {
        var all: [StoredObject] = []
        var after = after
        while true {
            let listing = try await list(prefix, after: after)
            all += listing.objects
            guard listing.isCut, let last = listing.objects.last else { return all }
            after = last.key
        }
    }
}

/// What a listing says of one object.
package struct StoredObject: Sendable, Hashable {
    /// The whole key.
    package var key: String
    /// The size in bytes.
    package var size: Int
    /// Changes whenever the object is replaced by another one; means nothing else.
    package var tag: String
    /// When it was written, in milliseconds since 1970 by the store's clock.
    package var milliseconds: Int64

    package init(key: String, size: Int, tag: String, milliseconds: Int64) {
        self.key = key
        self.size = size
        self.tag = tag
        self.milliseconds = milliseconds
    }
}

/// A part of a listing.
package struct Listing: Sendable, Hashable {
    /// In the order of their keys.
    package var objects: [StoredObject]
    /// True when there are more objects behind the last one.
    package var isCut: Bool

    package init(objects: [StoredObject], isCut: Bool) {
        self.objects = objects
        self.isCut = isCut
    }
}
