import Foundation
import GRDB

/// The conflict ledger: reads from `_journal_conflicts` what lost in conflicts, with the values of both
/// sides.
///
/// A row of that table refers to two journal entries, which hold the values. Merging records conflicts
/// (``ConflictRecorder``). This type reads them, restores them (``restore(_:time:)``), dismisses
/// them (``dismiss(_:time:)``) and drops them (``retain(_:time:newSince:_:)``).
package struct ConflictLedger {
    let db: Database
    let reader: JournalReader

    /// - Throws: As ``JournalReader/init(_:)``.
    package init(_ db: Database) throws {
        self.db = db
        reader = try JournalReader(db)
    }

    /// Returns the entries that match, oldest first. Entries for which the journal lacks one of the two
    /// changes are left out.
    ///
    /// - Parameters:
    ///   - filter: Selects the entries.
    ///   - newest: The number of entries to return, newest first; 0 or less returns none. nil returns all,
    ///     oldest first.
    /// - Throws: ``JournalError/Code/corrupt`` when an entry or one of its two changes is malformed; errors
    ///   of SQLite.
    package func entries(_ filter: ConflictFilter = ConflictFilter(), newest: Int? = nil) throws -> [ConflictEntry] {
        let limit = newest ?? .max
        guard limit > 0 else { return [] }
        var entries: [ConflictEntry] = []
        try forEach(filter, backwards: newest != nil) { entry in
            entries.append(entry)
            return entries.count < limit
        }
        return entries
    }

    /// Calls `body` with each entry that matches, until it returns false: oldest first, or newest first when
    /// `backwards` is true. It reads page by page, so memory stays bounded.
    ///
    /// - Throws: What `body` throws; otherwise as ``entries(_:newest:)``.
    package func forEach(
        _ filter: ConflictFilter, backwards: Bool = false, _ body: (ConflictEntry) throws -> Bool
    ) throws {
        var position = backwards ? Int64.max : filter.after
        let tables = tables(filter)
        // A table that the journal does not know has no conflicts.
        if case Tables.none = tables { return }
        while true {
            let rows = try Row.fetchAll(
                db,
                sql: """
                    SELECT * FROM _journal_conflicts
                    WHERE \(backwards ? "id < ? AND id > \(filter.after) ORDER BY id DESC" : "id > ? ORDER BY id")
                    LIMIT \(ConflictLedger.rowsPerPage)
                    """, arguments: [position])
            guard let last = rows.last else { return }
            position = last["id"]
            let wanted = rows.filter { row in
                if case .one(let table) = tables, row["tbl"] != table { return false }
                if let since = filter.since, (row["time"] as Double) < since { return false }
                return filter.states.contains(ConflictLedger.state(of: row))
            }
            for entry in try read(wanted) where filter.matches(entry, reader) {
                guard try body(entry) else { return }
            }
        }
    }

    /// Returns the entry with this id; nil when there is none, and when the journal lacks one of its two
    /// changes.
    ///
    /// - Throws: ``JournalError/Code/corrupt`` when the entry or one of its two changes is malformed; errors
    ///   of SQLite.
    package func entry(_ id: Int64) throws -> ConflictEntry? {
        try read(Row.fetchAll(db, sql: "SELECT * FROM _journal_conflicts WHERE id = ?", arguments: [id])).first
    }

    /// Returns the number of entries in each state.
    ///
    /// - Throws: Errors of SQLite.
    package static func counts(_ db: Database) throws -> [ConflictEntry.State: Int] {
        guard try db.columns(in: "_journal_conflicts").contains(where: { $0.name == "state" }) else {
            return [.open: try Int.fetchOne(db, sql: "SELECT count(*) FROM _journal_conflicts") ?? 0]
        }
        var counts: [ConflictEntry.State: Int] = [:]
        for row in try Row.fetchAll(db, sql: "SELECT state, count(*) AS n FROM _journal_conflicts GROUP BY state") {
            counts[state(of: row), default: 0] += row["n"] as Int
        }
        return counts
    }

    // MARK: - Reading

    /// The tables that a filter selects.
    private enum Tables {
        case all
        /// The table with this id.
        case one(Int64)
        case none
    }

    private func tables(_ filter: ConflictFilter) -> Tables {
        guard let name = filter.table else { return .all }
        return reader.registry.tableID(named: name).map { .one($0) } ?? .none
    }

    private static let rowsPerPage = 500

    private static func state(of row: Row) -> ConflictEntry.State {
        // A file that an earlier release wrote has no such column.
        (row["state"] as String?).flatMap { ConflictEntry.State(rawValue: $0) } ?? .open
    }

    private func read(_ rows: [Row]) throws -> [ConflictEntry] {
        let positions = rows.flatMap { [$0["lost_seq"] as Int64, $0["kept_seq"] as Int64] }
        let entries = try reader.entries(at: positions)
        return try rows.compactMap { row in
            guard let lost = entries[row["lost_seq"]], let kept = entries[row["kept_seq"]] else { return nil }
            return try entry(row, lost: lost, kept: kept)
        }
    }

    private func entry(_ row: Row, lost: JournalEntry, kept: JournalEntry) throws -> ConflictEntry {
        // The ledger spells columns as this file does, and an entry as its writer did.
        let columns = Set(try NameList.decode(row["columns"]).map(SQLText.foldedName))
        let own = reader.identity.origin
        func concerned(_ entry: JournalEntry) -> [ConflictEntry.Column] {
            entry.columns.filter { columns.contains(SQLText.foldedName($0.name)) }.map {
                (column: $0.name, value: $0.value)
            }
        }
        let kind = ConflictEntry.Kind(rawValue: row["kind"]) ?? .updateUpdate
        // What such a row lost is its key.
        let key = kind == .rekeyed ? lost.written[0] : nil
        return ConflictEntry(
            id: row["id"], table: lost.shape.table, key: lost.keyColumns, kind: kind,
            state: ConflictLedger.state(of: row),
            lost: key.map { [(column: lost.shape.columns[0], value: $0)] } ?? concerned(lost), kept: concerned(kept),
            movedTo: try secondHalf(of: kept)?.keyColumns,
            lostOperation: lost.operation, keptOperation: kept.operation, lostOrigin: lost.origin ?? own,
            keptOrigin: kept.origin ?? own, lostVersion: lost.version, keptVersion: kept.version,
            lostStamp: lost.stamp, keptStamp: kept.stamp, time: row["time"], closedTime: row["closed"],
            lostSeq: lost.seq)
    }

    /// Returns the insert under the new key that belongs to a key change; nil when `entry` is not a key
    /// change.
    private func secondHalf(of entry: JournalEntry) throws -> JournalEntry? {
        guard entry.isKeyChange,
            let seq = try reader.position(of: entry.origin ?? reader.identity.origin, version: entry.version + 1),
            let next = try reader.entry(at: seq), next.operation == .insert, next.tableID == entry.tableID
        else { return nil }
        return next
    }
}

