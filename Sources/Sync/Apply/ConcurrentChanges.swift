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
        var changes: [TableKey: [ScannedChange]] = [:]
        var count = 0
    }

    /// An index beyond this many changes is made anew for each transaction that needs it.
    private static let mostKept = 1_000_000

    private var indexes: [OriginID: Index] = [:]
    private var current: OriginID?
    /// Changes appended in this transaction, of other origins than the one that sends.
    private var appended: [TableKey: [ScannedChange]] = [:]

    /// Forgets what the running transaction appended; call it when one begins.
    func beginTransaction() { appended = [:] }

    /// Forgets everything; call it after a rollback, when positions may be given out again.
    func reset() {
        indexes = [:]
        appended = [:]
        current = nil
    }

    /// Gets ready for a run of `origin` whose writer had merged `known`.
    func prepare(for origin: OriginID, known: VersionVector, reader: JournalReader) throws {
        guard let first = try reader.firstPosition(beyond: known, ignoring: origin) else {
            current = nil
            return
        }
        let end = try reader.lastSeq() + 1
        var index = indexes[origin] ?? Index(range: first..<first)
        if first < index.range.lowerBound || index.count > ConcurrentChanges.mostKept {
            index = Index(range: first..<first)
        }
        let from = max(first, index.range.upperBound)
        if from < end {
            try reader.scan(from: from) { change in
                guard change.origin != origin else { return }
                index.changes[TableKey(table: change.shape.table, key: change.key), default: []].append(change)
                index.count += 1
            }
        }
        index.range = index.range.lowerBound..<max(end, index.range.upperBound)
        indexes[origin] = index
        current = origin
    }

    /// Adds a change that this transaction has appended, for later runs of other origins.
    func append(_ change: ScannedChange) {
        appended[TableKey(table: change.shape.table, key: change.key), default: []].append(change)
    }

    var isEmpty: Bool { appended.isEmpty && current.flatMap { indexes[$0] }.map { $0.count == 0 } ?? true }

    /// The changes of a key that the writer of `run` had not merged.
    func competitors(table: Int64, key: Key, run: Run) -> [ScannedChange] {
        let tableKey = TableKey(table: table, key: key)
        var found = current.flatMap { indexes[$0]?.changes[tableKey] } ?? []
        if !appended.isEmpty, let more = appended[tableKey] { found += more }
        found.removeAll { $0.origin == run.origin || run.known[$0.origin] >= $0.version }
        return found
    }
}
