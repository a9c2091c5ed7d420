import Foundation
import GRDB
import Journal
import Synchronization

extension Inbox {
    /// What was written while the content of another replica took the place of this one's.
    struct TakenOver: Sendable {
        var identity: NewIdentity.Outcome
        var unseen = 0
        var written = 0
        var contested = 0
        var rekeyed = 0
    }

    /// Checks that the programs of this file can go on with the content of the replica at `path`, and moves its
    /// journal behind this one's.
    ///
    /// - Throws: ``SyncError/Code/configuration`` when they cannot; errors of the files.
    func prepare(_ path: String) throws {
        let other = try Replica.open(at: path, options: replica.options)
        defer { try? other.close() }
        try other.refreshDerivedState()
        try checkFits(other)
        let used = try replica.read { try UsedPositions($0) }
        try other.write { try PositionShift.run(beyond: used, room: Inbox.roomForPositions, $0) }
    }

    /// What may be written here until the content is replaced.
    private static let roomForPositions: Int64 = 1 << 20

    /// The schema may have changed since the snapshot was asked for, and an older peer does not tell its own.
    private func checkFits(_ other: Replica) throws {
        try Return.checkFits(
            try other.read { try ContentProfile($0) }, try replica.read { try ContentProfile($0) })
    }

    /// Puts the content of the replica at `path` into this file, and writes again what that one had not seen.
    ///
    /// - Parameter path: A replica of its own, which nobody else has. It is of no use afterwards.
    /// - Throws: ``SyncError``, ``JournalError``; errors of SQLite. This file is unchanged then.
    func takeOver(_ path: String) throws -> TakenOver {
        let done = try session.withLock { box in
            // Nothing that was known of the former content holds.
            box = SessionBox()
            repeat { try replica.refreshDerivedState() } while try replica.hasLongTail()
            var done: TakenOver?
            try ContentReplacement(from: path).run(of: replica) { done = try complete(path) }
            guard let done else { throw JournalError(.corrupt, "The content of \(path) was not prepared") }
            return done
        }
        try keeper.note(done.identity)
        return done
    }

    /// Writes what this file has for itself into the replica at `path`.
    private func complete(_ path: String) throws -> TakenOver {
        let before = try replica.identity()
        let other = try Replica.open(at: path, options: replica.options)
        defer { try? other.close() }
        try other.refreshDerivedState()
        try checkFits(other)
        let used = try replica.read { try UsedPositions($0) }
        guard try other.read({ try PositionShift.lies(beyond: used, $0) }) else {
            throw SyncError(.busy, "Programs have written too much while the snapshot was fetched")
        }
        try LocalContent(of: replica.path).bring(to: path, unlock: replica.options.unlock)
        let inbox = try Inbox(
            replica: other, limits: limits, functions: functions, logger: logger, wallClock: wallClock)
        defer { try? inbox.close() }
        let now = wallClock()
        let time = Double(now.milliseconds) / 1_000
        let seen = try inbox.vector()
        let unseen = try replica.read { try UnseenRows($0, seen: seen, latest: latestStamp(now)) }
        let work = try other.read { try RebasedWork(unseen, seen: seen, now: now, $0) }
        for batch in [work.theirs.finished(), work.mine.finished()].compactMap(\.self) {
            let report = try inbox.receive(batch)
            guard report.applied == batch.changes.count else {
                throw JournalError(.corrupt, "The snapshot does not take what this replica wrote")
            }
        }
        try inbox.bringBackHeldRows()
        // A third replica may have what was unseen, and bring it later. Others would also not take an acknowledgement
        // that covers less than the one before, and the origin would count for ever.
        let finished = try replica.read { db in
            guard try seen.covers(JournalReader(db).vector()) else { return [OriginID]() }
            return try FinishedOrigins.all(db).reversed() + [before.origin]
        }
        let peers = try replica.read { try PeerTable.all($0) }
        try other.write { db in
            try PeerTable.adopt(peers, db)
            if work.mine.count > 0 { try AdoptedOrigin.adopt(work.mine.origin, time: time, db) }
            if work.theirs.count > 0 { try FinishedOrigins.add(work.theirs.origin, time: time, db) }
            for origin in finished { try FinishedOrigins.add(origin, time: time, db) }
            // The file stays the one that it is.
            try FileBinding.replace(db, by: before.fingerprint)
        }
        return TakenOver(
            identity: NewIdentity.Outcome(
                reason: .returned, old: before.origin, new: try other.identity().origin, kept: seen[before.origin],
                reissued: Int64(work.mine.count)),
            unseen: unseen.changes, written: work.mine.count, contested: work.contested, rekeyed: work.rekeyed)
    }
}
