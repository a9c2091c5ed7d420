import Journal

/// How old the objects are that a collection removes.
public struct CollectionSettings: Sendable, Hashable {
    /// Packs younger than this stay, and one snapshot of each week of this time, in milliseconds: the times that
    /// `restore --at` reaches.
    public var keepMilliseconds: Int64 = 90 * 86_400_000

    /// A replica that has told nothing for longer needs no packs, in milliseconds. It has to be cloned when it returns.
    public var leaseMilliseconds: Int64 = 30 * 86_400_000

    /// The time between marking an object and removing it, in milliseconds: a clone that has begun can end, and a
    /// replica that was unknown can tell what it lacks.
    public var graceMilliseconds: Int64 = 86_400_000

    /// Creates the standard settings, whose values can then be changed.
    public init() {}
}

/// What a collection may remove. Pure: times are parameters, by the store's clock.
///
/// A pack goes when all its changes are in every snapshot that stays, and every living replica has merged them. The
/// rules are those of a model (docs/decisions/0041-collection.md).
struct CollectionPlan: Sendable, Hashable {
    /// A snapshot.
    struct Snapshot: Sendable, Hashable, DatedSnapshot {
        var id: String
        /// The changes that it has.
        var vector: VersionVector
        /// When it was written, in milliseconds since 1970.
        var milliseconds: Int64
        /// False when a part is missing or damaged.
        var isWhole: Bool

        func isDatedBefore(_ other: Snapshot) -> Bool { (milliseconds, id) < (other.milliseconds, other.id) }
    }

    /// What a replica told the archive.
    struct Member: Sendable, Hashable {
        var origin: OriginID
        /// What it has merged.
        var vector: VersionVector
        /// When it told so, in milliseconds since 1970.
        var milliseconds: Int64
    }

    /// A stream's writer.
    struct Writer: Sendable, Hashable {
        var origin: OriginID
        /// When its head was written, in milliseconds since 1970.
        var milliseconds: Int64
    }

    /// The snapshots that need not stay, the oldest first.
    let surplus: [String]
    /// The changes that no pack need hold: they are in every snapshot that stays, and in every living replica.
    let dispensable: VersionVector
    /// Why nothing can go, in sentences.
    let obstacles: [String]

    private static let weekMilliseconds: Int64 = 7 * 86_400_000
    /// The snapshots that stay in any case.
    private static let newest = 2

    /// - Parameter now: In milliseconds since 1970.
    init(snapshots: [Snapshot], members: [Member], writers: [Writer], now: Int64, _ settings: CollectionSettings) {
        let ordered = SnapshotOrder.sorted(snapshots)
        let whole = ordered.filter(\.isWhole)
        var stay = Set(whole.suffix(CollectionPlan.newest).map(\.id))
        var weeks: Set<Int64> = []
        for snapshot in whole.reversed() where now - snapshot.milliseconds < settings.keepMilliseconds {
            // One from the future was written when the store's clock was wrong.
            if weeks.insert(min(snapshot.milliseconds, now) / CollectionPlan.weekMilliseconds).inserted {
                stay.insert(snapshot.id)
            }
        }
        // One that has what no other one has is needed whatever its age.
        let staying = ordered.filter { stay.contains($0.id) }
        let surplus = ordered.filter { old in
            !stay.contains(old.id) && staying.contains { $0.vector.covers(old.vector) }
        }.map(\.id)
        self.surplus = surplus

        let living = members.filter { now - $0.milliseconds < settings.leaseMilliseconds }
        var obstacles: [String] = []
        if whole.isEmpty { obstacles.append("there is no whole snapshot: see `syncd store snapshot`") }
        let told = Set(living.map(\.origin))
        let silent = Set(
            writers.filter { now - $0.milliseconds < settings.leaseMilliseconds && !told.contains($0.origin) }
                .map(\.origin))
        for origin in silent.sorted() {
            obstacles.append("\(origin) writes, and has not told what it has merged")
        }
        self.obstacles = obstacles
        // Every snapshot, also one that goes later: somebody may be reading it.
        var floors = ordered.map(\.vector)
        floors += living.map(\.vector)
        let common = floors.dropFirst().reduce(floors.first ?? VersionVector()) { $0.common(with: $1) }
        dispensable = obstacles.isEmpty ? common : VersionVector()
    }
}
