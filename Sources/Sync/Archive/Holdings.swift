import Journal

/// The changes that some packs hold: which versions, and where transactions end. Pure.
struct Holdings: Sendable, Hashable, Codable {
    /// Consecutive versions of one origin.
    struct Range: Sendable, Hashable, Codable {
        var origin: StoredOrigin
        var first: Int64
        var last: Int64
    }

    /// In the order of the origins, then of the versions. Those that continue one another are one.
    private(set) var ranges: [Range] = []
    /// For each origin, the last version that ends a transaction.
    private(set) var ends = StoredVector(VersionVector())

    private enum CodingKeys: String, CodingKey { case ranges, ends }

    init() {}

    /// Decodes untrusted JSON.
    ///
    /// - Throws: ``WireError/Code/malformed`` for versions that no replica can have.
    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        for range in try container.decode([Range].self, forKey: .ranges) {
            guard range.first >= 1, range.first <= range.last, range.last <= Limits.standard.versions else {
                throw WireError.malformed("a range of versions out of range")
            }
            add(range)
        }
        ends = try container.decode(StoredVector.self, forKey: .ends)
    }

    init(_ entry: Pack.Entry) {
        if case .batch(let covers, _, _) = entry.frame.body {
            for cover in covers {
                add(Range(origin: StoredOrigin(cover.origin), first: cover.first, last: cover.last))
            }
        }
        ends = StoredVector(entry.wholeCovers)
    }

    init(_ entries: [Pack.Entry]) {
        for entry in entries { merge(Holdings(entry)) }
    }

    mutating func merge(_ other: Holdings) {
        for range in other.ranges { add(range) }
        ends.vector.merge(other.ends.vector)
    }

    private mutating func add(_ new: Range) {
        var new = new
        // What touches the new range becomes a part of it.
        ranges.removeAll { old in
            guard old.origin == new.origin, old.first <= new.last + 1, new.first <= old.last + 1 else { return false }
            new.first = min(new.first, old.first)
            new.last = max(new.last, old.last)
            return true
        }
        let place =
            ranges.firstIndex { ($0.origin.origin, $0.first) > (new.origin.origin, new.first) } ?? ranges.endIndex
        ranges.insert(new, at: place)
    }

    /// What a replica has that takes all of it, beginning with `base`: only what no earlier version is missing of.
    ///
    /// - Returns: All changes, and those of whole transactions.
    func reachable(from base: VersionVector) -> (all: VersionVector, whole: VersionVector) {
        var all = base
        for range in ranges where range.first <= all[range.origin.origin] + 1 {
            all.advance(range.origin.origin, to: range.last)
        }
        var whole = base
        for end in ends.vector.entries where end.version <= all[end.origin] {
            whole.advance(end.origin, to: end.version)
        }
        return (all, whole)
    }

    /// The number of changes; the greatest number there is when it is greater.
    var count: Int64 {
        ranges.reduce(0) { $0.addingSaturating($1.last - $1.first + 1) }
    }

    /// True when `other` adds nothing.
    func contains(_ other: Holdings) -> Bool {
        var both = self
        both.merge(other)
        return both == self
    }

    /// True when `vector` has all of it.
    func isCovered(by vector: VersionVector) -> Bool {
        ranges.allSatisfy { $0.last <= vector[$0.origin.origin] }
    }
}

extension Int64 {
    /// The sum, or the greatest number there is when it is greater.
    func addingSaturating(_ other: Int64) -> Int64 {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? .max : sum
    }
}
