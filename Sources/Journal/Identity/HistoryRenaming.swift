import Foundation
import GRDB

/// Gives the local changes above a version another origin, by changing the runs that hold them. Rows,
/// positions, stamps and lives stay.
///
/// Versions up to the cut keep the old origin, which this replica then stops using. Versions above the cut
/// become 1, 2, … of the new origin.
struct HistoryRenaming {
    let old: OriginID
    let new: OriginID
    /// The highest version that keeps the old origin. It must be the end of a transaction; ``run(_:)`` marks
    /// it as one.
    let cut: Int64
    /// The time of the change of origin, in seconds since 1970.
    let time: Double

    init(from old: OriginID, to new: OriginID, after cut: Int64, time: Double) {
        self.old = old
        self.new = new
        self.cut = cut
        self.time = time
    }

    /// - Parameter reader: A reader of the journal whose derived state is materialized. What it has read is
    ///   outdated afterwards.
    func run(_ reader: JournalReader) throws {
        let db = reader.db
        var origins = reader.origins
        guard let oldNumber = origins.numbers[old], let tail = try reader.runs.last() else {
            throw JournalError(.corrupt, "The journal has no local run")
        }
        let cutStamp = try reader.stamp(of: old, version: cut) ?? .zero
        let newNumber = try origins.number(of: new, in: db)
        let numbers = (old: oldNumber, new: newNumber)
        try db.execute(
            sql: "UPDATE _journal_origins SET version = ?, retired = ? WHERE id = ?",
            arguments: [cut, time, oldNumber])
        try markEnd(reader)
        let first = try splitRuns(head: tail.endVersion - 1, floor: cutStamp, tail: tail, reader)
        try renameRuns(numbers, db)
        try db.execute(sql: "UPDATE _journal_replica SET origin = ?", arguments: [Data(new.bytes)])
        try renameConflicts(stamp: cutStamp, from: first, numbers, db)
    }

    /// Marks the cut as the end of a transaction. No later mark of the old origin would do so, and the cut
    /// does not remain the journal's last entry, which counts as an end.
    private func markEnd(_ reader: JournalReader) throws {
        guard cut > 0, let run = try reader.runs.run(of: old, holding: cut) else { return }
        try TransactionMark.noteEnd(at: run.seq(of: cut), reader.db)
    }

    /// Makes a run begin right after the cut.
    ///
    /// - Returns: The position of the first change after the cut.
    private func splitRuns(head: Int64, floor: Stamp, tail: JournalRun, _ reader: JournalReader) throws -> Int64 {
        let db = reader.db
        let first: Int64
        let run: JournalRun
        if cut == head {
            // The next local write needs a run of its own, unless the last run is empty.
            (first, run) = (reader.lastSeq + 1, tail)
        } else if let holding = try reader.runs.run(of: old, holding: cut + 1) {
            (first, run) = (holding.seq(of: cut + 1), holding)
        } else {
            throw JournalError(.corrupt, "Version \(cut + 1) of this replica is in no run")
        }
        guard first > run.firstSeq else { return first }
        try db.execute(
            sql: """
                INSERT INTO _journal_runs (first_seq, origin, first_version, floor, known)
                SELECT ?, origin, ?, ?, known FROM _journal_runs WHERE first_seq = ?
                """,
            arguments: [first, cut + 1, max(floor, run.floor).rawValue, run.firstSeq])
        return first
    }

    /// Gives the runs after the cut the new origin. Their writer knew the versions that keep the old origin,
    /// so each run's causal context gets the old origin up to the cut.
    private func renameRuns(_ numbers: (old: Int64, new: Int64), _ db: Database) throws {
        let origins = try OriginTable(db)
        let rows = try Row.fetchAll(
            db, sql: "SELECT first_seq, first_version, known FROM _journal_runs WHERE origin = ? AND first_version > ?",
            arguments: [numbers.old, cut])
        for row in rows {
            let version: Int64 = row["first_version"]
            var known = try origins.decode(row["known"])
            known.advance(old, to: cut)
            try db.execute(
                sql: "UPDATE _journal_runs SET origin = ?, first_version = ?, known = ? WHERE first_seq = ?",
                arguments: [numbers.new, version - cut, origins.encode(known), row["first_seq"] as Int64])
        }
    }

    /// Renames changes in the conflict ledger, which identifies them by origin.
    ///
    /// - Parameters:
    ///   - stamp: The stamp of the cut.
    ///   - first: The position of the first change after it.
    private func renameConflicts(
        stamp: Stamp, from first: Int64, _ numbers: (old: Int64, new: Int64), _ db: Database
    ) throws {
        try db.execute(
            sql: """
                UPDATE _journal_conflicts SET lost_origin = ?, lost_version = lost_version - ?
                WHERE lost_origin = ? AND lost_version > ?
                """,
            arguments: [numbers.new, cut, numbers.old, cut])
        // Stamps of one origin rise with its versions. A migration's change has the stamp of what it found.
        try db.execute(
            sql: """
                UPDATE _journal_conflicts SET kept_origin = ?
                WHERE kept_origin = ? AND (kept_stamp > ? OR kept_level > 0 AND kept_seq >= ?)
                """,
            arguments: [Data(new.bytes), Data(old.bytes), stamp.rawValue, first])
    }
}
