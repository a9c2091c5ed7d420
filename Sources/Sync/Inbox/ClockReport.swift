import Foundation
import GRDB
import Journal

/// The clock differences that the file knows of, for `syncd clock` and for the status.
package struct ClockReport: Sendable {
    /// An origin that is deferred, or that an operator allows to be ahead.
    package struct Origin: Sendable {
        /// The replica.
        package let origin: OriginID
        /// The deferred changes; nil when the origin is not deferred.
        package let hold: DeferredOrigin?
        /// How far the first deferred stamp lies ahead of this machine's clock, in milliseconds; negative
        /// once its time has come. nil when the origin is not deferred, only waits for changes that its
        /// writer had merged, or contradicts itself.
        package let aheadMilliseconds: Int64?
        /// When the origin was deferred, in seconds since 1970; nil when it is not.
        package let since: Double?
        /// How much further ahead than other origins an operator allows this one to be, in milliseconds; 0
        /// for no further.
        package let allowedMilliseconds: Int64

        /// True when no history can have produced the first deferred change, so that no clock can help.
        package var isContradictory: Bool { hold?.isContradictory ?? false }

        /// True when the writer of the first deferred change had not seen what is compacted here.
        package var isBehindHorizon: Bool { hold?.isBehindHorizon ?? false }
    }

    /// How far the stamp of the next local write will lie ahead of this machine's clock, in milliseconds; 0
    /// when it will not.
    package let ownAheadMilliseconds: Int64
    /// True when that is more than other replicas accept, so that they defer this replica's changes.
    package let isHeldBackByOthers: Bool
    /// The deferred and the allowed origins, ordered by id.
    package let origins: [Origin]

    /// Reads the report from the snapshot of `db`.
    ///
    /// - Parameters:
    ///   - db: A connection to the file, inside a read or a write.
    ///   - now: The time by this machine's clock.
    ///   - limits: Only ``Limits/clockSkewMilliseconds`` is used: what other replicas accept.
    ///   - measuresOwn: False leaves out how far this replica's own stamps are ahead, for which its latest
    ///     changes must be read.
    /// - Throws: ``JournalError`` with `notAReplica`, `unsupportedFormat` or `corrupt`; errors of SQLite.
    package init(_ db: Database, now: Stamp, limits: Limits = .standard, measuresOwn: Bool = true) throws {
        ownAheadMilliseconds =
            measuresOwn ? max(0, try JournalReader(db).latestStamp().milliseconds - now.milliseconds) : 0
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
                    aheadMilliseconds: hold.flatMap { hold in
                        hold.isFinal ? nil : hold.stamp.map { $0.milliseconds - now.milliseconds }
                    }, since: row["since"],
                    allowedMilliseconds: row["allowed_ms"])
            }
    }
}

/// An operator's decisions about origins whose clocks are ahead.
package enum ClockDecision {
    /// Accepts the changes of `origins` from now on, as far ahead as their stamps are, instead of deferring
    /// them.
    ///
    /// The clock of this replica then follows: after it has merged such a change, everything that it writes
    /// carries a later stamp. Other replicas therefore defer this one too, until they accept as well or the
    /// time has come.
    ///
    /// - Parameter now: The time by this machine's clock.
    /// - Throws: ``JournalError``: `unknownOrigin` when one of the origins is not deferred, `refused` when
    ///   one contradicts itself or is from behind the horizon. The transaction must be rolled back then.
    package static func accept(_ origins: [OriginID], now: Stamp, _ db: Database) throws {
        let holds = try DeferredOrigins(db)
        for origin in origins {
            guard let hold = holds[origin] else { throw unknown(origin) }
            guard !hold.isContradictory else {
                throw JournalError(
                    .refused,
                    "\(origin) contradicts itself from its version \(hold.firstVersion) on, and no clock can help: its "
                        + "stamps fall, or a row has more lives than its changes can make",
                    hint: "Restore that machine from a peer, under a new identity; `syncd clock reset` asks for its "
                        + "changes again.")
            }
            guard !hold.isBehindHorizon else {
                throw JournalError(
                    .refused,
                    "\(origin) had not seen changes that are compacted here when it wrote its version "
                        + "\(hold.firstVersion), and merging that could undo them",
                    hint:
                        "`syncd return` takes the content of a peer that has merged it. Without such a peer, make that "
                        + "machine's file anew with `syncd clone`, and write there what only it had.")
            }
            // The allowance is a difference, because a clock that is ahead stays ahead by as much. Origins
            // that wait only for this one become due together with it.
            let ahead = hold.stamp.map { $0.milliseconds - now.milliseconds } ?? 0
            try db.execute(
                sql: "UPDATE _journal_clocks SET allowed_ms = max(allowed_ms, ?) WHERE origin = ?",
                arguments: [max(1, ahead), Data(origin.bytes)])
        }
    }

    /// Forgets what is deferred of `origins` and what was accepted. Peers are asked for the changes again,
    /// and the usual bound applies.
    ///
    /// - Throws: ``JournalError`` with `unknownOrigin`. The transaction must be rolled back then.
    package static func reset(_ origins: [OriginID], _ db: Database) throws {
        for origin in origins {
            try db.execute(sql: "DELETE FROM _journal_clocks WHERE origin = ?", arguments: [Data(origin.bytes)])
            guard db.changesCount > 0 else { throw unknown(origin) }
        }
    }

    /// Gives the changes that this replica wrote while its clock was ahead the current time, under a new
    /// identity; see ``ClockRepair``. The clock must be right again, and no daemon may serve the file.
    ///
    /// - Parameter peers: What is known of the peers: ``PeerRecords/all(in:_:)``.
    /// - Returns: nil when no stamp of this replica is ahead.
    /// - Throws: ``JournalError`` with `refused`; the transaction must then be rolled back.
    package static func repair(
        now: Stamp, limits: Limits = .standard, origin: OriginID = .random(), peers: [PeerRecord], _ db: Database
    ) throws -> ClockRepair.Outcome? {
        let own = try Identity(db).origin
        let latest = Stamp(milliseconds: now.milliseconds + limits.clockSkewMilliseconds)
        let taken = peers.map { $0.confirmed[own] }.max() ?? 0
        return try ClockRepair(now: now, latest: latest, taken: taken, origin: origin).run(db)
    }

    private static func unknown(_ origin: OriginID) -> JournalError {
        JournalError(
            .unknownOrigin, "Nothing of \(origin) is held back",
            hint: "`syncd clock` lists the origins of held-back changes with their full ids.")
    }
}
