import Foundation
import GRDB

/// `_journal_settled`: rows whose visibility changed without a journal entry of their own. A row may be set
/// aside because another row arrived, return because another row went, or appear or change because of a
/// migration.
///
/// Readers that follow the journal read these notices too. The newest notice is never deleted, so ids only
/// grow.
package enum VisibilityNotice {
    /// A change of visibility of one row, or of any rows of one table.
    package struct Notice: Sendable {
        /// The id of the notice, from 1 on.
        package let id: Int64
        /// `_journal_tables.tbl`
        package let table: Int64
        /// What the change looks like in the table: the row appeared (insert), shows other values (update),
        /// or disappeared (delete).
        package let operation: Operation
        /// The key columns; nil when any row of the table may have changed.
        package let key: RowImage?
        /// The key columns that the row has now, when it got another key; the notice is then a delete of
        /// ``key``.
        package let moved: RowImage?
    }

    /// How many notices are kept. A reader that has missed more than these reloads everything that it holds.
    package static let limit: Int64 = 1_024
    private static let limitOfMoves: Int64 = 65_536

    /// Returns the id of the newest notice; 0 when there is none.
    ///
    /// - Throws: Errors of SQLite; "no such table" in a file of an earlier release.
    package static func lastID(_ db: Database) throws -> Int64 {
        try Int64.fetchOne(db.cachedStatement(sql: "SELECT max(id) FROM _journal_settled")) ?? 0
    }

    /// Returns the notices after `id`, oldest first.
    ///
    /// - Returns: nil when some of them have been dropped.
    /// - Throws: ``JournalError/Code/corrupt`` when a notice cannot be read; errors of SQLite.
    package static func all(after id: Int64, _ db: Database) throws -> [Notice]? {
        let rows = try Row.fetchAll(
            db.cachedStatement(sql: "SELECT id, tbl, op, key, moved FROM _journal_settled WHERE id > ? ORDER BY id"),
            arguments: [id])
        if let first: Int64 = rows.first?["id"], first > id + 1 { return nil }
        return try rows.map(notice)
    }

    /// Returns the notices after `id` about rows that got another key, oldest first. More of them are kept than of
    /// the others, because nothing else tells which row an object in memory was.
    ///
    /// - Throws: As ``all(after:_:)``.
    package static func moves(after id: Int64, _ db: Database) throws -> [Notice] {
        try Row.fetchAll(
            db.cachedStatement(
                sql: """
                    SELECT id, tbl, op, key, moved FROM _journal_settled WHERE id > ? AND moved IS NOT NULL ORDER BY id
                    """), arguments: [id]
        ).map(notice)
    }

    private static func notice(_ row: Row) throws -> Notice {
        let unreadable = JournalError(.corrupt, "A row of _journal_settled cannot be read")
        guard let operation = Operation(rawValue: row["op"]) else { throw unreadable }
        func image(_ column: String) throws -> RowImage? {
            try (row[column] as Data?).map { bytes in
                guard let key = RowImage(encoded: Array(bytes)[...]) else { throw unreadable }
                return key
            }
        }
        return Notice(
            id: row["id"], table: row["tbl"], operation: operation, key: try image("key"), moved: try image("moved"))
    }

    /// Appends a notice. Call it in the transaction that changes what the table shows.
    ///
    /// - Parameter moved: As in ``Notice/moved``.
    /// - Throws: Errors of SQLite; the transaction must then be rolled back.
    package static func append(
        table: Int64, _ operation: Operation, key: RowImage?, moved: RowImage? = nil, to db: Database
    ) throws {
        try db.cachedStatement(sql: "INSERT INTO _journal_settled (tbl, op, key, moved) VALUES (?, ?, ?, ?)")
            .execute(arguments: [
                table, operation.rawValue, key.map { Data($0.encoded()) }, moved.map { Data($0.encoded()) },
            ])
    }

    /// Drops all but the newest ``limit`` notices; of those about moved rows, all but the newest
    /// ``limitOfMoves``.
    ///
    /// - Throws: Errors of SQLite; the transaction must then be rolled back.
    package static func prune(_ db: Database) throws {
        try db.cachedStatement(
            sql: """
                DELETE FROM _journal_settled WHERE id <= (SELECT max(id) FROM _journal_settled) - ?
                  AND (moved IS NULL OR id <= (SELECT max(id) FROM _journal_settled) - ?)
                """
        ).execute(arguments: [limit, limitOfMoves])
    }
}
