import Journal

/// Journal entries by table and key, for many small lookups. The arrays are flat: neither an entry nor a
/// lookup allocates.
///
/// Summaries answer most lookups, for whole tables. The first lookup of a single key sorts the
/// entries into buckets.
final class ChangeIndex {
    struct Entry {
        let seq: Int64
        /// The position of the entry's run in ``ChangeIndex/runs``.
        let run: Int
        let table: Int64
        let shape: Int64
        let stamp: Stamp
        let life: Int64
        let operation: Journal.Operation
        let mask: ColumnMask
        let migration: MigrationRank?
        fileprivate let key: Range<Int>
        /// The next older entry in the same bucket; -1 when there is none.
        fileprivate var next: Int = -1
    }

    /// What a set of entries of one shape touches.
    struct Reach {
        let shape: Int64
        /// All columns that any of the entries carries.
        private(set) var mask: ColumnMask
        /// True when no entry deletes a row or inserts a deleted row again.
        private(set) var isFirstLife: Bool

        fileprivate init(_ entry: Entry) {
            shape = entry.shape
            mask = entry.mask
            isFirstLife = entry.life == 1
        }

        mutating func formUnion(_ other: Reach) {
            if mask != other.mask { mask.formUnion(other.mask) }
            if !other.isFirstLife { isFirstLife = false }
        }
    }

    /// The entries of one run and shape.
    struct Summary {
        /// The position of the run in ``ChangeIndex/runs``.
        let run: Int
        let table: Int64
        fileprivate(set) var reach: Reach
        fileprivate(set) var lastSeq: Int64
    }

    private(set) var runs: [ScannedRun] = []
    private var summaries: [Summary] = []
    /// The position of the first summary of each run.
    private var firstSummaries: [Int] = []
    /// The positions of each origin's runs, in the order of the journal.
    private var runsOfOrigins: [OriginID: [Int]] = [:]
    private var entries: [Entry] = []
    private var keys: [UInt8] = []
    /// The newest entry of each bucket; -1 when it is empty. The number of buckets is a power of two, and at
    /// least the number of entries.
    private var buckets: [Int] = []
    /// How many entries are in ``buckets``.
    private var sorted = 0

    var count: Int { entries.count }
    var isEmpty: Bool { entries.isEmpty }

    func add(run: ScannedRun) {
        runsOfOrigins[run.origin, default: []].append(runs.count)
        runs.append(run)
        firstSummaries.append(summaries.count)
    }

    /// Calls `body` with each summary of entries beyond the position that `known` gives for their run.
    ///
    /// Versions rise along the runs of an origin, so the search goes back from the newest run of each and ends at one
    /// that is known. Its cost follows what is unknown, however many runs there are.
    ///
    /// - Parameter origin: An origin whose entries are left out.
    func forEachSummary(without origin: OriginID, beyond known: (ScannedRun) -> Int64, body: (Summary) -> Void) {
        for (other, places) in runsOfOrigins where other != origin {
            for place in places.reversed() {
                let position = known(runs[place])
                let end = place + 1 < firstSummaries.count ? firstSummaries[place + 1] : summaries.count
                var isKnown = firstSummaries[place] < end
                for summary in summaries[firstSummaries[place]..<end] where summary.lastSeq > position {
                    isKnown = false
                    body(summary)
                }
                if isKnown { break }
            }
        }
    }

    /// Adds an entry of the run that was added last.
    func add(_ row: ScannedRow) throws {
        let start = keys.count
        row.appendKey(to: &keys)
        insert(
            Entry(
                seq: row.seq, run: runs.count - 1, table: row.tableID, shape: row.shapeID, stamp: row.stamp,
                life: row.life, operation: row.operation, mask: try row.mask(), migration: row.migration,
                key: start..<keys.count))
    }

    /// Adds a change that this transaction has just appended, of the run that was added last.
    ///
    /// - Parameter key: The key as the table compares it.
    func add(_ change: Change, seq: Int64, entry: ShapeRegistry.Entry, key: [UInt8]) {
        let start = keys.count
        keys += key
        insert(
            Entry(
                seq: seq, run: runs.count - 1, table: entry.table, shape: entry.id, stamp: change.stamp,
                life: change.life, operation: change.operation, mask: change.mask, migration: change.migration,
                key: start..<keys.count))
    }

    /// Calls `body` with each entry of a key, newest first, until it returns false.
    func forEach(table: Int64, key: [UInt8], _ body: (Entry) -> Bool) {
        guard !entries.isEmpty else { return }
        sort()
        var index = buckets[key.withUnsafeBytes { bucket(table: table, key: $0) }]
        while index >= 0 {
            if entries[index].table == table, hasKey(entries[index].key, key), !body(entries[index]) { return }
            index = entries[index].next
        }
    }

    private func hasKey(_ range: Range<Int>, _ key: [UInt8]) -> Bool {
        range.count == key.count
            && keys.withUnsafeBytes { all in key.withUnsafeBytes { all[range].elementsEqual($0) } }
    }

    private func insert(_ entry: Entry) {
        summarize(entry)
        entries.append(entry)
    }

    private func summarize(_ entry: Entry) {
        // The summaries of the current run are last.
        var index = summaries.count - 1
        while index >= 0, summaries[index].run == entry.run {
            if summaries[index].reach.shape == entry.shape {
                summaries[index].reach.formUnion(Reach(entry))
                summaries[index].lastSeq = entry.seq
                return
            }
            index -= 1
        }
        summaries.append(Summary(run: entry.run, table: entry.table, reach: Reach(entry), lastSeq: entry.seq))
    }

    /// Sorts the entries that were added since the last lookup into the buckets.
    private func sort() {
        guard sorted < entries.count else { return }
        if entries.count > buckets.count {
            var size = max(64, buckets.count)
            while size < entries.count { size *= 2 }
            buckets = [Int](repeating: -1, count: size)
            sorted = 0
        }
        keys.withUnsafeBytes { keys in
            for index in sorted..<entries.count {
                let bucket = bucket(
                    table: entries[index].table, key: UnsafeRawBufferPointer(rebasing: keys[entries[index].key]))
                entries[index].next = buckets[bucket]
                buckets[bucket] = index
            }
        }
        sorted = entries.count
    }

    /// The bucket of a key. The hash is seeded per process, so that a peer cannot choose keys that fall into
    /// one bucket.
    private func bucket(table: Int64, key: UnsafeRawBufferPointer) -> Int {
        var hasher = Hasher()
        hasher.combine(table)
        hasher.combine(bytes: key)
        return hasher.finalize() & (buckets.count - 1)
    }
}
