import Foundation
import GRDB
import Journal

/// The deferred origins in the file, `_journal_clocks`, so that other processes see them and an operator can
/// decide.
extension DeferredOrigins {
    init(_ db: Database) throws {
        self.init()
        // Read for each batch, and mostly empty.
        guard try db.tableExists("_journal_clocks") else { return }
        let rows = try Row.fetchCursor(
            db.cachedStatement(
                sql: "SELECT origin, first_version, last_version, stamp, cause, allowed_ms FROM _journal_clocks"))
        while let row = try rows.next() {
            guard let origin = OriginID(bytes: row["origin"] as Data) else { continue }
            let allowance: Int64 = row["allowed_ms"]
            if allowance > 0 { allow(allowance, of: origin) }
            guard let first = row["first_version"] as Int64?, let last = row["last_version"] as Int64? else { continue }
            let cause: Data? = row["cause"]
            set(
                DeferredOrigin(
                    origin: origin, firstVersion: first, lastVersion: last,
                    stamp: (row["stamp"] as Int64?).map { Stamp(rawValue: $0) },
                    cause: cause.flatMap { OriginID(bytes: $0) }))
        }
    }

    /// Records a deferred origin.
    ///
    /// - Parameter time: Now, in seconds since 1970; an origin that was deferred before keeps its earlier
    ///   time.
    static func record(_ hold: DeferredOrigin, time: Double, _ db: Database) throws {
        try db.execute(
            sql: """
                INSERT INTO _journal_clocks (origin, first_version, last_version, stamp, cause, since)
                VALUES (?, ?, ?, ?, ?, ?)
                ON CONFLICT (origin) DO UPDATE SET first_version = excluded.first_version,
                  last_version = excluded.last_version, stamp = excluded.stamp, cause = excluded.cause,
                  since = coalesce(since, excluded.since)
                """,
            arguments: [
                Data(hold.origin.bytes), hold.firstVersion, hold.lastVersion, hold.stamp?.rawValue,
                hold.cause.map { Data($0.bytes) }, time,
            ])
    }

    /// Forgets the deferred changes that `have` covers. What an operator allowed stays.
    func forget(coveredBy have: VersionVector, _ db: Database) throws {
        for hold in holds.values where have[hold.origin] >= hold.lastVersion {
            let origin = Data(hold.origin.bytes)
            try db.execute(sql: "DELETE FROM _journal_clocks WHERE origin = ? AND allowed_ms = 0", arguments: [origin])
            try db.execute(
                sql: """
                    UPDATE _journal_clocks SET first_version = NULL, last_version = NULL, stamp = NULL, cause = NULL,
                      since = NULL WHERE origin = ?
                    """, arguments: [origin])
        }
    }
}
