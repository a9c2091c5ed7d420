import Foundation
import GRDB

/// `_journal_conflicts`, read: what lost in conflicts, with the values of both sides.
///
/// A row of the table names the two journal entries; their values stand in the journal. Merging records
/// them (`Sync/Apply/ConflictRecorder`); here they are read, restored (``restore(_:time:)``), dismissed (``dismiss(_:time:)``) and
/// dropped (``retain(_:time:)``).
public struct ConflictLedger {
    let db: Database
    let reader: JournalReader

    /// - Throws: ``JournalError`` with `notAReplica` or `unsupportedFormat`.
    public init(_ db: Database) throws {
        self.db = db
        reader = try JournalReader(db)
    }

    /// Entries that match, oldest first.
    ///
    /// - Parameters:
    ///   - newest: Only this many, and the newest first; none for 0 or less; nil for all, oldest first.
    /// - Throws: ``JournalError/Code/corrupt`` when an entry, or the journal where it points, cannot be read; errors of
    ///   SQLite.
    public func entries(_ filter: ConflictFilter = ConflictFilter(), newest: Int? = nil) throws -> [ConflictEntry] {
        let limit = newest ?? .max
        guard limit > 0 else { return [] }
        var entries: [ConflictEntry] = []
        try forEach(filter, backwards: newest != nil) { entry in
            entries.append(entry)
            return entries.count < limit
        }
        return entries
    }

    /// Calls `body` with each entry that matches, oldest first, until it returns false. Memory is bounded by a page.
    ///
    /// - Throws: What `body` throws; otherwise as ``entries(_:newest:)``.
    public func forEach(
        _ filter: ConflictFilter, backwards: Bool = false, _ body: (ConflictEntry) throws -> Bool
    ) throws {
        var position = backwards ? Int64.max : filter.after
        let table = filter.table.map { reader.registry.tableID(named: $0) }
        // A table that the journal does not know has no conflicts.
        if case .some(.none) = table { return }
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
                if let table, row["tbl"] != table { return false }
                if let since = filter.since, (row["time"] as Double) < since { return false }
                return filter.states.contains(ConflictLedger.state(of: row))
            }
            for entry in try read(wanted) where filter.matches(entry, reader) {
                guard try body(entry) else { return }
            }
        }
    }

    /// - Returns: nil when there is no such entry.
    /// - Throws: ``JournalError/Code/corrupt`` when an entry, or the journal where it points, cannot be read; errors of
    ///   SQLite.
    public func entry(_ id: Int64) throws -> ConflictEntry? {
        try read(Row.fetchAll(db, sql: "SELECT * FROM _journal_conflicts WHERE id = ?", arguments: [id])).first
    }

    /// How many entries are in each state.
    ///
    /// - Throws: Errors of SQLite.
    public static func counts(_ db: Database) throws -> [ConflictEntry.State: Int] {
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

    private static let rowsPerPage = 500

    private static func state(of row: Row) -> ConflictEntry.State {
        // A file that an earlier release wrote has no states yet.
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
        // The ledger spells names as they are spelled here, an entry as its writer does.
        let columns = Set(try NameList.decode(row["columns"]).map(SQLText.foldedName))
        let own = reader.identity.origin
        func concerned(_ entry: JournalEntry) -> [ConflictEntry.Column] {
            entry.columns.filter { columns.contains(SQLText.foldedName($0.name)) }.map {
                (column: $0.name, value: $0.value)
            }
        }
        return ConflictEntry(
            id: row["id"], table: lost.shape.table, key: lost.keyColumns,
            kind: ConflictEntry.Kind(rawValue: row["kind"]) ?? .updateUpdate, state: ConflictLedger.state(of: row),
            lost: concerned(lost), kept: concerned(kept), movedTo: try secondHalf(of: kept)?.keyColumns,
            lostOperation: lost.operation, keptOperation: kept.operation, lostOrigin: lost.origin ?? own,
            keptOrigin: kept.origin ?? own, lostVersion: lost.version, keptVersion: kept.version,
            lostStamp: lost.stamp, keptStamp: kept.stamp, time: row["time"], closedTime: row["closed"],
            lostSeq: lost.seq)
    }

    /// The insert that a key change made under the new key.
    private func secondHalf(of entry: JournalEntry) throws -> JournalEntry? {
        guard entry.isKeyChange,
            let seq = try reader.position(of: entry.origin ?? reader.identity.origin, version: entry.version + 1),
            let next = try reader.entry(at: seq), next.operation == .insert, next.tableID == entry.tableID
        else { return nil }
        return next
    }
}

extension ConflictFilter {
    /// What the columns of the table cannot tell.
    fileprivate func matches(_ entry: ConflictEntry, _ reader: JournalReader) -> Bool {
        if let kind, entry.kind != kind { return false }
        if let origin, entry.lostOrigin != origin, entry.keptOrigin != origin { return false }
        guard let key else { return true }
        let collations = reader.registry.tracked(table: entry.table)?.collations ?? []
        return Key(key, collations: collations) == Key(entry.key.map(\.value), collations: collations)
    }
}

extension ConflictEntry {
    /// The open entries, oldest first.
    ///
    /// - Parameters:
    ///   - table: Only those of this table; nil for all.
    ///   - limit: Only this many, and the newest first; none for 0 or less; nil for all.
    /// - Throws: As ``ConflictLedger/init(_:)`` and ``ConflictLedger/entries(_:newest:)``.
    public static func all(
        _ db: Database, table: String? = nil, newest limit: Int? = nil
    ) throws -> [ConflictEntry] {
        try ConflictLedger(db).entries(ConflictFilter(table: table), newest: limit)
    }
}

extension JournalEntry {
    /// The primary key by column.
    var keyColumns: [ConflictEntry.Column] { zip(shape.keyColumns, keyValues).map { (column: $0, value: $1) } }
}
