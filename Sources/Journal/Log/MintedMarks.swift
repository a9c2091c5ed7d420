import GRDB

/// `_journal_minted`: which entries insert rows whose keys SQLite chose.
///
/// A trigger that runs before an insert sees that the program gave no key, and cannot write the entry that the insert
/// will get. So it writes a mark for the position after the newest entry. A refused insert leaves a mark that the next
/// entry may not deserve; the shape tells most of these apart.
final class MintedMarks {
    private let statement: RawStatement?
    private var next: (seq: Int64, shape: Int64)?

    /// - Parameter seq: The first position of which marks are needed.
    init(_ db: Database, from seq: Int64) throws {
        do {
            let statement = try RawStatement(
                db, "SELECT seq, shape FROM _journal_minted WHERE seq >= ? ORDER BY seq")
            try statement.bind(seq, at: 1)
            self.statement = statement
        } catch let error as JournalError where error.message.contains("no such table") {
            // The file of an earlier release.
            statement = nil
        }
        try advance()
    }

    /// True when the insert at `seq`, an entry of the shape with the id `shape`, has a mark. Ask in the order of
    /// positions.
    func marks(_ seq: Int64, shape: Int64) throws -> Bool {
        while let mark = next, mark.seq < seq { try advance() }
        return next.map { $0.seq == seq && $0.shape == shape } ?? false
    }

    private func advance() throws {
        guard let statement, try statement.step() else {
            next = nil
            return
        }
        next = (statement.int64(0), statement.int64(1))
    }

    // MARK: - Writing

    /// SQL statements that mark the position after the newest entry, for an insert of the shape with the id `shape`.
    /// A mark that is there already is of an insert that was refused. No row conflicts with another, because the
    /// program's statement decides what a conflict in a trigger does (https://sqlite.org/lang_createtrigger.html). And
    /// nothing is deleted, because GRDB prepares statements anew that can delete.
    static func sql(shape: Int64) -> [String] {
        let table = "\(JournalSchema.prefix)_minted"
        let next = "(SELECT coalesce(max(seq), 0) + 1 FROM \(JournalSchema.prefix))"
        return [
            "UPDATE \(table) SET shape = \(shape) WHERE seq = \(next)",
            "INSERT INTO \(table) (seq, shape) SELECT \(next), \(shape) "
                + "WHERE NOT EXISTS (SELECT 1 FROM \(table) WHERE seq = \(next))",
        ]
    }

    /// Deletes the mark that a refused insert left for the next position, before received entries take it.
    static func clear(from seq: Int64, _ db: Database) throws {
        try db.cachedStatement(sql: "DELETE FROM _journal_minted WHERE seq >= ?").execute(arguments: [seq])
    }

    /// Marks the received entry at `seq`.
    static func mark(_ seq: Int64, shape: Int64, _ db: Database) throws {
        try db.cachedStatement(sql: "INSERT OR REPLACE INTO _journal_minted (seq, shape) VALUES (?, ?)")
            .execute(arguments: [seq, shape])
    }
}
