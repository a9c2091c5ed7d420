import Foundation
import GRDB

extension Replica {
    /// Restores entries of the conflict ledger, all of them or none; see `ConflictLedger/restore(_:time:)`.
    ///
    /// - Parameters:
    ///   - ids: The ids of the entries (``ConflictEntry/id``).
    ///   - time: The current time, in seconds since 1970.
    /// - Throws: ``JournalError``; the file is then unchanged.
    @discardableResult
    public func restoreConflicts(_ ids: [Int64], time: Double) throws -> [ConflictEntry] {
        try restoring { try ConflictLedger($0).restore(ids, time: time) }
    }

    /// Restores entries of the conflict ledger as rows of their own, all of them or none; see
    /// `ConflictLedger/restoreAsNewRows(_:time:)`.
    ///
    /// - Parameters:
    ///   - ids: The ids of the entries (``ConflictEntry/id``).
    ///   - time: The current time, in seconds since 1970.
    /// - Throws: ``JournalError``; the file is then unchanged.
    @discardableResult
    public func restoreConflictsAsNewRows(_ ids: [Int64], time: Double) throws -> [RestoredRow] {
        try restoring { try ConflictLedger($0).restoreAsNewRows(ids, time: time) }
    }

    private func restoring<T>(_ body: (GRDB.Database) throws -> T) throws -> T {
        try refreshDerivedState()
        do {
            return try write(body)
        } catch let error as DatabaseError where error.resultCode == .SQLITE_CONSTRAINT {
            // SQLite checks a deferred foreign key at the end of the transaction.
            throw JournalError(
                .refused, "The conflicts cannot be restored: \(error.message ?? "a constraint failed")",
                hint: "Restore the rows that they refer to as well, in one command.",
                sqliteCode: error.extendedResultCode.rawValue)
        }
    }

    /// Dismisses entries of the conflict ledger, all of them or none; see
    /// `ConflictLedger/dismiss(_:time:)`.
    ///
    /// - Parameters:
    ///   - ids: The ids of the entries (``ConflictEntry/id``).
    ///   - time: The current time, in seconds since 1970.
    /// - Throws: ``JournalError``; the file is then unchanged.
    @discardableResult
    public func dismissConflicts(_ ids: [Int64], time: Double) throws -> [ConflictEntry] {
        try refreshDerivedState()
        return try write { try ConflictLedger($0).dismiss(ids, time: time) }
    }
}
