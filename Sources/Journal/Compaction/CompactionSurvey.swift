import GRDB

/// The first pass of compaction over the journal: which entries are stable, and which keys occur more than
/// once.
struct CompactionSurvey {
    private let target: VersionVector
    private let until: Stamp
    private let scope: CompactionScope
    /// The stable versions.
    private(set) var vector = VersionVector()
    /// The greatest stamp of a stable entry.
    private(set) var stamp = Stamp.zero
    private(set) var stable = 0
    /// The position of the newest stable entry of each origin.
    private var newest: [OriginID: Int64] = [:]
    private(set) var counts: KeyCounts

    /// - Parameter entries: How many entries the journal has, at most.
    init(target: VersionVector, until: Stamp, scope: CompactionScope, entries: Int64) {
        self.target = target
        self.until = until
        self.scope = scope
        counts = KeyCounts(entries: entries)
    }

    var heads: Set<Int64> { Set(newest.values) }

    mutating func run(_ walk: CompactionWalk) throws {
        var bytes: [UInt8] = []
        try walk.forEach { cursor, run in
            guard isStable(cursor, in: run) else { return }
            stable += 1
            stamp = max(stamp, cursor.stamp)
            if cursor.version > vector[run.origin] {
                vector.advance(run.origin, to: cursor.version)
                newest[run.origin] = cursor.seq
            }
            guard scope.treatments[cursor.entry.id] != nil else { return }
            let hash = CompactionSurvey.hash(cursor, &bytes)
            counts.add(hash)
            // A deleted row goes as a whole, also when nothing but its deletion is left of it.
            if cursor.operation == .delete { counts.add(hash) }
        }
    }

    /// True for an entry that every replica has. The stamps of an origin ascend with its versions, and no
    /// writer's stamp is below one that it had seen, so the stable entries are causally closed.
    func isStable(_ cursor: JournalCursor, in run: JournalRun) -> Bool {
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
