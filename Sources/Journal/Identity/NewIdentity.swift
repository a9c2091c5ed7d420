import Foundation
import GRDB

/// Gives a replica a new origin, because another file may use the old one too. See
/// docs/decisions/0006-identity.md.
///
/// Versions up to the cut keep the old origin. Versions above it become 1, 2, … of the new one. Rows,
/// positions, stamps and lives stay. Afterwards the file's vector holds the old origin up to the cut only, so
/// the file fetches later versions of it from peers like any other changes.
///
/// Call ``run(_:fingerprint:)`` inside of a write transaction, and roll that back after a throw.
package struct NewIdentity: Sendable, Hashable {
    /// Why the replica cannot keep its origin.
    package enum Reason: String, Sendable, Hashable {
        /// The file's fingerprint differs from the stored one: it is a copy or a restored backup.
        case copied
        /// The file lacks changes of its own that it sent before.
        case rolledBack = "rolled_back"
        /// A peer holds more changes of this replica than the replica.
        case outrun
        /// A peer holds other changes under the same versions.
        case contradicted
        /// A peer has the same origin.
        case cloned
        /// An operator requested it.
        case manual
        /// The file was made as a new replica, from a snapshot of another one.
        case created
        /// The file was made from a backup.
        case restored
        /// The file was away for longer than its lease, and got the content of another replica.
        case returned
    }

    /// The result of taking a new identity.
    package struct Outcome: Sendable, Hashable {
        /// Why the replica took a new identity.
        package let reason: Reason
        /// The origin before.
        package let old: OriginID
        /// The origin after. Ties of equal stamps are decided as with the old one, unless too little room is
        /// between the neighbouring origins.
        package let new: OriginID
        /// The cut: how many versions keep the old origin.
        package let kept: Int64
        /// How many changes have the new origin.
        package let reissued: Int64

        package init(reason: Reason, old: OriginID, new: OriginID, kept: Int64, reissued: Int64) {
            self.reason = reason
            self.old = old
            self.new = new
            self.kept = kept
            self.reissued = reissued
        }
    }

    /// Why the replica takes a new identity. The reason is reported and has no effect on the cut.
    package var reason: Reason
    /// The origin to replace. When the replica no longer has it, because another process has replaced it,
    /// nothing is done.
    package var origin: OriginID
    /// Versions up to this one are known to exist in other files under the old origin, with the same content.
    package var shared: Int64
    /// Versions above this one are known to have different content elsewhere.
    package var mostKept: Int64
    /// The time of the change of identity, in seconds since 1970.
    package var time: Double

    /// - Parameters:
    ///   - reason: Why the replica takes a new identity.
    ///   - origin: The origin to replace.
    ///   - shared: Versions up to this one are known to exist elsewhere with the same content; 0 for none.
    ///   - mostKept: Versions above this one are known to have different content elsewhere.
    ///   - time: The current time, in seconds since 1970.
    package init(
        _ reason: Reason, of origin: OriginID, shared: Int64 = 0, mostKept: Int64 = .max, time: Double
    ) {
        self.reason = reason
        self.origin = origin
        self.shared = shared
        self.mostKept = mostKept
        self.time = time
    }

    /// Gives the replica a new origin, and the changes above the cut with it.
    ///
    /// - Parameters:
    ///   - fingerprint: The fingerprint of the file as it is; nil keeps the stored one.
    /// - Returns: nil when the replica does not have ``origin``.
    /// - Throws: ``JournalError``: `refused` when others contradict what is compacted here, `corrupt` when the
    ///   journal is damaged, and as ``Identity/init(_:)``; errors of SQLite. The transaction must then be rolled back.
    package func run(_ db: Database, fingerprint: FileFingerprint?) throws -> Outcome? {
        guard try Identity(db).origin == origin else { return nil }
        try DerivedState.materialize(db)
        let reader = try JournalReader(db)
        let head = reader.vector()[origin]
        let merged = try mergedByOthers(reader)
        let published = try PublishedHead.read(origin, db)
        let horizon = try Horizon(db).vector[origin]
        guard mostKept >= horizon else {
            throw JournalError(
                .refused,
                "Other replicas have other changes under versions of this replica whose history is compacted here",
                hint: "Make this replica anew with `syncd clone`, and keep this file until its rows were compared.")
        }
        let common = max(0, min(max(shared, merged, published, horizon), mostKept, head))
        let whole = try wholeTransactions(upTo: common, head: head, reader)
        // A replica that had merged a version had received it as the end of a transaction, marked or not. The
        // cut must not lie below such a version: a change that was overwritten elsewhere by a writer that
        // knew it would conflict under its new origin on every other replica.
        // What is compacted here, all others have merged, and its end mark may be gone.
        let received = [merged, horizon].filter { $0 <= common }.max() ?? 0
        let cut = max(whole, received)
        let new = try origin.successor(among: reader.origins.numbers.keys, db)
        try HistoryRenaming(from: origin, to: new, after: cut, time: time).run(reader)
        if let fingerprint {
            try db.execute(sql: "UPDATE _journal_replica SET fingerprint = ?", arguments: [fingerprint.text])
        }
        return Outcome(reason: reason, old: origin, new: new, kept: cut, reissued: head - cut)
    }

    /// The times at which this file replaced each of its earlier origins, in seconds since 1970, without those that
    /// are finished (``FinishedOrigins``).
    ///
    /// - Throws: Errors of SQLite.
    package static func times(_ db: Database) throws -> [Double] {
        try Double.fetchAll(
            db, sql: "SELECT retired FROM _journal_origins WHERE retired IS NOT NULL AND forgotten IS NULL")
    }

    // MARK: - Where to cut

    /// The highest version of this replica that another origin had merged when it wrote a change that is in
    /// this journal.
    private func mergedByOthers(_ reader: JournalReader) throws -> Int64 {
        let marks = try Data.fetchCursor(
            reader.db, sql: "SELECT DISTINCT known FROM _journal_runs WHERE origin <> ?",
            arguments: [reader.origins.numbers[origin]])
        var version: Int64 = 0
        while let mark = try marks.next() { version = max(version, try reader.origins.decode(mark)[origin]) }
        return version
    }

    /// The greatest version up to `cut` that ends a transaction. A transaction that the cut divides could
    /// never be applied as a whole.
    ///
    /// A transaction without an end mark ends at the next mark at the latest.
    private func wholeTransactions(upTo cut: Int64, head: Int64, _ reader: JournalReader) throws -> Int64 {
        guard cut > 0, cut < head, let run = try reader.runs.run(of: origin, holding: cut) else { return cut }
        let seq = run.seq(of: cut)
        let next = try Int64.fetchOne(
            reader.db, sql: "SELECT min(seq) FROM _journal WHERE seq >= ? AND tx > 0 AND origin IS NULL",
            arguments: [seq])
        guard let next, next > seq else { return cut }
        let last = try Int64.fetchOne(
            reader.db, sql: "SELECT max(seq) FROM _journal WHERE seq < ? AND tx > 0 AND origin IS NULL",
            arguments: [seq])
        guard let last, let whole = try reader.runs.runs(from: last).first, whole.origin == origin else { return 0 }
        return whole.version(at: last)
    }
}

extension OriginID {
    /// Returns a random id between the same two neighbours among `others`, so that it wins and loses every
    /// tie of equal stamps like this one.
    ///
    /// SQLite's random generator provides the bytes; the operating system seeds it.
    func successor(among others: some Sequence<OriginID>, _ db: Database) throws -> OriginID {
        let number = wide
        var below: UInt128 = 0
        var above = UInt128.max
        for other in others.lazy.map(\.wide) where other != number {
            if other < number { below = max(below, other) } else { above = min(above, other) }
        }
        // A smaller interval is too small for a random id to be unique. Then the whole range is used, and
        // ties may be decided differently.
        if above - below <= UInt128(1) << 64 { (below, above) = (0, .max) }
        while true {
            guard let random = try Data.fetchOne(db, sql: "SELECT randomblob(16)"),
                let draw = OriginID(bytes: random)
            else { continue }
            let candidate = below + 1 + draw.wide % (above - below - 1)
            if candidate != number {
                return OriginID(
                    high: UInt64(truncatingIfNeeded: candidate >> 64), low: UInt64(truncatingIfNeeded: candidate))
            }
        }
    }

    private var wide: UInt128 { UInt128(high) << 64 | UInt128(low) }
}
