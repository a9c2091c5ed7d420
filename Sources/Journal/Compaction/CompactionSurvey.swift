import GRDB

/// The first pass of compaction over the journal: which entries are stable, and which keys occur more than
/// once.
///
/// Only whole transactions are stable. A file that takes a new identity keeps the names of what is compacted, and
/// renames what follows: a transaction of which it kept a part would reach other replicas in two parts.
struct CompactionSurvey {
    private let target: VersionVector
    private let until: Stamp
    private let scope: CompactionScope
    private var ends: StableEnds
    /// What was compacted before.
    private let horizon: VersionVector
    /// The stable versions.
    private(set) var vector = VersionVector()
    /// The greatest stamp of a stable entry.
    private(set) var stamp = Stamp.zero
    private(set) var stable = 0
    /// The position of the newest stable entry of each origin.
    private var newest: [OriginID: Int64] = [:]
    private(set) var counts: KeyCounts

    /// - Parameters:
    ///   - entries: How many entries the journal has, at most: its last position.
    ///   - ends: Where transactions end whose writers mark no end.
    ///   - horizon: What was compacted before.
    init(
        target: VersionVector, until: Stamp, scope: CompactionScope, entries: Int64, ends: TransactionEnds,
        horizon: VersionVector
    ) {
        self.target = target
        self.until = until
        self.scope = scope
        self.horizon = horizon
        self.ends = StableEnds(ends, last: entries)
        counts = KeyCounts(entries: entries)
    }

    var heads: Set<Int64> { Set(newest.values) }

    mutating func run(_ walk: CompactionWalk) throws {
        var bytes: [UInt8] = []
        try walk.forEach { cursor, run in
            let isOld = isOldEnough(cursor, in: run)
            // The target is what others have merged, and they merge whole transactions.
            let isEnd =
                cursor.endsTransaction || cursor.version == target[run.origin]
                || cursor.version <= horizon[run.origin]
            if let whole = ends.visit(cursor, of: run, isOld: isOld, isEnd: isEnd) { take(whole, of: run.origin) }
            guard isOld, scope.treatments[cursor.entry.id] != nil else { return }
            let hash = CompactionSurvey.hash(cursor, &bytes)
            counts.add(hash)
            // A deleted row goes as a whole, also when nothing but its deletion is left of it.
            if cursor.operation == .delete { counts.add(hash) }
        }
        for (origin, part) in ends.unseen { take(part, of: origin) }
    }

    private mutating func take(_ part: StableEnds.Part, of origin: OriginID) {
        stable += part.count
        stamp = max(stamp, part.stamp)
        vector.advance(origin, to: part.version)
        newest[origin] = part.position
    }

    /// True for an entry that belongs to a stable transaction. The stamps of an origin ascend with its versions, and
    /// no writer's stamp is below one that it had seen, so the stable entries are causally closed.
    func isStable(_ cursor: JournalCursor, in run: JournalRun) -> Bool {
        cursor.version <= max(vector[run.origin], horizon[run.origin]) && isOldEnough(cursor, in: run)
    }

    /// True for an entry that every replica has, and that is old enough to go.
    private func isOldEnough(_ cursor: JournalCursor, in run: JournalRun) -> Bool {
        cursor.seq < scope.end && cursor.version <= target[run.origin] && cursor.stamp <= until
    }

    /// A hash of the table and the key of the cursor's entry.
    static func hash(_ cursor: JournalCursor, _ bytes: inout [UInt8]) -> UInt64 {
        bytes.removeAll(keepingCapacity: true)
        cursor.appendKey(to: &bytes)
        var hasher = Hasher()
        hasher.combine(cursor.entry.table)
        bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
        return UInt64(bitPattern: Int64(hasher.finalize()))
    }
}