extension ConflictFilter {
    /// Checks the conditions that the columns of `_journal_conflicts` do not show.
    fileprivate func matches(_ entry: ConflictEntry, _ reader: JournalReader) -> Bool {
        if let kind, entry.kind != kind { return false }
        if let origin, entry.lostOrigin != origin, entry.keptOrigin != origin { return false }
        guard let key else { return true }
        let collations = reader.registry.tracked(table: entry.table)?.collations ?? []
        return Key(key, collations: collations) == Key(entry.key.map(\.value), collations: collations)
    }
}

extension ConflictEntry {
    /// Returns the open entries, oldest first.
    ///
    /// - Parameters:
    ///   - db: A connection to the replica.
    ///   - table: The table whose entries to return; nil for all tables.
    ///   - limit: The number of entries to return, newest first; 0 or less returns none. nil returns all.
    /// - Throws: As `ConflictLedger/init(_:)` and `ConflictLedger/entries(_:newest:)`.
    public static func all(
        _ db: Database, table: String? = nil, newest limit: Int? = nil
    ) throws -> [ConflictEntry] {
        try ConflictLedger(db).entries(ConflictFilter(table: table), newest: limit)
    }
}

extension JournalEntry {
    /// The columns of the primary key with their values.
    var keyColumns: [ConflictEntry.Column] { zip(shape.keyColumns, keyValues).map { (column: $0, value: $1) } }
}
