import Journal

/// Changes of one origin that are held back, not merged and not kept: this replica's clock has to come closer first, or an
/// operator has to decide.
///
/// Stamps of one origin rise, so all of its later changes are held back too.
public struct DeferredOrigin: Sendable, Hashable {
    /// The replica whose changes are held back.
    public let origin: OriginID
    /// The first version whose stamp is too far ahead, or that builds on such a one. Of the versions before it those of the same
    /// transaction may be missing too.
    public var firstVersion: Int64
    /// The last version that was seen.
    public var lastVersion: Int64
    /// The first stamp that lies too far ahead; nil when the changes only build on those of ``cause``; ``never`` when no clock can help,
    /// because they contradict the changes before them.
    public var stamp: Stamp?
    /// The origin whose held-back changes the writer had merged.
    public var cause: OriginID?

    static let never = Stamp(rawValue: .max)

    /// True for changes that no history can have led to.
    public var isContradictory: Bool { stamp == DeferredOrigin.never }

    /// - Parameters:
    ///   - origin: The replica whose changes are held back.
    ///   - firstVersion: The first of them, 1 or more.
    ///   - lastVersion: The last one that was seen, `firstVersion` or more.
    ///   - stamp: See ``stamp``.
    ///   - cause: See ``cause``.
    public init(
        origin: OriginID, firstVersion: Int64, lastVersion: Int64, stamp: Stamp? = nil, cause: OriginID? = nil
    ) {
        self.origin = origin
        self.firstVersion = firstVersion
        self.lastVersion = lastVersion
        self.stamp = stamp
        self.cause = cause
    }
}

/// What is held back of which origin, and how far ahead an operator lets origins be.
///
/// Pure. Invariant: versions from ``DeferredOrigin/firstVersion`` to ``DeferredOrigin/lastVersion`` exist at the peer that sent them, so
/// saying that they need not be sent never claims more of an origin than it has made.
struct DeferredOrigins: Sendable, Hashable {
    private(set) var holds: [OriginID: DeferredOrigin] = [:]

    /// Milliseconds that stamps of an origin may lie ahead beyond the usual.
    private(set) var allowances: [OriginID: Int64] = [:]

    init() {}

    var count: Int { holds.count }
    var isEmpty: Bool { holds.isEmpty && allowances.isEmpty }

    subscript(origin: OriginID) -> DeferredOrigin? { holds[origin] }

    mutating func set(_ hold: DeferredOrigin) { holds[hold.origin] = hold }
    mutating func allow(_ milliseconds: Int64, of origin: OriginID) { allowances[origin] = milliseconds }

    /// The greatest stamp to take from `origin`.
    ///
    /// - Parameter latest: The greatest stamp to take from anyone.
    func latest(of origin: OriginID, _ latest: Stamp) -> Stamp {
        guard let allowance = allowances[origin], allowance > 0 else { return latest }
        let (sum, overflow) = latest.milliseconds.addingReportingOverflow(allowance)
        return Stamp(milliseconds: overflow ? .max : sum)
    }

    /// An origin of which something is held back, and of whose changes `known` covers more than is here.
    func cause(in known: VersionVector, have: VersionVector) -> OriginID? {
        guard !holds.isEmpty else { return nil }
        return known.entries.first { holds[$0.origin] != nil && $0.version > have[$0.origin] }?.origin
    }

    /// True when what is held back of `origin` may be asked for again.
    func isDue(_ origin: OriginID, latest: Stamp) -> Bool {
        // Causes can follow one another; a damaged table could hold a circle.
        var hold = holds[origin]
        for _ in 0...holds.count {
            guard let current = hold else { return true }
            if let stamp = current.stamp { return stamp <= self.latest(of: current.origin, latest) }
            hold = current.cause.flatMap { holds[$0] }
        }
        return true
    }

    /// What was seen and need not be sent again until it is due.
    ///
    /// - Parameter theirs: What the peer has that this is told to. One that has nothing from the first held-back version on has
    ///   only what came before, and that may be lacking here. nil for all that is held back.
    func deferred(latest: Stamp, from theirs: VersionVector? = nil) -> VersionVector {
        VersionVector(
            holds.values.filter { hold in
                !isDue(hold.origin, latest: latest) && theirs.map { $0[hold.origin] >= hold.firstVersion } ?? true
            }.map { VersionVector.Entry(origin: $0.origin, version: $0.lastVersion) })
    }
}
