import GRDB
import Journal

/// The changes in the journal that the writer of an incoming run had not merged, by key: all changes that the
/// run can conflict with.
///
/// One index for each sending origin is kept between transactions and extended as the journal grows.
/// Otherwise each scan of the journal would start again at the oldest concurrent change. The memory is in
/// proportion to the concurrent changes.
final class ConcurrentChanges {
    private struct Index {
        /// The journal positions that the index covers, without the entries of the origin itself.
        var range: Range<Int64>
        let changes = ChangeIndex()
    }

    private var indexes: [OriginID: Index] = [:]
    /// The run that is being applied.
    private var run: Run?
    /// The unseen writes of the run: those from the kept index, and those that this transaction appended.
    private var kept = UnseenWrites()
    private var appended = UnseenWrites()

    /// Forgets what the last transaction appended. Call it when a transaction begins.
    func beginTransaction() {
        appended = UnseenWrites()
        kept = UnseenWrites()
        run = nil
    }

    /// Forgets everything, because entries have moved to other keys. The next ``prepare(for:reader:)`` reads
    /// the journal again, with what this transaction has appended.
    func reset() {
        indexes = [:]
        beginTransaction()
    }

    /// Prepares the lookups for a run whose writer had merged `run.known`.
    func prepare(for run: Run, reader: JournalReader) throws {
        self.run = run
        appended.compare(with: run)
        kept = UnseenWrites()
        guard let first = try reader.firstPosition(beyond: run.known, ignoring: run.origin) else { return }
        let end = reader.lastSeq + 1
        var index = indexes[run.origin] ?? Index(range: first..<first)
        // A run can know less than an earlier one of its origin (`ContestedValues`). So an index has no gaps:
        // what the writer knows now may be unknown to it in the next run.
        if !(index.range.lowerBound...index.range.upperBound).contains(first)
            || index.changes.count > Limits.indexedChanges
        {
            index = Index(range: first..<first)
        }
        let from = index.range.upperBound
        if from < end { try reader.scan(from: from, into: index.changes, ignoring: run.origin) }
        index.range = index.range.lowerBound..<max(end, index.range.upperBound)
        kept = UnseenWrites(index.changes)
        kept.compare(with: run)
        indexes[run.origin] = index
    }

    /// Adds a change that this transaction has appended, for later runs of other origins.
    func append(_ change: Change, seq: Int64, version: Int64, entry: ShapeRegistry.Entry, key: [UInt8]) {
        guard let run else { return }
        let firstSeq = seq - (version - run.firstVersion)
        if appended.changes.runs.last?.firstSeq != firstSeq || appended.changes.runs.last?.origin != run.origin {
            appended.changes.add(
                run: ScannedRun(
                    origin: run.origin, known: run.known, firstSeq: firstSeq, firstVersion: run.firstVersion))
            appended.compare(with: run)
        }
        appended.changes.add(change, seq: seq, entry: entry, key: key)
    }

    /// What the unseen writes of the prepared run touch in one table; empty when there are none.
    func reaches(inTable table: Int64) -> [ChangeIndex.Reach] {
        (kept.reaches[table] ?? []) + (appended.reaches[table] ?? [])
    }

    /// True when all unseen writes of the change's key are of the first life and touch other columns than the
    /// change. The change can then be written without reading the row.
    ///
    /// - Parameter isComparable: True when masks of the shape with that id number the columns as the change's
    ///   mask does.
    func leavesAlone(
        _ change: Change, entry: ShapeRegistry.Entry, key: [UInt8], isComparable: (Int64) -> Bool
    ) -> Bool {
        func leavesAlone(_ unseenWrites: UnseenWrites) -> Bool {
            var result = true
            unseenWrites.forEach(table: entry.table, key: key) { other in
                result =
                    other.life == 1 && isComparable(other.shape)
                    && other.mask.isDisjoint(with: change.mask, ignoring: entry.shape.keyCount)
                return result
            }
            return result
        }
        return leavesAlone(kept) && leavesAlone(appended)
    }

    /// The changes of a key that the writer of the prepared run had not merged.
    func unseenWrites(table: Int64, key: Key, registry: ShapeRegistry) -> [ScannedChange] {
        var found: [ScannedChange] = []
        for unseenWrites in [kept, appended] {
            let runs = unseenWrites.changes.runs
            unseenWrites.forEach(table: table, key: key.bytes) { other in
                guard let shape = registry[other.shape] else { return true }
                let run = runs[other.run]
                found.append(
                    ScannedChange(
                        seq: other.seq, origin: run.origin, version: run.version(at: other.seq), stamp: other.stamp,
                        life: other.life, operation: other.operation, mask: other.mask, shape: shape, key: key,
                        known: run.known, migration: other.migration))
                return true
            }
        }
        // Oldest first: the order in which the conflict ledger records them.
        return found.sorted { $0.seq < $1.seq }
    }
}

/// An index as one run sees it: only the entries that the run's writer had not merged.
private struct UnseenWrites {
    let changes: ChangeIndex
    /// What the unseen writes touch, by table, each shape once. It is computed in advance: there may be very
    /// many runs, and each change that is unlike the one before looks it up.
    private(set) var reaches: [Int64: [ChangeIndex.Reach]] = [:]
    private var run: Run?

    init(_ changes: ChangeIndex = ChangeIndex()) { self.changes = changes }

    mutating func compare(with run: Run) {
        self.run = run
        reaches = [:]
        changes.forEachSummary(
            without: run.origin, beyond: { UnseenWrites.unknownAfter($0, run) },
            body: { add($0.reach, of: $0.table) })
    }

    /// The position after which the writer of `run` does not know the entries of another run.
    private static func unknownAfter(_ other: ScannedRun, _ run: Run) -> Int64 {
        // A peer can claim any version as known. The bound keeps the position from overflowing.
        other.origin == run.origin ? .max : other.seq(of: min(run.known[other.origin], Int64.max / 4))
    }

    private mutating func add(_ reach: ChangeIndex.Reach, of table: Int64) {
        if let index = reaches[table]?.firstIndex(where: { $0.shape == reach.shape }) {
            reaches[table]?[index].formUnion(reach)
        } else {
            reaches[table, default: []].append(reach)
        }
    }

    func forEach(table: Int64, key: [UInt8], _ body: (ChangeIndex.Entry) -> Bool) {
        // Most tables have no unseen writes.
        guard let run, reaches[table] != nil else { return }
        changes.forEach(table: table, key: key) { entry in
            entry.seq > UnseenWrites.unknownAfter(changes.runs[entry.run], run) ? body(entry) : true
        }
    }
}

extension JournalReader {
    /// Adds the entries from position `seq` on to an index, without those of one origin.
    fileprivate func scan(from seq: Int64, into index: ChangeIndex, ignoring origin: OriginID) throws {
        var last: Int64?
        try scan(from: seq) { run, row in
            guard run.origin != origin else { return }
            if last != run.firstSeq {
                index.add(run: run)
                last = run.firstSeq
            }
            try index.add(row)
        }
    }
}
