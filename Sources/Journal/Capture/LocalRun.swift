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
        guard let run = try reader.runs.last(), let number = reader.origins.numbers[reader.identity.origin] else {
            throw JournalError(.corrupt, "The journal has no local run")
        }
        let next = reader.lastSeq + 1
        try db.execute(sql: "UPDATE _journal SET tx = 1 WHERE seq = ? AND origin IS NULL", arguments: [next - 1])
        // A run without entries is replaced.
        try db.execute(sql: "DELETE FROM _journal_runs WHERE first_seq >= ?", arguments: [next])
        try db.execute(
            sql: "INSERT INTO _journal_runs (first_seq, origin, first_version, floor, known) VALUES (?, ?, ?, ?, ?)",
            arguments: [
                next, number, run.version(at: next), reader.identity.sealedStamp.rawValue,
                reader.origins.encode(known),
            ])
    }
}
