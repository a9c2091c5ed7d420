import GRDB
import Journal
import Synchronization

/// The tables and columns that a computation has read, as SQLite's compiler reports them, and the tables
/// whose objects were found in memory.
struct ReadRegion: Sendable {
    private var region = DatabaseRegion()
    /// Folded names of tables.
    private var tables: Set<String> = []

    mutating func formUnion(_ region: DatabaseRegion) { self.region.formUnion(region) }
    mutating func formUnion(_ other: ReadRegion) {
        region.formUnion(other.region)
        tables.formUnion(other.tables)
    }

    mutating func insert(table: String) { tables.insert(SQLText.foldedName(table)) }

    /// True when one of the commit's changes may have changed a value that was read.
    ///
    /// - Parameter ignored: The folded names of columns whose changes do not count.
    func isTouched(by summary: CommitSummary, ignoring ignored: Set<String>) -> Bool {
        if summary.isUnknown { return true }
        return summary.tables.contains { table, change in
            let columns = change.columns.filter { !ignored.contains(SQLText.foldedName($0)) }
            if tables.contains(table), change.isInsertedOrDeleted || !columns.isEmpty { return true }
            if change.isInsertedOrDeleted, region.isModified(byEventsOfKind: .insert(tableName: change.name)) {
                return true
            }
            return !columns.isEmpty
                && region.isModified(byEventsOfKind: .update(tableName: change.name, columnNames: columns))
        }
    }
}

/// Collects the region of one computation. Confined to the thread that runs it.
final class RegionTracker {
    private(set) var region = ReadRegion()
    /// The number of trackers: without one, a read of a property need not look for it.
    private static let count = Atomic<Int>(0)

    init() { RegionTracker.count.add(1, ordering: .relaxed) }
    deinit { RegionTracker.count.subtract(1, ordering: .relaxed) }

    /// True when a computation is recorded on any thread. It is exact for the calling thread.
    static var exist: Bool { count.load(ordering: .relaxed) > 0 }

    func note(_ region: DatabaseRegion) { self.region.formUnion(region) }
    func note(table: String) { region.insert(table: table) }
    func merge(_ region: ReadRegion) { self.region.formUnion(region) }
}

/// The tables and columns that a commit has changed, without keys and values.
struct CommitSummary: Sendable {
    struct Change: Sendable {
        /// The table's name as written in the journal or the model.
        let name: String
        var isInsertedOrDeleted = false
        /// The columns that updates have changed.
        var columns: Set<String> = []
    }

    /// The changes by folded table name.
    private(set) var tables: [String: Change] = [:]
    /// True when changes are possible that the journal does not show, such as those of SQL on tables without
    /// capture.
    var isUnknown = false

    var isEmpty: Bool { tables.isEmpty && !isUnknown }

    mutating func insertedOrDeleted(_ name: String) {
        tables[SQLText.foldedName(name), default: Change(name: name)].isInsertedOrDeleted = true
    }

    mutating func updated(_ name: String, _ columns: some Sequence<String>) {
        tables[SQLText.foldedName(name), default: Change(name: name)].columns.formUnion(columns)
    }
}
