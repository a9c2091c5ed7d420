import Foundation
import GRDB
import Journal

/// How clocks stand to one another, as the file knows: for `syncd clock` and for the status.
public struct ClockReport: Sendable {
    /// One origin of which something is held back, or that may be ahead.
    public struct Origin: Sendable {
        /// The replica.
        public let origin: OriginID
        /// nil when nothing is held back now.
        public let hold: DeferredOrigin?
        /// How far the first held-back stamp lies ahead of this machine's clock, in milliseconds; negative once its time has
        /// come; nil when nothing is held back, or only for what it builds on.
        public let aheadMilliseconds: Int64?
        /// Since when something is held back, in seconds since 1970; nil when nothing is.
        public let since: Double?
        /// How far ahead an operator lets it be, in milliseconds; 0 for no further than others.
        public let allowedMilliseconds: Int64
    }

    /// How far the stamp of the next local write will lie ahead of this machine's clock, in milliseconds; 0 when it will not.
    public let ownAheadMilliseconds: Int64
    /// True when that is more than other replicas take: they hold this replica's changes back.
    public let isHeldBackByOthers: Bool
    /// By origin.
    public let origins: [Origin]

    /// Reads what the snapshot of `db` holds.
    ///
    /// - Parameters:
    ///   - db: A connection to the file, inside of a read or a write.
    ///   - now: By this machine's clock.
    ///   - limits: Of which ``Limits/clockSkewMilliseconds`` counts: what other replicas take.
    /// - Throws: ``JournalError`` with `notAReplica`, `unsupportedFormat` or `corrupt`; errors of SQLite.
    public init(_ db: Database, now: Stamp, limits: Limits = .standard) throws {
        let reader = try JournalReader(db)
        ownAheadMilliseconds = max(0, try reader.latestStamp().milliseconds - now.milliseconds)
        isHeldBackByOthers = ownAheadMilliseconds > limits.clockSkewMilliseconds
        let holds = try DeferredOrigins(db)
        guard !holds.isEmpty else {
            origins = []
            return
        }
        origins = try Row.fetchAll(db, sql: "SELECT origin, since, allowed_ms FROM _journal_clocks ORDER BY origin")
            .compactMap { row in
                guard let origin = OriginID(bytes: row["origin"] as Data) else { return nil }
                let hold = holds[origin]
                return Origin(
                    origin: origin, hold: hold,
                    aheadMilliseconds: hold?.stamp.map { $0.milliseconds - now.milliseconds }, since: row["since"],
                    allowedMilliseconds: row["allowed_ms"])
            }
    }
}

/// What an operator decides about origins whose clocks are ahead.
public enum ClockDecision {
    /// Takes the changes of `origins` from now on as far ahead as they are, instead of holding them back.
    ///
    /// The clock of this replica then follows: whatever it writes after it has merged such a change carries a stamp after it. So the
    /// other replicas hold this one back too, until they accept as well, or the time has come.
    ///
    /// - Parameter now: By this machine's clock.
    /// - Throws: ``JournalError`` with `unknownOrigin` when nothing of an origin is held back; nothing is changed then, if the
    ///   transaction is rolled back.
    public static func accept(_ origins: [OriginID], now: Stamp, _ db: Database) throws {
        let holds = try DeferredOrigins(db)
        for origin in origins {
            guard let hold = holds[origin] else { throw unknown(origin) }
            // What builds on it is let through with it. A clock that is ahead goes on being ahead by as much.
            let ahead = hold.stamp.map { $0.milliseconds - now.milliseconds } ?? 0
            try db.execute(
                sql: "UPDATE _journal_clocks SET allowed_ms = max(allowed_ms, ?) WHERE origin = ?",
                arguments: [max(1, ahead), Data(origin.bytes)])
        }
    }

    /// Forgets what is held back of `origins` and what was accepted: peers are asked again, and the usual bound holds.
    ///
    /// - Throws: ``JournalError`` with `unknownOrigin`.
    public static func reset(_ origins: [OriginID], _ db: Database) throws {
        for origin in origins {
            try db.execute(sql: "DELETE FROM _journal_clocks WHERE origin = ?", arguments: [Data(origin.bytes)])
            guard db.changesCount > 0 else { throw unknown(origin) }
        }
    }

    /// Gives the changes that this replica wrote while its clock was ahead times of now, under a new name; see ``ClockRepair``. The clock must be
    /// right again, and no daemon may serve the file.
    ///
    /// - Returns: nil when no time of this replica is ahead.
    /// - Throws: ``JournalError`` with `refused`; the transaction must then be rolled back.
    public static func repair(
        now: Stamp, limits: Limits = .standard, origin: OriginID = .random(), _ db: Database
    ) throws -> ClockRepair.Outcome? {
        let own = try Identity(db).origin
        let latest = Stamp(milliseconds: now.milliseconds + limits.clockSkewMilliseconds)
        let taken = try PeerTable.all(db).map { $0.confirmed[own] }.max() ?? 0
        return try ClockRepair(now: now, latest: latest, taken: taken, origin: origin).run(db)
    }

    private static func unknown(_ origin: OriginID) -> JournalError {
        JournalError(
            .unknownOrigin, "nothing of \(origin) is held back", hint: "`syncd clock` lists what is, with full ids.")
    }
}
