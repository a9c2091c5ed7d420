import Foundation
import GRDB

/// `_journal_claims`: the inserts of keys that two machines chose for a row each, before either had seen the
/// other's.
///
/// The rows of one key are all inserts of it that have a concurrent one. What follows from them is a function
/// of the changes, and is kept here for readers of the file.
package enum MintedClaims {
    /// One insert of such a key.
    package struct Claim: Hashable, Sendable {
        /// The position of the insert.
        package let seq: Int64
        /// The id of the table.
        package let table: Int64
        /// The key that the writer of the insert meant.
        package let key: Int64
        /// The key that the row has instead; nil when it keeps ``key``.
        package let moved: Int64?

        package init(seq: Int64, table: Int64, key: Int64, moved: Int64?) {
            self.seq = seq
            self.table = table
            self.key = key
            self.moved = moved
        }
    }

    /// Returns all claims, by position.
    ///
    /// - Throws: Errors of SQLite.
    package static func all(_ db: Database) throws -> [Claim] {
        try Row.fetchAll(
            db.cachedStatement(sql: "SELECT seq, tbl, key, moved FROM _journal_claims ORDER BY seq")
        ).map { Claim(seq: $0["seq"], table: $0["tbl"], key: $0["key"], moved: $0["moved"]) }
    }

    /// Returns true when there is no claim.
    ///
    /// - Throws: Errors of SQLite.
    package static func isEmpty(_ db: Database) throws -> Bool {
        try Bool.fetchOne(db.cachedStatement(sql: "SELECT NOT EXISTS (SELECT 1 FROM _journal_claims)")) ?? true
    }

    /// Adds a claim, or replaces the one at its position.
    ///
    /// - Throws: Errors of SQLite; the transaction must then be rolled back.
    package static func write(_ claim: Claim, _ db: Database) throws {
        try db.cachedStatement(sql: "INSERT OR REPLACE INTO _journal_claims (seq, tbl, key, moved) VALUES (?, ?, ?, ?)")
            .execute(arguments: [claim.seq, claim.table, claim.key, claim.moved])
    }

    /// By what the claims were derived, and how often they have changed: `_journal_replica.claims`.
    package struct State: Hashable, Sendable {
        /// How often the claims have changed.
        package let number: Int64
        /// The columns that hold minted keys, and the identity.
        package let basis: String

        package init(number: Int64, basis: String) {
            self.number = number
            self.basis = basis
        }

        /// - Returns: nil when there never was a claim.
        /// - Throws: Errors of SQLite.
        package init?(_ db: Database) throws {
            let text = try String.fetchOne(db.cachedStatement(sql: "SELECT claims FROM _journal_replica"))
            guard let text, let space = text.firstIndex(of: " "), let number = Int64(text[..<space]) else { return nil }
            self.init(number: number, basis: String(text[text.index(after: space)...]))
        }

        /// Makes every process that merges look at the rows again.
        ///
        /// - Throws: Errors of SQLite; the transaction must then be rolled back.
        static func renew(_ db: Database) throws {
            try State(number: (State(db)?.number ?? 0) + 1, basis: "").write(db)
        }

        /// - Throws: Errors of SQLite; the transaction must then be rolled back.
        package func write(_ db: Database) throws {
            try db.cachedStatement(sql: "UPDATE _journal_replica SET claims = ?").execute(
                arguments: ["\(number) \(basis)"])
        }
    }
}
