import Foundation
import GRDB

/// `_journal_settled`: rows whose tables show them otherwise than before, though no change of their own came: a row that was set
/// aside because another one arrived, that came back because another one went, or that a migration has brought to light.
///
/// Whoever follows the journal reads these notices with it. The newest is never deleted, so numbers only grow.
public enum VisibilityNotice {
    /// One row, or one table, that shows otherwise than before.
    public struct Notice: Sendable {
        /// The number of the notice, from 1 on.
        public let id: Int64
        /// `_journal_tables.tbl`
        public let table: Int64
        /// What became of the row in its table.
        public let operation: Operation
        /// The key columns; nil when any row of the table may have changed.
        public let key: RowImage?
    }

    /// How many notices are kept. A reader that has missed more than these looks at everything that it holds.
    public static let limit: Int64 = 1_024

    /// The number of the newest notice; 0 when there never was one.
    ///
    /// - Throws: Errors of SQLite; "no such table" in a file of an earlier release.
    public static func lastID(_ db: Database) throws -> Int64 {
        try Int64.fetchOne(db.cachedStatement(sql: "SELECT max(id) FROM _journal_settled")) ?? 0
    }

    /// The notices after `id`, oldest first.
    ///
    /// - Returns: nil when some of them are not kept any more.
    /// - Throws: ``JournalError/Code/corrupt`` when a notice cannot be read; errors of SQLite.
    public static func all(after id: Int64, _ db: Database) throws -> [Notice]? {
        let rows = try Row.fetchAll(
            db.cachedStatement(sql: "SELECT id, tbl, op, key FROM _journal_settled WHERE id > ? ORDER BY id"),
            arguments: [id])
        if let first: Int64 = rows.first?["id"], first > id + 1 { return nil }
        return try rows.map { row in
            let bytes: Data? = row["key"]
            let key = bytes.map { RowImage(encoded: Array($0)[...]) }
            guard key != .some(nil), let operation = Operation(rawValue: row["op"]) else {
                throw JournalError(.corrupt, "a row of _journal_settled cannot be read")
            }
            return Notice(id: row["id"], table: row["tbl"], operation: operation, key: key ?? nil)
        }
    }

    /// Appends a notice, in the transaction that changes what the table shows.
    ///
    /// - Throws: Errors of SQLite; the transaction must then be rolled back.
    public static func append(table: Int64, _ operation: Operation, key: RowImage?, to db: Database) throws {
        try db.cachedStatement(sql: "INSERT INTO _journal_settled (tbl, op, key) VALUES (?, ?, ?)")
            .execute(arguments: [table, operation.rawValue, key.map { Data($0.encoded()) }])
    }

    /// Drops the oldest notices.
    ///
    /// - Throws: Errors of SQLite; the transaction must then be rolled back.
    public static func prune(_ db: Database) throws {
        try db.cachedStatement(
            sql: "DELETE FROM _journal_settled WHERE id <= (SELECT max(id) FROM _journal_settled) - ?"
        ).execute(arguments: [limit])
    }
}
