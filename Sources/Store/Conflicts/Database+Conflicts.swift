import Foundation
import Journal

@_exported import struct Journal.ConflictEntry
@_exported import struct Journal.ConflictFilter
@_exported import struct Journal.Stamp

// The ledger of what lost when two machines wrote the same row without having seen each other; docs/CONFLICTS.md.

extension Database {
    /// Entries of the ledger, oldest first; the open ones, unless the filter says otherwise.
    ///
    /// ```swift
    /// for conflict in try db.conflicts(ConflictFilter(table: "Person")) {
    ///     print(conflict.key, conflict.lost, conflict.kept)
    /// }
    /// ```
    ///
    /// - Parameter filter: Which of them; matches the open ones of all tables when it is left out.
    /// - Returns: All that match, in memory; empty when none do.
    /// - Throws: ``StoreError``: `notAReplica` for a file without a journal, `unsupportedFormat`, `corrupt`, `closed`.
    public func conflicts(_ filter: ConflictFilter = ConflictFilter()) throws -> [ConflictEntry] {
        try access { context in try ConflictLedger(context.db).entries(filter) }
    }

    /// Writes lost values back, as an ordinary local write that live objects follow and peers get: all of the entries, or none.
    ///
    /// If the row is there, its lost columns are set, after a key change in the row under its new key; if not, it is
    /// inserted again as its writer had it. Inside of a transaction it is a part of that.
    ///
    /// - Parameter ids: `ConflictEntry.id`.
    /// - Returns: The entries as they are now.
    /// - Throws: ``StoreError``: `unknownConflict`; `missingTable` and `missingColumn` when the schema has changed since;
    ///   `heldRow`; `constraint` when the schema refuses the row. Nothing is changed then.
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

    /// Marks entries as looked at. Their values stay, and they may still be restored.
    ///
    /// - Returns: The entries as they are now.
    /// - Throws: ``StoreError`` with `unknownConflict`; nothing is changed then.
    @discardableResult
    public func dismissConflicts(_ ids: [Int64]) throws -> [ConflictEntry] {
        let time = Date().timeIntervalSince1970
        return try closing { context in try ConflictLedger(context.db).dismiss(ids, time: time) }
    }

    /// Dismisses every entry that the filter lets through.
    ///
    /// - Returns: How many.
    /// - Throws: ``StoreError``: `writeInsideRead`, `readOnly`, `busy`, `closed`. Nothing is dismissed then.
    @discardableResult
    public func dismissConflicts(matching filter: ConflictFilter) throws -> Int {
        let time = Date().timeIntervalSince1970
        return try closing { context in try ConflictLedger(context.db).dismiss(matching: filter, time: time) }
    }

    /// A savepoint, so that what fails inside of a transaction leaves nothing behind.
    private func closing<Result>(_ body: (WriteContext) throws -> Result) throws -> Result {
        try write { context in
            try context.savepoint {
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
