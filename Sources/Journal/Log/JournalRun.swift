import Foundation
import GRDB

/// A stretch of the journal with one origin, consecutive versions and one causal context: a row of
/// `_journal_runs`.
struct JournalRun {
    let firstSeq: Int64
    /// The position after the run's last entry. The last run of a journal ends after the newest entry.
    let endSeq: Int64
    let origin: OriginID
    let firstVersion: Int64
    /// The greatest stamp before the run, from which the fold of a local run starts.
    let floor: Stamp
    let known: VersionVector
    /// True when the rows were captured in this file, under its present origin or an earlier one. Their
    /// stamps and lives are then derived.
    let isCaptured: Bool

    var endVersion: Int64 { firstVersion + (endSeq - firstSeq) }

    func version(at seq: Int64) -> Int64 { firstVersion + (seq - firstSeq) }
    func seq(of version: Int64) -> Int64 { firstSeq + (version - firstVersion) }
}

/// The runs of one snapshot of a journal.
struct RunList {
    let db: Database
    let origins: OriginTable
    let own: OriginID
    let lastSeq: Int64

    /// Returns the runs from the one that holds `seq` up to the one that holds ``lastSeq``, in journal order.
    /// Entries that the same transaction appends after ``lastSeq`` was read are left out.
    func runs(from seq: Int64) throws -> [JournalRun] {
        let rows = try Row.fetchAll(
            db.cachedStatement(
                sql: """
                    SELECT first_seq, lead(first_seq) OVER (ORDER BY first_seq) AS end_seq, origin, first_version, floor, known
                    FROM _journal_runs
                    WHERE first_seq >= coalesce((SELECT max(first_seq) FROM _journal_runs WHERE first_seq <= ?), 0)
                      AND first_seq <= ?
                    ORDER BY first_seq
                    """), arguments: [seq, lastSeq])
        return try rows.map(run)
    }

    /// Returns the run of `origin` with the greatest first version up to `version`.
    func run(of origin: OriginID, holding version: Int64) throws -> JournalRun? {
        guard let number = origins.numbers[origin] else { return nil }
        return try Row.fetchOne(
            db.cachedStatement(
                sql: """
                    SELECT r.first_seq, r.origin, r.first_version, r.floor, r.known,
                      (SELECT min(first_seq) FROM _journal_runs WHERE first_seq > r.first_seq) AS end_seq
                    FROM _journal_runs AS r WHERE r.origin = ? AND r.first_version <= ?
                    ORDER BY r.first_version DESC, r.first_seq DESC LIMIT 1
                    """), arguments: [number, version]
        ).map(run)
    }

    /// Returns the last run, which is local; nil only in a damaged file.
    func last() throws -> JournalRun? {
        try Row.fetchOne(
            db.cachedStatement(
                sql: """
                    SELECT first_seq, NULL AS end_seq, origin, first_version, floor, known
                    FROM _journal_runs ORDER BY first_seq DESC LIMIT 1
                    """)
        ).map(run)
    }

    private func run(_ row: Row) throws -> JournalRun {
        let number: Int64 = row["origin"]
        guard let origin = origins.origins[number] else {
            throw damage("names an unknown origin")
        }
        let firstSeq: Int64 = row["first_seq"]
        let firstVersion: Int64 = row["first_version"]
        let latest = RunList.latest
        guard (0...latest).contains(firstSeq), (1...latest).contains(firstVersion), lastSeq < latest else {
            throw damage("begins at an impossible position or version")
        }
        let endSeq = (row["end_seq"] as Int64?) ?? max(lastSeq + 1, firstSeq)
        guard endSeq <= latest, firstVersion + (endSeq - firstSeq) <= latest else {
            throw damage("ends at an impossible position or version")
        }
        let known: Data = row["known"]
        let isCaptured = try origin == own || origins.retired.contains(number) && isCaptured(firstSeq..<endSeq)
        return JournalRun(
            firstSeq: firstSeq, endSeq: endSeq, origin: origin, firstVersion: firstVersion,
            floor: Stamp(rawValue: row["floor"]), known: try origins.decode(known), isCaptured: isCaptured)
    }

    /// The greatest position and version that a run may have. The sum of two such numbers, or of one and a
    /// number from a peer, does not overflow.
    private static let latest: Int64 = 1 << 60

    private func damage(_ what: String) -> JournalError {
        JournalError(
            .corrupt, "A run of the journal \(what)",
            hint: "The tables named _journal… are Tandem's own; restore the file from a peer or a backup.")
    }

    /// Tells by the first entry that is left.
    private func isCaptured(_ positions: Range<Int64>) throws -> Bool {
        try Bool.fetchOne(
            db.cachedStatement(
                sql: "SELECT origin IS NULL FROM _journal WHERE seq >= ? AND seq < ? ORDER BY seq LIMIT 1"),
            arguments: [positions.lowerBound, positions.upperBound]) ?? false
    }
}
