import Foundation
import GRDB

/// Starts a new run of local entries, with another causal context.
///
/// Most local entries have the causal context with which the last merge ended: everything that is here. An
/// entry whose writer could not see all of it belongs to a run of its own.
enum LocalRun {
    /// Ends the local tail, as if no transaction were open, and starts a run after it.
    ///
    /// - Parameter known: What the writer of the entries that follow had seen of other origins.
    /// - Throws: ``JournalError/Code/corrupt`` when the journal does not end with a local run; errors of
    ///   SQLite. The transaction must then be rolled back.
    static func start(known: VersionVector, _ db: Database) throws {
        try DerivedState.materialize(db)
        let reader = try JournalReader(db)
        let (run, origin) = try reader.localRun()
        let next = reader.lastSeq + 1
        try JournalRun.endTail(before: next, db)
        try JournalRun.insert(
            at: next, origin: origin, firstVersion: run.version(at: next), floor: reader.identity.sealedStamp,
            known: reader.origins.encode(known), db)
    }
}

extension JournalReader {
    /// Returns the run with which the journal ends, and the number of this replica's origin.
    ///
    /// - Throws: ``JournalError/Code/corrupt`` when the journal does not end with a local run; errors of
    ///   SQLite.
    func localRun() throws -> (run: JournalRun, origin: Int64) {
        guard let run = try runs.last(), let origin = origins.numbers[identity.origin] else {
            throw JournalError(.corrupt, "The journal has no local run")
        }
        return (run, origin)
    }
}

extension JournalRun {
    /// Marks the end of the last local transaction before position `seq`, and removes an empty run at that
    /// position. The caller holds the write lock, so no local transaction is open.
    static func endTail(before seq: Int64, _ db: Database) throws {
        try TransactionMark.noteEnd(at: seq - 1, db)
        try db.execute(sql: "DELETE FROM _journal_runs WHERE first_seq >= ?", arguments: [seq])
    }

    /// Adds a run to the journal.
    ///
    /// - Parameters:
    ///   - origin: The number of the origin.
    ///   - known: The causal context, as `OriginTable.encode(_:)` returns it.
    static func insert(
        at seq: Int64, origin: Int64, firstVersion: Int64, floor: Stamp, known: Data, _ db: Database
    ) throws {
        try db.execute(
            sql: "INSERT INTO _journal_runs (first_seq, origin, first_version, floor, known) VALUES (?, ?, ?, ?, ?)",
            arguments: [seq, origin, firstVersion, floor.rawValue, known])
    }
}
