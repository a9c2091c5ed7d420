import GRDB

/// `_journal_marks`: which stretches of the journal a migration has just written.
///
/// A program notes where its migration begins and where it ends, in the transaction of the migration. The next
/// look at the file ranks the updates between (``MigratedUpdates``), before a peer can get them, and drops the
/// marks.
package enum MigrationMarks {
    /// What a program executes before the changes of a migration; the parameter is the migration's name.
    package static let begin = """
        INSERT INTO _journal_marks (name, after_seq) VALUES (?, (SELECT coalesce(max(seq), 0) FROM _journal))
        """
    /// What it executes after them.
    package static let end = """
        UPDATE _journal_marks SET last_seq = (SELECT coalesce(max(seq), 0) FROM _journal) WHERE last_seq IS NULL
        """

    /// The most bytes of a name. Peers take 4 096, and text that is not valid grows when it is read.
    private static let longestName = 1_000

    /// A stretch of local entries that one migration wrote.
    struct Stretch {
        let name: String
        let range: ClosedRange<Int64>
    }

    /// True while the file has marks that nobody has looked at. Entries of this replica must not be sent then.
    ///
    /// - Throws: Errors of SQLite.
    package static func areDue(_ db: Database) throws -> Bool {
        do {
            return try Bool.fetchOne(db.cachedStatement(sql: "SELECT EXISTS (SELECT 1 FROM _journal_marks)")) ?? false
        } catch let error as DatabaseError where error.message?.hasPrefix("no such table") == true {
            // The file of an earlier release.
            return false
        }
    }

    /// Ranks what the marks say, and drops them. Call it when the derived state is materialized.
    ///
    /// - Throws: ``JournalError/Code/corrupt`` when the journal is damaged; errors of SQLite. The transaction
    ///   must then be rolled back.
    static func settle(_ db: Database) throws {
        guard try areDue(db) else { return }
        let stretches = try stretches(db)
        try db.execute(sql: "DELETE FROM _journal_marks")
        for stretch in stretches { try MigratedUpdates(stretch, db).rank() }
    }

    /// The stretches of complete marks, in order. A name that peers would refuse is none: what it marks stays a
    /// user's. A mark without an end says nothing: where a transaction ended
    /// that nobody has marked is not known. Nor does one whose stretch has changes of others: a transaction has
    /// none.
    private static func stretches(_ db: Database) throws -> [Stretch] {
        let rows = try Row.fetchAll(
            db,
            sql: """
                SELECT name, after_seq, last_seq FROM _journal_marks AS m
                WHERE length(CAST(name AS BLOB)) BETWEEN 1 AND ? AND instr(CAST(name AS BLOB), x'00') = 0
                  AND after_seq >= 0 AND last_seq > after_seq AND last_seq <= (SELECT max(seq) FROM _journal)
                  AND NOT EXISTS (
                    SELECT 1 FROM _journal WHERE seq > m.after_seq AND seq <= m.last_seq AND origin IS NOT NULL)
                ORDER BY id
                """, arguments: [MigrationMarks.longestName])
        var last: Int64 = 0
        return rows.compactMap { row in
            let range = ((row["after_seq"] as Int64) + 1)...(row["last_seq"] as Int64)
            guard range.lowerBound > last else { return nil }
            last = range.upperBound
            return Stretch(name: row["name"], range: range)
        }
    }
}
