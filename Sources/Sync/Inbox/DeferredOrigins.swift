import Journal

/// An origin whose changes wait, neither merged nor kept here: this replica's clock has to catch up first, or
/// an operator has to decide.
///
/// Stamps of one origin ascend, so all of its later changes wait too.
public struct DeferredOrigin: Sendable, Hashable {
    /// The replica whose changes wait.
    public let origin: OriginID
    /// The first version whose stamp is too far ahead, or whose writer had merged deferred changes. Earlier
    /// versions of the same transaction may be missing here too.
    public var firstVersion: Int64
    /// The last version that was seen.
    public var lastVersion: Int64
    /// The first stamp that lies too far ahead; nil when the changes wait only for those of ``cause``;
    /// `never` when they contradict the changes before them, and `behind` when they are from behind the
    /// horizon, so that no clock can help.
    public var stamp: Stamp?
    /// The origin whose deferred changes the writer had merged.
    public var cause: OriginID?

    static let never = Stamp(rawValue: .max)
    static let behind = Stamp(rawValue: .max - 1)

    /// True for changes that no history can have produced.
    public var isContradictory: Bool { stamp == DeferredOrigin.never }

    /// True for changes whose writer had not seen all that is compacted here. Merging them could revive or
    /// overwrite rows, and nothing here could tell.
    public var isBehindHorizon: Bool { stamp == DeferredOrigin.behind }

    /// True when no clock can help.
    var isFinal: Bool { isContradictory || isBehindHorizon }

    /// - Parameters:
    ///   - origin: The replica whose changes wait.
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

/// The deferred origins, and how far ahead an operator allows origins to be.
///
/// Pure. Invariant: the versions from ``DeferredOrigin/firstVersion`` to ``DeferredOrigin/lastVersion`` exist
/// at the peer that sent them. Telling a peer not to send them therefore never claims more of an origin than
/// it has made.
struct DeferredOrigins: Sendable, Hashable {
    private(set) var holds: [OriginID: DeferredOrigin] = [:]

    /// How much further ahead than usual the stamps of an origin may lie, in milliseconds.
    private(set) var allowances: [OriginID: Int64] = [:]

    init() {}

    var count: Int { holds.count }
    var isEmpty: Bool { holds.isEmpty && allowances.isEmpty }

    subscript(origin: OriginID) -> DeferredOrigin? { holds[origin] }

    mutating func set(_ hold: DeferredOrigin) { holds[hold.origin] = hold }
    mutating func allow(_ milliseconds: Int64, of origin: OriginID) { allowances[origin] = milliseconds }

    /// The greatest stamp to accept from `origin`.
    ///
    /// - Parameter latest: The greatest stamp to accept from any origin.
    func latest(of origin: OriginID, _ latest: Stamp) -> Stamp {
        guard let allowance = allowances[origin], allowance > 0 else { return latest }
        let (sum, overflow) = latest.milliseconds.addingReportingOverflow(allowance)
        return Stamp(milliseconds: overflow ? .max : sum)
    }

    /// A deferred origin of whose changes `known` covers more than is here; nil when there is none.
    func cause(in known: VersionVector, have: VersionVector) -> OriginID? {
        guard !holds.isEmpty else { return nil }
        return known.entries.first { holds[$0.origin] != nil && $0.version > have[$0.origin] }?.origin
    }

    /// True when the deferred changes of `origin` may be requested again.
    func isDue(_ origin: OriginID, latest: Stamp) -> Bool {
        guard let root = root(of: origin), let stamp = root.stamp else { return true }
        return !root.isFinal && stamp <= self.latest(of: root.origin, latest)
    }

    /// What the deferred changes of `origin` wait for in the end: a hold with a stamp; nil when there is none.
    private func root(of origin: OriginID) -> DeferredOrigin? {
        var hold = holds[origin]
        // A cause can have a cause itself. The bound ends the loop if a damaged table holds a cycle.
        for _ in 0...holds.count {
            guard let current = hold, current.stamp == nil else { return hold }
            hold = current.cause.flatMap { holds[$0] }
        }
        return nil
    }

    /// The time until the first deferred changes are due that are not due now, in milliseconds; nil when no
    /// clock makes any due.
    func nextDue(latest: Stamp) -> Int64? {
        holds.values.compactMap { hold in
            guard let stamp = hold.stamp, !hold.isFinal else { return nil }
            // The counter of a stamp needs one more millisecond.
            let wait = stamp.milliseconds + 1 - self.latest(of: hold.origin, latest).milliseconds
            return isDue(hold.origin, latest: latest) ? nil : max(1, wait)
        }.min()
    }

    /// The first version of each origin that is refused here for ever, because its writer had not seen what is
    /// compacted here.
    var refused: VersionVector {
        VersionVector(
            holds.values.filter(\.isBehindHorizon).map {
                VersionVector.Entry(origin: $0.origin, version: $0.firstVersion)
            })
    }

    /// What there is of `vector` without the changes that no clock makes due: they are refused here for ever, or their
    /// writer had merged such changes.
    func acceptable(of vector: VersionVector) -> VersionVector {
        VersionVector(
            vector.entries.compactMap { entry in
                guard let hold = holds[entry.origin], entry.version >= hold.firstVersion,
                    root(of: entry.origin)?.isFinal ?? false
                else { return entry }
                return hold.firstVersion > 1 ? .init(origin: entry.origin, version: hold.firstVersion - 1) : nil
            })
    }

    /// The versions that were seen and need not be sent again until they are due.
    ///
    /// - Parameter theirs: What the peer has that gets this answer. A peer without the first deferred version
    ///   has only earlier ones, which may be missing here, so the origin is left out. nil returns all
    ///   deferred origins.
    func deferred(latest: Stamp, from theirs: VersionVector? = nil) -> VersionVector {
        VersionVector(
            holds.values.filter { hold in
                !isDue(hold.origin, latest: latest) && theirs.map { $0[hold.origin] >= hold.firstVersion } ?? true
            }.map { VersionVector.Entry(origin: $0.origin, version: $0.lastVersion) })
    }
}
