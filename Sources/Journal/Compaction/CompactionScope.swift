import Foundation
import GRDB

/// What compaction may look at: the tables that this file tracks, and the rows and entries that something else
/// still reads.
struct CompactionScope {
    /// What compaction does with the entries of a shape.
    enum Treatment {
        /// Folds them into rows of the table.
        case folds(ColumnSpace.Translation)
        /// Leaves the whole row as it is, because the table does not show the entry: it has another key, or a
        /// backfill is due.
        case pins
    }

    /// By shape. Entries of other shapes stay.
    private(set) var treatments: [Int64: Treatment] = [:]
    /// The ids of the tables whose changes merge by the column. In others, only deleted rows are folded: the
    /// policy needs the changes of a row.
    private(set) var columnwise: Set<Int64> = []
    /// Rows that the conflict ledger, a held row or a claim refers to.
    private(set) var pinnedKeys: Set<TableKey> = []
    /// Positions that marks refer to.
    private(set) var pinnedPositions: Set<Int64> = []
    /// Entries from this position on are not looked at.
    let end: Int64
    /// The newest materialized entry: readers start from it, so it stays.
    let newest: Int64

    init(_ db: Database, _ reader: JournalReader) throws {
        let policies = try MergePolicies(db, names: reader.registry.names)
        for tracked in reader.registry.entries.values
        where tracked.isTracked && tracked.shownColumns != [] && !CompactionScope.isDue(tracked) {
            var space = ColumnSpace(columns: tracked.shape.columns, keyCount: tracked.shape.keyCount)
            if policies[tracked.shape.table] == .column { columnwise.insert(tracked.table) }
            for entry in reader.registry.entries.values where entry.table == tracked.table {
                let translation = space.translation(of: entry.shape)
                // The fold keeps the latest value of each column, also of one that the table no longer has.
                treatments[entry.id] =
                    translation.hasSameKey && !CompactionScope.isDue(entry) ? .folds(translation) : .pins
            }
        }
        for entry in reader.registry.entries.values where entry.shape.isHidden {
            var space = ColumnSpace(columns: entry.shape.columns, keyCount: entry.shape.keyCount)
            treatments[entry.id] = .folds(space.translation(of: entry.shape))
        }
        newest = min(reader.identity.sealedSeq, reader.lastSeq)
        end = try CompactionScope.end(db, newest: newest)
        pinnedPositions.insert(newest)
        try readPins(db)
    }

    /// True while rows here do not show yet what changes of the shape wrote.
    private static func isDue(_ entry: ShapeRegistry.Entry) -> Bool {
        entry.shownColumns?.contains(ShapeRegistry.Entry.isDueMark) == true
    }

    /// The first position that is not settled here: behind the materialized entries, of the entries whose rows were
    /// not checked against the constraints, or of those that a text index has not read.
    private static func end(_ db: Database, newest: Int64) throws -> Int64 {
        var end = newest + 1
        let checked = try Int64.fetchOne(db, sql: "SELECT checked_seq FROM _journal_replica") ?? 0
        end = min(end, checked + 1)
        if try db.tableExists("_journal_text") {
            let read = try Int64.fetchOne(db, sql: "SELECT min(position) FROM _journal_text")
            if let read { end = min(end, read + 1) }
        }
        return end
    }

    private mutating func readPins(_ db: Database) throws {
        for table in ["_journal_conflicts", "_journal_held"] {
            let rows = try Row.fetchCursor(db, sql: "SELECT tbl, key FROM \(table)")
            while let row = try rows.next() {
                pinnedKeys.insert(TableKey(table: row["tbl"], key: Key(bytes: [UInt8](row["key"] as Data))))
            }
        }
        let claims = try Row.fetchCursor(db, sql: "SELECT seq, tbl, key, moved FROM _journal_claims")
        while let row = try claims.next() {
            pinnedPositions.insert(row["seq"])
            for number in [row["key"] as Int64?, row["moved"] as Int64?].compactMap(\.self) {
                pinnedKeys.insert(TableKey(table: row["tbl"], key: Key([.integer(number)])))
            }
        }
        for table in ["_journal_covers", "_journal_written"] {
            pinnedPositions.formUnion(try Int64.fetchAll(db, sql: "SELECT seq FROM \(table)"))
        }
    }
}
