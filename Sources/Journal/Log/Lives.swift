import Foundation
import GRDB

/// `_journal_lives`: the lives of the keys that were ever deleted.
package enum Lives {
    /// The life of one key, as in ``Change/life``.
    package struct Entry: Sendable {
        /// The id that all shapes of the table share.
        package let table: Int64
        /// The primary key.
        package let key: Key
        /// 1 or more.
        package let life: Int64

        /// - Parameters:
        ///   - table: The id that all shapes of the table share.
        ///   - key: The primary key.
        ///   - life: 1 or more; 1 is not written.
        package init(table: Int64, key: Key, life: Int64) {
            self.table = table
            self.key = key
            self.life = life
        }
    }

    /// Raises the lives of keys; a life never falls.
    ///
    /// - Throws: ``JournalError`` with the code for the SQLite error; the transaction must then be rolled
    ///   back.
    package static func raise(_ entries: some Sequence<Entry>, _ db: Database) throws {
        let statement = try RawStatement(
            db,
            """
            INSERT INTO _journal_lives (tbl, key, life) VALUES (?, ?, ?)
            ON CONFLICT (tbl, key) DO UPDATE SET life = excluded.life WHERE life < excluded.life
            """)
        for entry in entries where entry.life > 1 {
            try statement.bind(entry.table, at: 1)
            try statement.bind(.blob(entry.key.bytes[...]), at: 2)
            try statement.bind(entry.life, at: 3)
            try statement.run()
        }
    }

    /// Sets the lives of keys whose changes have moved to other keys.
    ///
    /// - Throws: Errors of SQLite; the transaction must then be rolled back.
    package static func set(_ entries: some Collection<Entry>, _ db: Database) throws {
        let delete = try RawStatement(db, "DELETE FROM _journal_lives WHERE tbl = ? AND key = ?")
        for entry in entries {
            try delete.bind(entry.table, at: 1)
            try delete.bind(.blob(entry.key.bytes[...]), at: 2)
            try delete.run()
        }
        try raise(entries, db)
    }

    static func write(_ lives: [TableKey: Int64], _ db: Database) throws {
        // In key order, so that the pages are touched in order.
        let sorted = lives.sorted {
            $0.key.table == $1.key.table
                ? $0.key.key.bytes.lexicographicallyPrecedes($1.key.key.bytes) : $0.key.table < $1.key.table
        }
        try raise(sorted.map { Entry(table: $0.key.table, key: $0.key.key, life: $0.value) }, db)
    }
}

/// Looks up lives in `_journal_lives`. For tables in which no key was ever deleted it needs no query.
package final class LifeReader {
    private let tables: Set<Int64>
    private let db: Database
    /// Prepared for the first key of a table that has lives.
    private var statement: RawStatement?

    /// Reads which tables have lives. Use the value inside of the access that hands out `db`.
    ///
    /// - Throws: Errors of SQLite.
    package init(_ db: Database) throws {
        self.db = db
        tables = try Set(
            Int64.fetchAll(
                db.cachedStatement(
                    // Seeks from table to table in the primary key instead of reading every life.
                    sql: """
                        WITH RECURSIVE t(tbl) AS (
                          SELECT min(tbl) FROM _journal_lives
                          UNION ALL SELECT (SELECT min(tbl) FROM _journal_lives WHERE tbl > t.tbl) FROM t WHERE t.tbl IS NOT NULL)
                        SELECT tbl FROM t WHERE tbl IS NOT NULL
                        """)))
    }

    func hasLives(table: Int64) -> Bool { tables.contains(table) }

    /// Returns the life of a key; 1 for a key that was never deleted.
    ///
    /// - Throws: ``JournalError`` with the code for the SQLite error.
    package func life(table: Int64, key: Key) throws -> Int64 {
        try life(of: TableKey(table: table, key: key))
    }

    func life(of key: TableKey) throws -> Int64 {
        guard tables.contains(key.table) else { return 1 }
        let statement =
            try self.statement ?? RawStatement(db, "SELECT life FROM _journal_lives WHERE tbl = ? AND key = ?")
        self.statement = statement
        try statement.bind(key.table, at: 1)
        try statement.bind(.blob(key.key.bytes[...]), at: 2)
        defer { statement.reset() }
        return try statement.step() ? statement.int64(0) : 1
    }
}
