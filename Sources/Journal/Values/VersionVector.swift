/// What a replica knows: for each origin, the highest version below which nothing is missing.
///
/// The entries are sorted by origin, so that equal vectors encode to equal bytes.
public struct VersionVector: Hashable, Sendable {
    /// One origin, and the highest version known of it.
    public struct Entry: Hashable, Sendable {
        /// The replica that is known.
        public let origin: OriginID
        /// The highest version below which nothing is missing, 1 or more.
        public var version: Int64

        /// - Parameters:
        ///   - origin: The replica that is known.
        ///   - version: 1 or more; a vector ignores an entry with less.
        public init(origin: OriginID, version: Int64) {
            self.origin = origin
            self.version = version
        }
    }

    /// Ascending by origin, each origin once, no version below 1.
    public private(set) var entries: [Entry] = []

    /// Creates an empty vector.
    public init() {}

    /// Creates a vector of entries in any order. Of several entries of one origin, the greatest version
    /// counts.
    public init(_ entries: some Sequence<Entry>) {
        for entry in entries { advance(entry.origin, to: entry.version) }
    }

    /// The highest known version of `origin`; 0 when none is known.
    public subscript(origin: OriginID) -> Int64 {
        let index = position(of: origin)
        return index < entries.count && entries[index].origin == origin ? entries[index].version : 0
    }

    /// Raises the entry of `origin` to `version`; never lowers it.
    public mutating func advance(_ origin: OriginID, to version: Int64) {
        guard version > 0 else { return }
        let index = position(of: origin)
        if index < entries.count, entries[index].origin == origin {
            entries[index].version = max(entries[index].version, version)
        } else {
            entries.insert(Entry(origin: origin, version: version), at: index)
        }
    }

    /// Raises every entry to at least that of `other`, which gives the least upper bound of both.
    public mutating func merge(_ other: VersionVector) {
        for entry in other.entries { advance(entry.origin, to: entry.version) }
    }

    /// Returns the least upper bound of both vectors.
    public func merged(with other: VersionVector) -> VersionVector {
        var both = self
        both.merge(other)
        return both
    }

    /// True when this vector contains all versions that `other` contains.
    public func covers(_ other: VersionVector) -> Bool {
        other.entries.allSatisfy { self[$0.origin] >= $0.version }
    }

    /// True when this vector contains all versions that `other` contains, those of `origin` apart.
    package func covers(_ other: VersionVector, except origin: OriginID) -> Bool {
        other.entries.allSatisfy { $0.origin == origin || $0.version <= self[$0.origin] }
    }

    /// Returns the greatest lower bound of both vectors.
    package func common(with other: VersionVector) -> VersionVector {
        VersionVector(
            entries.compactMap { entry in
                let version = min(entry.version, other[entry.origin])
                return version > 0 ? Entry(origin: entry.origin, version: version) : nil
            })
    }

    /// True when the vector has no entry.
    public var isEmpty: Bool { entries.isEmpty }

    private func position(of origin: OriginID) -> Int {
        var low = 0
        var high = entries.count
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].origin < origin { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

extension VersionVector: CustomStringConvertible {
    public var description: String {
        "{" + entries.map { "\($0.origin.short):\($0.version)" }.joined(separator: " ") + "}"
    }
}
