import GRDB

/// Runs whose entries are all gone. Those that follow one another become one, so that the list of runs is as
/// long as the journal, not as its history.
///
/// The first one stays: the run before it must not seem to go on. A position in it has no entry, so what it
/// says of origin and version is never read. The run that holds the newest stable entry of an origin is never
/// empty, so a later version is always found in its own run.
enum EmptyRuns {
    /// The positions of the runs to remove, ascending.
    ///
    /// - Parameter end: Runs that reach beyond this position stay.
    static func find(upTo end: Int64, _ db: Database) throws -> [Int64] {
        let rows = try Row.fetchCursor(
            db,
            sql: """
                SELECT first_seq,
                  EXISTS (SELECT 1 FROM _journal WHERE seq >= first_seq AND seq < next) AS has_entries
                FROM (SELECT first_seq, lead(first_seq) OVER (ORDER BY first_seq) AS next FROM _journal_runs)
                WHERE next <= ? ORDER BY first_seq
                """, arguments: [end + 1])
        var found: [Int64] = []
        var isAfterEmpty = false
        while let row = try rows.next() {
            let isEmpty = row["has_entries"] == false
            if isEmpty, isAfterEmpty { found.append(row["first_seq"]) }
            isAfterEmpty = isEmpty
        }
        return found
    }

    static func remove(_ positions: ArraySlice<Int64>, _ db: Database) throws {
        let statement = try RawStatement(db, "DELETE FROM _journal_runs WHERE first_seq = ?")
        for seq in positions {
            try statement.bind(seq, at: 1)
            try statement.run()
        }
    }
}
