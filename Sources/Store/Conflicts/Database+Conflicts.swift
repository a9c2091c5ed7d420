import Foundation
import Journal

@_exported import struct Journal.ConflictEntry
@_exported import struct Journal.ConflictFilter
@_exported import struct Journal.Stamp

// The conflict ledger lists the writes that lost when two machines wrote the same row without having seen
// each other's write; see docs/CONFLICTS.md.

extension Database {
    /// Entries of the conflict ledger, oldest first. Without a filter, only the open ones.
    ///
    /// ```swift
    /// for conflict in try db.conflicts(ConflictFilter(table: "Person")) {
    ///     print(conflict.key, conflict.lost, conflict.kept)
    /// }
    /// ```
    ///
    /// - Parameter filter: Which entries to return; by default the open ones of all tables.
    /// - Returns: All matching entries, in memory; empty when none match.
    /// - Throws: ``StoreError``: `notAReplica` for a file without a journal, `unsupportedFormat`, `corrupt`,
    ///   `closed`.
    public func conflicts(_ filter: ConflictFilter = ConflictFilter()) throws -> [ConflictEntry] {
        try access { context in try ConflictLedger(context.db).entries(filter) }
    }

    /// Writes lost values back as an ordinary local write, which live objects follow and peers receive.
    /// Restores all of the entries, or none.
    ///
    /// When the row exists, its lost columns are set; after a change of its key, in the row under the new
    /// key. When the row does not exist, it is inserted again as its writer had it. Inside a transaction, the
    /// write is a part of that transaction.
    ///
    /// - Parameter ids: `ConflictEntry.id`.
    /// - Returns: The entries as they are now.
    /// - Throws: ``StoreError``: `unknownConflict`; `missingTable` and `missingColumn` when the schema has
    ///   changed since the conflict; `heldRow`; `constraint` when the schema refuses the row. Nothing is
    ///   changed then.
    @discardableResult
    public func restoreConflicts(_ ids: [Int64]) throws -> [ConflictEntry] {
        let time = Date().timeIntervalSince1970
        return try closing { context in
            try context.confirm()
            let restored = try ConflictLedger(context.db).restore(ids, time: time)
            try context.absorb()
            return restored
        }
    }

    /// Writes lost values as rows of their own, beside the rows that won. Restores all of the entries, or
    /// none.
    ///
    /// SQLite chooses the keys of the new rows, so their tables must have a key that it can choose (`Int64`).
    /// Columns that did not lose have the values that the writer of the losing change had. Inside a
    /// transaction, the write is a part of that transaction.
    ///
    /// - Parameter ids: `ConflictEntry.id`.
    /// - Returns: The entries as they are now, each with the key of its new row.
    /// - Throws: ``StoreError``: `unknownConflict`; `missingTable` and `missingColumn` when the schema has
    ///   changed since the conflict; `constraint` when the schema refuses the row. Nothing is changed then.
    @discardableResult
    public func restoreConflictsAsNewRows(_ ids: [Int64]) throws -> [RestoredRow] {
        let time = Date().timeIntervalSince1970
        return try closing { context in
            try context.confirm()
            let restored = try ConflictLedger(context.db).restoreAsNewRows(ids, time: time)
            try context.absorb()
            return restored
        }
    }

    /// Marks entries as dismissed. Their values stay, and they can still be restored.
    ///
    /// - Returns: The entries as they are now.
    /// - Throws: ``StoreError`` with `unknownConflict`; nothing is changed then.
    @discardableResult
    public func dismissConflicts(_ ids: [Int64]) throws -> [ConflictEntry] {
        let time = Date().timeIntervalSince1970
        return try closing { context in try ConflictLedger(context.db).dismiss(ids, time: time) }
    }

    /// Dismisses every entry that matches the filter.
    ///
    /// - Returns: The number of dismissed entries.
    /// - Throws: ``StoreError``: `writeInsideRead`, `readOnly`, `busy`, `closed`. Nothing is dismissed then.
    @discardableResult
    public func dismissConflicts(matching filter: ConflictFilter) throws -> Int {
        let time = Date().timeIntervalSince1970
        return try closing { context in try ConflictLedger(context.db).dismiss(matching: filter, time: time) }
    }

    /// Runs `body` in a savepoint, so that a failure inside a transaction leaves no changes.
    private func closing<Result>(_ body: (WriteContext) throws -> Result) throws -> Result {
        try write { context in
            try context.inSavepoint {
                do {
                    return try body(context)
                } catch let error as JournalError {
                    throw StoreError(conflict: error)
                }
            }
        }
    }
}

extension StoreError.Code {
    /// The ledger has no entry of that number.
    public static let unknownConflict = StoreError.Code(rawValue: "unknown_conflict")
    /// The row is set aside, so nothing can be written to it; see ``Database/heldRows(table:reason:)``.
    public static let heldRow = StoreError.Code(rawValue: "held_row")
}

extension StoreError {
    fileprivate init(conflict error: JournalError) {
        let code: Code? =
            switch error.code {
            case .unknownConflict: .unknownConflict
            case .unknownTable: .missingTable
            case .unknownColumn: .missingColumn
            case .rowIsHeld: .heldRow
            case .refused: .constraint
            default: nil
            }
        guard let code else {
            self = StoreError(
                .journal, error.message, hint: StoreError.journalHint(error), sqliteCode: error.sqliteCode)
            return
        }
        self = StoreError(code, error.message, hint: error.hint, sqliteCode: error.sqliteCode)
    }
}
