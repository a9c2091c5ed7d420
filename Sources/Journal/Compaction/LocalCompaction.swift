import GRDB

/// Compaction of a file that replicates with nobody: all that it holds is stable, because nobody can have written
/// anything without having seen it.
///
/// A first peer gets the content of such a file, as a clone or by a return, and not its history.
package enum LocalCompaction {
    /// What must be so before anything is decided.
    package enum Finding: Sendable, Hashable {
        /// The file may be compacted: the last position of the journal that was looked at.
        case ready(through: Int64)
        /// Other replicas know the file, or it knows of others. Their acknowledgements decide, which a daemon has.
        case hasOthers
        /// Rows are held, or have no parent. A daemon decides about them, and needs their changes for it.
        case hasBrokenRows
    }

    /// Looks at the whole file, which takes time in proportion to its rows with foreign keys.
    ///
    /// - Throws: ``JournalError``; errors of SQLite.
    package static func look(at replica: Replica) throws -> Finding {
        try replica.refreshDerivedState()
        // A daemon has heard of others, which may have written nothing.
        let files = replica.options.files
        if try files.status(of: files.resolved(replica.path) + "-acks") != nil { return .hasOthers }
        return try replica.read { db in
            guard try isAlone(db) else { return .hasOthers }
            let isBroken =
                try Bool.fetchOne(db, sql: "SELECT EXISTS (SELECT 1 FROM _journal_held)") == true
                || Row.fetchOne(db, sql: "PRAGMA foreign_key_check") != nil
            return isBroken ? .hasBrokenRows : .ready(through: try JournalReader.lastSeq(db))
        }
    }

    /// Decides what can go.
    ///
    /// - Parameters:
    ///   - position: Up to where the file was found in order.
    ///   - until: Entries with later stamps stay.
    /// - Returns: nil when the file got a peer, another identity or another schema meanwhile.
    /// - Throws: ``JournalError``; errors of SQLite.
    package static func plan(of replica: Replica, through position: Int64, until: Stamp) throws -> CompactionPlan? {
        let stable = try replica.write { db -> VersionVector? in
            guard try isAlone(db) else { return nil }
            try DerivedState.materialize(db)
            // A daemon that comes to the file later looks at what follows.
            try db.execute(
                sql: "UPDATE _journal_replica SET checked_seq = max(checked_seq, ?)", arguments: [position])
            return try JournalReader(db).vector()
        }
        return try stable.flatMap { stable in
            try CompactionPlan({ try replica.read($0) }, upTo: stable, until: until)
        }
    }

    /// True when compaction has something to gain: many entries, and older ones than those that stay.
    ///
    /// - Parameters:
    ///   - until: As in ``plan(of:through:until:)``.
    ///   - margin: How much older than that the oldest entries must be, in milliseconds.
    /// - Throws: ``JournalError``; errors of SQLite.
    package static func isDue(_ db: Database, until: Stamp, margin: Int64) throws -> Bool {
        let reader = try JournalReader(db)
        let horizon = try Horizon(db)
        guard reader.lastSeq - horizon.removed >= fewest else { return false }
        var oldest = horizon.stamp
        if horizon.isEmpty {
            guard let first = try Int64.fetchOne(db, sql: "SELECT min(seq) FROM _journal"),
                let entry = try reader.entries(at: [first])[first]
            else { return false }
            oldest = entry.stamp
        }
        return until.milliseconds - oldest.milliseconds >= margin
    }

    /// A journal with fewer entries is left as it is.
    private static let fewest: Int64 = 1_000

    private static func isAlone(_ db: Database) throws -> Bool {
        try Bool.fetchOne(
            db,
            sql: """
                SELECT NOT EXISTS (SELECT 1 FROM _journal_peers) AND NOT EXISTS (
                  SELECT 1 FROM _journal_origins
                  WHERE retired IS NULL AND origin <> (SELECT origin FROM _journal_replica))
                """) ?? false
    }
}
