import GRDB
import Journal

/// The changes in the journal that the writer of an incoming run had not merged, by key: all that it can conflict with.
///
/// Kept between transactions and extended as the journal grows, one index for each origin that sends, because each scan of the
/// journal would otherwise start at the oldest concurrent change again. Costs memory for the concurrent changes only.
final class ConcurrentChanges {
    struct TableKey: Hashable {
        let table: Int64
        let key: Key
    }

    private struct Index {
        /// Positions that are in the index, without those of the origin itself.
        var range: Range<Int64>
        let changes = ChangeIndex()
    }

    /// An index beyond this many changes is made anew for each transaction that needs it.
    private static let mostKept = 1_000_000

    private var indexes: [OriginID: Index] = [:]
    /// The run that is being applied.
    private var run: Run?
    /// What competes with it: entries of the kept index, and those that this transaction appended.
    private var kept = UnseenWrites()
    private var appended = UnseenWrites()

    /// Forgets what the running transaction appended; call it when one begins.
    func beginTransaction() {
        appended = UnseenWrites()
        kept = UnseenWrites()
        run = nil
    }

    /// Forgets everything; call it after a rollback, when positions may be given out again.
    func reset() {
        indexes = [:]
        beginTransaction()
    }

    /// Gets ready for a run whose writer had merged `run.known`.
    func prepare(for run: Run, reader: JournalReader) throws {
        self.run = run
        appended.compare(with: run)
        kept = UnseenWrites()
        guard let first = try reader.firstPosition(beyond: run.known, ignoring: run.origin) else { return }
        let end = reader.lastSeq + 1
        var index = indexes[run.origin] ?? Index(range: first..<first)
        if first < index.range.lowerBound || index.changes.count > ConcurrentChanges.mostKept {
            index = Index(range: first..<first)
        }
        let from = max(first, index.range.upperBound)
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

    /// What competes with the prepared run in one table: nothing, when there are none.
    func reaches(inTable table: Int64) -> [ChangeIndex.Reach] {
        (kept.reaches[table] ?? []) + (appended.reaches[table] ?? [])
    }

    /// True when nothing that competes with a change of the first life touches what it touches: it can be written unseen.
    ///
    /// - Parameter isComparable: Whether a mask of the shape with that id numbers columns as the change's does.
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
                        known: run.known))
                return true
            }
        }
        // Oldest first, as they are to stand in the ledger.
        return found.sorted { $0.seq < $1.seq }
    }
}

/// An index seen from one run: only what its writer had not merged.
private struct UnseenWrites {
    let changes: ChangeIndex
    /// By table, each shape once: of the runs that are not known to the writer as a whole. There may be very many of these, and the
    /// question comes for each change that is unlike the one before.
    private(set) var reaches: [Int64: [ChangeIndex.Reach]] = [:]
    /// For each run of the index the position after which its entries are unknown to the writer.
    private var unknownAfter: [Int64] = []

    init(_ changes: ChangeIndex = ChangeIndex()) { self.changes = changes }

    mutating func compare(with run: Run) {
        unknownAfter = changes.runs.map { other in
            // What a peer says it knows may be any number; it never knows more than there is.
            other.origin == run.origin ? .max : other.seq(of: min(run.known[other.origin], Int64.max / 4))
        }
        reaches = [:]
        for summary in changes.summaries where summary.lastSeq > unknownAfter[summary.run] {
            add(summary.reach, of: summary.table)
        }
    }

    private mutating func add(_ reach: ChangeIndex.Reach, of table: Int64) {
        if let index = reaches[table]?.firstIndex(where: { $0.shape == reach.shape }) {
            reaches[table]?[index].formUnion(reach)
        } else {
            reaches[table, default: []].append(reach)
        }
    }

    func forEach(table: Int64, key: [UInt8], _ body: (ChangeIndex.Entry) -> Bool) {
        // Most tables have no unseenWrites at all.
        guard reaches[table] != nil else { return }
        changes.forEach(table: table, key: key) { entry in
            entry.seq > unknownAfter[entry.run] ? body(entry) : true
        }
    }
}

extension JournalReader {
    /// Adds the entries from position `seq` on to an index, but for those of one origin.
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
