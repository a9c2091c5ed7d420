import GRDB
import GRDBSQLite

extension JournalReader {
    /// The position of the newest entry; 0 for an empty journal, and for a file without one.
    ///
    /// - Throws: ``JournalError``, `DatabaseError` of SQLite.
    package static func lastSeq(_ db: Database) throws -> Int64 {
        let statement: Statement
        do {
            statement = try db.cachedStatement(sql: "SELECT max(seq) FROM _journal")
        } catch {
            guard try db.tableExists("_journal") else { return 0 }
            throw error
        }
        // Each save asks, more than once: the raw statement spares it GRDB's cursor.
        let handle = statement.sqliteStatement
        defer { sqlite3_reset(handle) }
        guard sqlite3_step(handle) == SQLITE_ROW else {
            throw JournalError(sqliteConnection: sqlite3_db_handle(handle), operation: "Reading the journal's end")
        }
        return sqlite3_column_int64(handle, 0)
    }

    /// Returns the entries at these positions, read in one pass over the runs. Positions without an entry are
    /// left out.
    ///
    /// - Throws: ``JournalError/Code/corrupt`` for a malformed entry or run; errors of SQLite.
    public func entries(at positions: [Int64]) throws -> [Int64: JournalEntry] {
        try entries(at: positions) { _, _ in true }
    }

    /// Returns the entries at these positions that `isWanted` accepts. The values of others are not read.
    ///
    /// - Parameter isWanted: Receives the position of an entry, and ``JournalEntry/isMinted`` of it.
    /// - Throws: ``JournalError/Code/corrupt`` for a malformed entry or run; errors of SQLite.
    package func entries(
        at positions: [Int64], where isWanted: (_ seq: Int64, _ isMinted: Bool) -> Bool
    ) throws -> [Int64: JournalEntry] {
        var wanted = Set(positions).sorted()[...]
        var found: [Int64: JournalEntry] = [:]
        guard let first = wanted.first else { return found }
        for run in try runs.runs(from: first) {
            wanted = wanted.drop { $0 < run.firstSeq }
            while let next = wanted.first, next < run.endSeq {
                let cursor = try cursor(over: run, from: next)
                while let next = wanted.first, next < run.endSeq, try cursor.next() {
                    guard cursor.seq >= next else {
                        // No state is derived from a peer's earlier entries, so a distant one is sought, not
                        // walked to.
                        if !run.isCaptured, next - cursor.seq > JournalReader.entriesPerSeek { break }
                        continue
                    }
                    if cursor.seq == next, isWanted(next, cursor.isMinted) {
                        found[next] = try entry(at: cursor, in: run)
                    }
                    wanted = wanted.drop { $0 <= cursor.seq }
                }
                if wanted.first == next { wanted = wanted.dropFirst() }
            }
        }
        return found
    }

    /// Returns the position of version `version` of `origin`; nil when the file does not have it.
    ///
    /// - Throws: ``JournalError/Code/corrupt`` for a malformed entry or run; errors of SQLite.
    public func position(of origin: OriginID, version: Int64) throws -> Int64? {
        guard let run = try runs.run(of: origin, holding: version), version < run.endVersion else { return nil }
        return run.seq(of: version)
    }

    /// Returns the greatest stamp in the journal; the next local stamp is greater.
    ///
    /// - Throws: ``JournalError/Code/corrupt`` for a malformed entry or run; errors of SQLite.
    public func latestStamp() throws -> Stamp {
        guard let run = try runs.last() else { return .zero }
        let isSealed = identity.sealedSeq >= run.firstSeq
        let start = isSealed ? identity.sealedSeq : run.firstSeq - 1
        let floor = isSealed ? identity.sealedStamp.rawValue : run.floor.rawValue
        guard lastSeq > start else { return max(run.floor, Stamp(rawValue: floor)) }
        // The stamps of LocalFold in closed form: each is at least one more than that of the entry before. The
        // tail may have a million entries, and a snapshot that stays open lets the log grow.
        let greatest = try Int64.fetchOne(
            db.cachedStatement(
                sql: """
                    SELECT max((max(0, CAST(round((stamp - 2440587.5) * 86400000.0) AS INTEGER)) << 16) - seq)
                    FROM _journal WHERE seq > ?
                    """), arguments: [start])
        // Numbers of a damaged file may overflow.
        return Stamp(rawValue: lastSeq &+ max(floor &- start, greatest ?? .min / 2))
    }

    private static let entriesPerSeek: Int64 = 1_000
}
