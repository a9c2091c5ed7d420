import Journal

/// Journal entries by table and key, for many short questions: flat arrays, no allocation for an entry or an answer.
struct ChangeIndex {
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
        fileprivate let key: Range<Int>
        /// The next older entry in the same bucket; -1 for none.
        fileprivate var next: Int
    }

    private(set) var runs: [ScannedRun] = []
    private var entries: [Entry] = []
    private var keys: [UInt8] = []
    /// The newest entry of each bucket, -1 for none. A power of two, at least as many as entries.
    private var buckets: [Int] = []

    var count: Int { entries.count }
    var isEmpty: Bool { entries.isEmpty }

    mutating func add(run: ScannedRun) { runs.append(run) }

    /// Adds an entry of the run that was added last.
    mutating func add(_ row: ScannedRow) throws {
        let start = keys.count
        row.appendKey(to: &keys)
        insert(
            Entry(
                seq: row.seq, run: runs.count - 1, table: row.tableID, shape: row.shapeID, stamp: row.stamp,
                life: row.life, operation: row.operation, mask: try row.mask(), key: start..<keys.count, next: -1))
    }

    /// Adds a change that this transaction has just appended, of the run that was added last.
    mutating func add(_ change: Change, seq: Int64, entry: ShapeRegistry.Entry, key: [UInt8]) {
        let start = keys.count
        keys += key
        insert(
            Entry(
                seq: seq, run: runs.count - 1, table: entry.table, shape: entry.id, stamp: change.stamp,
                life: change.life, operation: change.operation, mask: change.mask, key: start..<keys.count, next: -1))
    }

    /// Calls `body` with each entry of a key, newest first, until it returns false.
    func forEach(table: Int64, key: [UInt8], _ body: (Entry) -> Bool) {
        guard !entries.isEmpty else { return }
        var index = buckets[bucket(table: table, key: key[...])]
        while index >= 0 {
            let entry = entries[index]
            if entry.table == table, keys[entry.key].elementsEqual(key), !body(entry) { return }
            index = entry.next
        }
    }

    private mutating func insert(_ entry: Entry) {
        if entries.count >= buckets.count { grow() }
        var entry = entry
        let bucket = bucket(table: entry.table, key: keys[entry.key])
        entry.next = buckets[bucket]
        buckets[bucket] = entries.count
        entries.append(entry)
    }

    private mutating func grow() {
        buckets = [Int](repeating: -1, count: max(64, buckets.count * 2))
        for index in entries.indices {
            let bucket = bucket(table: entries[index].table, key: keys[entries[index].key])
            entries[index].next = buckets[bucket]
            buckets[bucket] = index
        }
    }

    /// Seeded by the process: a peer cannot choose keys that meet in one bucket.
    private func bucket(table: Int64, key: ArraySlice<UInt8>) -> Int {
        var hasher = Hasher()
        hasher.combine(table)
        key.withUnsafeBytes { hasher.combine(bytes: $0) }
        return hasher.finalize() & (buckets.count - 1)
    }
}
