/// What a replica knows: for each origin, the highest version with everything below it.
///
/// Kept sorted by origin, so that equal vectors encode to equal bytes.
public struct VersionVector: Hashable, Sendable {
    /// One origin, and how far it is known.
    public struct Entry: Hashable, Sendable {
        /// The replica that is known.
        public let origin: OriginID
        /// The highest version with everything below it, 1 or more.
        public var version: Int64

        /// - Parameters:
        ///   - origin: The replica that is known.
        ///   - version: 1 or more; a vector drops less.
        public init(origin: OriginID, version: Int64) {
            self.origin = origin
            self.version = version
        }
    }

    /// Ascending by origin, each origin once, no version below 1.
    public private(set) var entries: [Entry] = []

    /// Nothing is known.
    public init() {}

    /// In any order; of several entries of one origin the greatest version holds.
    public init(_ entries: some Sequence<Entry>) {
        for entry in entries { advance(entry.origin, to: entry.version) }
    }

    /// The highest known version of `origin`; 0 when nothing of it is known. Setting 0 or less is ignored.
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

    /// Raises every entry to at least that of `other`: the least upper bound of the two.
    public mutating func merge(_ other: VersionVector) {
        for entry in other.entries { advance(entry.origin, to: entry.version) }
    }

    /// The least upper bound of the two.
    public func merged(with other: VersionVector) -> VersionVector {
        var both = self
        both.merge(other)
        return both
    }

    /// True when everything that `other` knows is known here.
    public func covers(_ other: VersionVector) -> Bool {
        other.entries.allSatisfy { self[$0.origin] >= $0.version }
    }

    /// True when nothing is known.
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
