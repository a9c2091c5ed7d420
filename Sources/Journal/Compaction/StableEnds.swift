/// Finds the ends of transactions in a pass over the journal, so that compaction takes whole ones only.
///
/// The rules are those by which changes are sent (``TransactionEnds``). What is known least is a stretch without any
/// mark that nobody has seen being written: it counts as transactions of a bounded number of changes.
struct StableEnds {
    /// Entries of one origin behind the last end, all of them old enough to go.
    struct Part {
        var count = 0
        /// The greatest stamp among them.
        var stamp = Stamp.zero
        /// The last version.
        var version: Int64 = 0
        /// The position of the last version.
        var position: Int64 = 0
    }

    private let ends: TransactionEnds
    /// The last position of the journal: no transaction is open behind it.
    private let last: Int64
    /// The next of ``TransactionEnds/seen``.
    private var next = 0
    private var open: [OriginID: Part] = [:]
    /// What counts as whole unless a mark follows: by origin, the part of an unseen stretch up to the last bound.
    private(set) var unseen: [OriginID: Part] = [:]

    init(_ ends: TransactionEnds, last: Int64) {
        self.ends = ends
        self.last = last
    }

    /// Visits the next entry of the journal.
    ///
    /// - Parameters:
    ///   - isOld: Whether it is old enough to go.
    ///   - isEnd: Whether it is known to end a transaction.
    /// - Returns: The transactions that are whole with it; nil when none is.
    mutating func visit(_ cursor: JournalCursor, of run: JournalRun, isOld: Bool, isEnd: Bool) -> Part? {
        let origin = run.origin
        while next < ends.seen.count, ends.seen[next] < cursor.seq { next += 1 }
        let wasSeen = next < ends.seen.count && ends.seen[next] == cursor.seq
        if isOld {
            var part = open[origin] ?? Part()
            part.count += 1
            part.stamp = max(part.stamp, cursor.stamp)
            (part.version, part.position) = (cursor.version, cursor.seq)
            open[origin] = part
            // Behind the first snapshot, the ends are known.
            if run.isCaptured, next == 0, part.count % max(1, ends.changes) == 0 { unseen[origin] = part }
        }
        guard isEnd || wasSeen || cursor.seq == last else { return nil }
        // A mark ends a transaction that may have begun anywhere behind the end before it.
        let proven = isEnd || next > 0 ? nil : unseen[origin]
        unseen[origin] = nil
        let whole = open.removeValue(forKey: origin)
        return isOld ? whole : proven
    }
}
