import Foundation
import GRDB
import Journal
import Synchronization

extension Inbox {
    /// Applies staged beginnings of transactions that turn out to be complete: a peer knows their origins
    /// exactly up to there, and a vector covers whole transactions only.
    ///
    /// A transaction without a transaction mark ends where the journal ended in its reader's snapshot. If
    /// this replica read it later than another one, the same changes are a whole transaction there and only a
    /// beginning here. Peers do not send again what is staged here, and the writer may be gone or may have a
    /// new identity.
    ///
    /// - Parameter theirs: What a peer knows.
    /// - Returns: What was applied; changes beyond that stay staged.
    func finishUnfinished(knownTo theirs: VersionVector) throws -> ReceiveReport {
        let now = wallClock()
        return try session.withLock { box in
            let isDue = try replica.read { try !ends(in: theirs, pending: box.pending, $0).isEmpty }
            guard isDue else { return ReceiveReport() }
            return try box.attempt { box in
                try replica.refreshDerivedState()
                return try connection.write { db in
                    let ends = try ends(in: theirs, pending: box.pending, db)
                    let time = Double(now.milliseconds) / 1_000
                    return try finish(ends, box: &box, time: time, db)
                }
            }
        }
    }

    /// For each origin with staged or pending changes, the version up to which a peer knows them.
    private func ends(
        in theirs: VersionVector, pending: PendingParts, _ db: Database
    ) throws -> [VersionVector.Entry] {
        let staging = Staging(db: db)
        guard try !pending.isEmpty || !staging.isEmpty() else { return [] }
        let known = try KnownVersions(db).vector
        let have = try pending.raise(staging.raise(known))
        return theirs.entries.filter { known[$0.origin] < $0.version && $0.version <= have[$0.origin] }
    }

    private func finish(
        _ ends: [VersionVector.Entry], box: inout SessionBox, time: Double, _ db: Database
    ) throws -> ReceiveReport {
        guard !ends.isEmpty else { return ReceiveReport() }
        let staging = Staging(db: db)
        for end in ends { for part in box.pending.take(end.origin) { try staging.put(part) } }
        let lastConflict = try ConflictLedger.lastID(db)
        let session = try current(&box, db)
        let applier = try Applier(
            db, session: session, concurrent: box.concurrent, meanings: meanings(&box, session, db),
            hasManyOrigins: ends.count > 1, functions: functions, limits: limits, time: time)
        // A writer's stamps are later than everything that it had seen, so this order applies causes first.
        let beginnings = try ends.map { (end: $0, stamp: try staging.firstStamp(of: $0.origin, limits: limits)) }
        for (end, _) in beginnings.sorted(by: { $0.stamp < $1.stamp }) {
            try staging.take(end.origin, through: end.version, limits: limits) { part in
                var part = part
                for run in part.runs {
                    // Marked, so that peers of this replica receive a whole transaction too.
                    if run.lastVersion == end.version {
                        part.changes[run.changes.upperBound - 1].endsTransaction = true
                    }
                    try applier.apply(run, changes: run.changes, of: part)
                }
            }
        }
        return try finish(applier, lastConflict: lastConflict, time: time, db)
    }
}

// MARK: - Beginnings that stopped growing

extension Inbox {
    /// Drops beginnings of transactions that did not grow for ``Limits/unfinishedMilliseconds``: their writer
    /// has lost the rest, for example because a backup was restored there. If it has not, they are requested
    /// again from the start.
    ///
    /// The time is counted in this process only.
    ///
    /// - Returns: The origins whose beginnings were dropped.
    @discardableResult
    func dropUnfinished() throws -> [OriginID] {
        let now = wallClock().milliseconds
        return try session.withLock { box in
            let staged = try unfinished(box.pending)
            var waiting: [OriginID: Waiting] = [:]
            var stale: [OriginID] = []
            for entry in staged.entries {
                let known = box.waiting[entry.origin].flatMap { $0.version == entry.version ? $0 : nil }
                let since = known?.since ?? now
                // A clock that was set back must not extend the time.
                if (0..<limits.unfinishedMilliseconds).contains(now - since) {
                    waiting[entry.origin] = Waiting(version: entry.version, since: since)
                } else {
                    stale.append(entry.origin)
                }
            }
            if !stale.isEmpty {
                try connection.write { db in for origin in stale { try Staging(db: db).drop(origin) } }
                for origin in stale { _ = box.pending.take(origin) }
            }
            box.waiting = waiting
            return stale
        }
    }

    /// The last versions of what is staged or pending.
    private func unfinished(_ pending: PendingParts) throws -> VersionVector {
        try replica.read { db in try pending.raise(Staging(db: db).raise(VersionVector())) }
    }
}
