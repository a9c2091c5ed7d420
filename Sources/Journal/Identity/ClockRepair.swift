import Foundation
import GRDB

/// Repairs this replica's stamps after its clock was wrong: changes that it wrote while the clock was ahead
/// get current stamps and a new origin. See docs/decisions/0007-wrong-clocks.md.
///
/// The repair is sound as long as no other replica has merged those changes; replicas defer them because of
/// their stamps. Changes before the first early one keep the old origin. The rest become versions 1, 2, … of
/// the new origin, in the same order and with the same causal contexts. Their stamps are later than
/// everything that was merged here. So every comparison of stamps in this file keeps its result, and no row
/// changes.
package struct ClockRepair: Sendable {
    /// The result of a repair.
    package struct Outcome: Sendable, Hashable {
        /// The origin before the repair. Versions up to ``kept`` keep it.
        package let old: OriginID
        /// The origin after the repair.
        package let new: OriginID
        /// How many changes keep the old origin.
        package let kept: Int64
        /// How many changes got new stamps and the new origin.
        package let reissued: Int64
    }

    /// The greatest stamp that other replicas accept at the moment of the repair.
    package var latest: Stamp
    /// The moment of the repair, by the corrected clock.
    package var now: Stamp
    /// The highest version of this replica that a peer is known to have merged; 0 for none.
    package var taken: Int64
    /// The new origin, which no other replica has.
    package var origin: OriginID

    /// - Parameters:
    ///   - now: The moment of the repair, by the corrected clock.
    ///   - latest: The greatest stamp that other replicas accept at that moment.
    ///   - taken: The highest version of this replica that a peer is known to have merged; 0 for none.
    ///   - origin: The new origin, which no other replica has.
    package init(now: Stamp, latest: Stamp, taken: Int64, origin: OriginID = .random()) {
        self.now = now
        self.latest = latest
        self.taken = taken
        self.origin = origin
    }

    /// Repairs the stamps. Call it inside of a write transaction, and roll that back after a throw. No daemon
    /// may serve the file at the same time.
    ///
    /// - Returns: nil when no stamp of this replica is ahead of ``latest``; nothing is changed then.
    /// - Throws: ``JournalError``: `refused` when a peer has merged such a change, because it can then not be
    ///   withdrawn, and when early changes of others were merged here, because new stamps would then lie
    ///   below merged ones; `corrupt` when the journal is damaged. Errors of SQLite.
    package func run(_ db: Database) throws -> Outcome? {
        try DerivedState.materialize(db)
        let reader = try JournalReader(db)
        guard let early = try firstEarly(reader) else { return nil }
        try checkAlone(early, reader)
        let cut = early.version - 1
        let old = reader.identity.origin
        let head = reader.vector()[old]
        let time = Double(now.milliseconds) / 1_000
        try HistoryRenaming(from: old, to: origin, after: cut, time: time).run(reader)
        try restamp(from: early.seq, db)
        try renewFloors(from: early, JournalReader(db))
        try renewRanks(from: early.seq, db)
        try restampConflicts(from: early.seq, db)
        return Outcome(old: old, new: origin, kept: cut, reissued: head - cut)
    }

    // MARK: - What is ahead

    /// The runs of the journal, including the last one when it has no entries.
    private func allRuns(_ reader: JournalReader) throws -> [JournalRun] {
        var runs = try reader.runs.runs(from: 0)
        if let last = try reader.runs.last(), last.firstSeq != runs.last?.firstSeq { runs.append(last) }
        return runs
    }

    private struct Early {
        let seq: Int64
        let version: Int64
        /// The stamp of the entry before.
        let floor: Stamp
    }

    /// The first change of this replica whose stamp is later than ``latest``; nil when there is none.
    private func firstEarly(_ reader: JournalReader) throws -> Early? {
        let runs = try allRuns(reader)
        for (index, run) in runs.enumerated() {
            // The greatest stamp up to the end of the run, because floors only rise along the journal.
            let end = index + 1 < runs.count ? runs[index + 1].floor : reader.identity.sealedStamp
            guard end > latest, run.endSeq > run.firstSeq else { continue }
            guard run.origin == reader.identity.origin else {
                throw refused("changes of \(run.origin) with times too far ahead were merged here")
            }
            let cursor = try reader.cursor(over: run, from: run.firstSeq, reading: .keys)
            var floor = run.floor
            while try cursor.next() {
                if cursor.stamp > latest {
                    return Early(seq: cursor.seq, version: cursor.version, floor: floor)
                }
                floor = cursor.stamp
            }
        }
        return nil
    }

    private func checkAlone(_ early: Early, _ reader: JournalReader) throws {
        let merged = try Int64.fetchOne(
            reader.db, sql: "SELECT origin FROM _journal WHERE seq > ? AND origin IS NOT NULL AND stamp > ? LIMIT 1",
            arguments: [early.seq, latest.rawValue])
        if let merged {
            let name = reader.origins.origins[merged].map(\.description) ?? "another replica"
            throw refused("changes of \(name) with times too far ahead were merged here")
        }
        let own = reader.identity.origin
        let builder = try reader.runs.runs(from: early.seq).first { $0.known[own] >= early.version }
        if let builder { throw refused("\(builder.origin) has taken them") }
        if taken >= early.version { throw refused("a peer has taken them") }
    }

    private func refused(_ why: String) -> JournalError {
        JournalError(
            .refused, "The times of this replica's changes cannot be repaired: \(why)",
            hint:
                "They are part of the cluster's history now: wait until the clocks reach them, or accept them on every replica."
        )
    }

    // MARK: - The new stamps

    /// Gives the captured changes from `seq` on the moment of the repair, or the first millisecond after
    /// every merged stamp, whichever is later.
    private func restamp(from seq: Int64, _ db: Database) throws {
        let merged = try Int64.fetchOne(db, sql: "SELECT max(stamp) FROM _journal WHERE origin IS NOT NULL") ?? 0
        let milliseconds = max(now.milliseconds, Stamp(rawValue: merged).milliseconds + 1)
        try db.execute(
            sql: "UPDATE _journal SET stamp = ? WHERE seq >= ? AND origin IS NULL",
            arguments: [2_440_587.5 + Double(milliseconds) / 86_400_000, seq])
    }

    /// Recomputes the floors of the runs from the first early change on.
    private func renewFloors(from early: Early, _ reader: JournalReader) throws {
        var floor = early.floor
        for run in try allRuns(reader) where run.firstSeq >= early.seq {
            try reader.db.execute(
                sql: "UPDATE _journal_runs SET floor = ? WHERE first_seq = ?",
                arguments: [floor.rawValue, run.firstSeq])
            floor = try end(
                of: run.firstSeq..<run.endSeq, after: floor, isCaptured: run.origin == origin, reader.db)
        }
        try reader.db.execute(sql: "UPDATE _journal_replica SET sealed_stamp = ?", arguments: [floor.rawValue])
    }

    /// The greatest stamp in the journal up to the end of `range`.
    private func end(of range: Range<Int64>, after floor: Stamp, isCaptured: Bool, _ db: Database) throws -> Stamp {
        guard isCaptured else {
            let greatest = try Int64.fetchOne(
                db, sql: "SELECT max(stamp) FROM _journal WHERE seq >= ? AND seq < ?",
                arguments: [range.lowerBound, range.upperBound])
            return max(floor, Stamp(rawValue: greatest ?? 0))
        }
        var fold = LocalFold(after: floor)
        let captured = try DatabaseValue.fetchCursor(
            db, sql: "SELECT stamp FROM _journal WHERE seq >= ? AND seq < ? ORDER BY seq",
            arguments: [range.lowerBound, range.upperBound])
        while let stored = try captured.next() {
            switch stored.storage {
            case .int64(let stamp): _ = fold.take(Stamp(rawValue: stamp))
            case .double(let day): _ = fold.stamp(capturedAt: day)
            default: break
            }
        }
        return fold.stamp
    }

    /// Ranks the updates of migrations that found a value of the wrong time as late as they can be: below their own
    /// new stamps.
    private func renewRanks(from seq: Int64, _ db: Database) throws {
        let early = try Int64.fetchAll(
            db, sql: "SELECT seq FROM _journal_migrated WHERE seq >= ? AND stamp > ?",
            arguments: [seq, latest.rawValue])
        for (position, entry) in try JournalReader(db).entries(at: early) {
            try db.execute(
                sql: "UPDATE _journal_migrated SET stamp = ? WHERE seq = ?",
                arguments: [entry.stamp.rawValue - 1, position])
        }
    }

    /// Updates the stamps in the conflict ledger, which orders changes by them.
    private func restampConflicts(from seq: Int64, _ db: Database) throws {
        let rows = try Row.fetchAll(
            db, sql: "SELECT id, lost_seq, kept_seq FROM _journal_conflicts WHERE lost_seq >= ?1 OR kept_seq >= ?1",
            arguments: [seq])
        let entries = try JournalReader(db).entries(
            at: rows.flatMap { [$0["lost_seq"] as Int64, $0["kept_seq"] as Int64] })
        for row in rows {
            guard let lost = entries[row["lost_seq"]], let kept = entries[row["kept_seq"]] else { continue }
            try db.execute(
                sql: "UPDATE _journal_conflicts SET lost_stamp = ?, kept_stamp = ? WHERE id = ?",
                arguments: [lost.stamp.rawValue, kept.order(own: origin).stamp.rawValue, row["id"] as Int64])
        }
    }
}
