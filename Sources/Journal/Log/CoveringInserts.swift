import GRDB

/// `_journal_covers`: which inserts with a chosen key took the key of a row that was held.
///
/// A held row is not in its table, so SQLite can choose its key for another row. The file of the writer had
/// the held row, but no program could see it there. So the two are different rows, and the held one gets
/// another key (`ContestedKey` of Sync).
///
/// The table has the received inserts, and the local ones up to `sealed_seq`. Of later ones, the rows that
/// are held tell it.
final class CoveringInserts {
    private let db: Database
    private let first: Int64
    private var known: Set<Int64>?
    private var selection: RawStatement?

    /// - Parameter seq: The first position that matters.
    init(_ db: Database, from seq: Int64) {
        self.db = db
        first = seq
    }

    /// True when the insert at `seq`, which is received or not above `sealed_seq`, took the key of a held
    /// row.
    func contains(_ seq: Int64) throws -> Bool {
        if let known { return known.contains(seq) }
        // The file of an earlier release lacks the table.
        let found =
            try db.tableExists("_journal_covers")
            ? Set(Int64.fetchAll(db, sql: "SELECT seq FROM _journal_covers WHERE seq >= ?", arguments: [first])) : []
        known = found
        return found.contains(seq)
    }

    /// True when a row with the key is held and not in its table.
    func isHeld(table: Int64, key: Key) throws -> Bool {
        let selection =
            try self.selection
            ?? RawStatement(db, "SELECT 1 FROM _journal_held WHERE tbl = ? AND key = ? AND shown = 0")
        self.selection = selection
        try selection.bind(table, at: 1)
        try selection.bind(.blob(key.bytes[...]), at: 2)
        defer { selection.reset() }
        return try selection.step()
    }

    // MARK: - Writing

    /// Notes that the insert at `seq` took the key of a held row.
    ///
    /// - Throws: Errors of SQLite; the transaction must then be rolled back.
    static func note(_ seq: Int64, _ db: Database) throws {
        try db.cachedStatement(sql: "INSERT OR IGNORE INTO _journal_covers (seq) VALUES (?)").execute(arguments: [seq])
    }
}

extension MintedClaims {
    /// The positions of inserts that took the key of a held row, and whose claims are not known.
    ///
    /// - Throws: Errors of SQLite.
    package static func missing(_ db: Database) throws -> [Int64] {
        try Int64.fetchAll(
            db.cachedStatement(
                sql: "SELECT seq FROM _journal_covers WHERE seq NOT IN (SELECT seq FROM _journal_claims) ORDER BY seq"))
    }
}
