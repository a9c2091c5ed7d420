import Foundation
import GRDB

/// Gives a replica a new name, because the old one may be borne by another file too. See docs/decisions/0006-identity.md.
///
/// Versions up to the cut keep the old name; those above it become 1, 2, … of the new one. Rows, positions, stamps and lives stay. After it
/// the file knows the old name up to the cut only, so what others hold of it beyond that is fetched like anyone's changes.
///
/// Runs inside of a write transaction, which must be rolled back after a throw.
public struct NewIdentity: Sendable, Hashable {
    /// Why the old name cannot be kept.
    public enum Reason: String, Sendable, Hashable {
        /// The file has another fingerprint than the one for which its name was taken: a copy, or a restored backup.
        case copied
        /// The file lacks changes of its own that it handed out before.
        case rolledBack = "rolled_back"
        /// A peer holds more changes of this replica than the replica.
        case outrun
        /// A peer holds other changes under the same versions.
        case contradicted
        /// A peer bears the same name.
        case cloned
        /// An operator asked for it.
        case manual
    }

    /// What a re-identification did.
    public struct Outcome: Sendable, Hashable {
        /// Why.
        public let reason: Reason
        /// The name until now.
        public let old: OriginID
        /// The name from now on: it wins and loses ties of stamps as the old one, where there is room.
        public let new: OriginID
        /// The cut: how many versions keep the old name.
        public let kept: Int64
        /// How many changes have the new name.
        public let reissued: Int64
    }

    /// Why; it is reported, and decides nothing.
    public var reason: Reason
    /// The name to give up. Another process may have done it meanwhile; then nothing is to do.
    public var origin: OriginID
    /// Versions up to this are known to stand in other files under the old name, with the same content.
    public var shared: Int64
    /// Versions above this are known to have another content elsewhere.
    public var mostKept: Int64
    /// Seconds since 1970.
    public var time: Double

    /// - Parameters:
    ///   - reason: Why.
    ///   - origin: The name to give up.
    ///   - shared: Versions up to this are known to stand elsewhere with the same content; 0 for none.
    ///   - mostKept: Versions above this are known to have another content elsewhere.
    ///   - time: Now, in seconds since 1970.
    public init(
        _ reason: Reason, of origin: OriginID, shared: Int64 = 0, mostKept: Int64 = .max, time: Double
    ) {
        self.reason = reason
        self.origin = origin
        self.shared = shared
        self.mostKept = mostKept
        self.time = time
    }

    /// - Parameters:
    ///   - fingerprint: Of the file as it is now; nil leaves the one that stands there.
    /// - Returns: nil when the replica does not bear ``origin`` any more.
    /// - Throws: ``JournalError``: `corrupt` when the journal is damaged, and as ``Identity/init(_:)``; errors of
    ///   SQLite. The transaction must then be rolled back.
    public func run(_ db: Database, fingerprint: FileFingerprint?) throws -> Outcome? {
        guard try Identity(db).origin == origin else { return nil }
        try DerivedState.materialize(db)
        let reader = try JournalReader(db)
        let head = reader.vector()[origin]
        let merged = try mergedByOthers(reader)
        let common = max(0, min(max(shared, merged), mostKept, head))
        let whole = try wholeTransactions(upTo: common, head: head, reader)
        // Whoever had merged a version had got it as the end of a transaction, marked or not. The cut must not lie below it: what was
        // overwritten elsewhere with knowledge of a change would be a conflict with its new name for everybody but this file.
        let cut = merged <= common ? max(whole, merged) : whole
        let new = try origin.successor(among: reader.origins.numbers.keys, db)
        try HistoryRenaming(from: origin, to: new, after: cut, time: time).run(reader)
        if let fingerprint {
            try db.execute(sql: "UPDATE _journal_replica SET fingerprint = ?", arguments: [fingerprint.text])
        }
        return Outcome(reason: reason, old: origin, new: new, kept: cut, reissued: head - cut)
    }

    /// Since when the name was given up, of each name that this file bore before, in seconds since 1970.
    ///
    /// - Throws: Errors of SQLite.
    public static func times(_ db: Database) throws -> [Double] {
        try Row.fetchAll(db, sql: "SELECT * FROM _journal_origins").compactMap { $0["retired"] as Double? }
    }

    // MARK: - Where to cut

    /// The highest version that another origin had merged when it wrote a change that stands here.
    private func mergedByOthers(_ reader: JournalReader) throws -> Int64 {
        let marks = try Data.fetchCursor(
            reader.db, sql: "SELECT DISTINCT known FROM _journal_runs WHERE origin <> ?",
            arguments: [reader.origins.numbers[origin]])
        var version: Int64 = 0
        while let mark = try marks.next() { version = max(version, try reader.origins.decode(mark)[origin]) }
        return version
    }

    /// The greatest version not above `cut` that ends a transaction: the two halves of one would never come together.
    ///
    /// Transactions of writers that mark nothing end where the next mark stands, at the latest.
    private func wholeTransactions(upTo cut: Int64, head: Int64, _ reader: JournalReader) throws -> Int64 {
        guard cut > 0, cut < head, let run = try reader.runs.run(of: origin, holding: cut) else { return cut }
        let seq = run.seq(of: cut)
        let next = try Int64.fetchOne(
            reader.db, sql: "SELECT min(seq) FROM _journal WHERE seq >= ? AND tx = 1 AND origin IS NULL",
            arguments: [seq])
        guard let next, next > seq else { return cut }
        let last = try Int64.fetchOne(
            reader.db, sql: "SELECT max(seq) FROM _journal WHERE seq < ? AND tx = 1 AND origin IS NULL",
            arguments: [seq])
        guard let last, let whole = try reader.runs.runs(from: last).first, whole.origin == origin else { return 0 }
        return whole.version(at: last)
    }
}

extension OriginID {
    /// A random id between the same two neighbours among `others`: it wins and loses every tie of equal stamps like this one.
    ///
    /// By SQLite's randomness, which the operating system seeds.
    func successor(among others: some Sequence<OriginID>, _ db: Database) throws -> OriginID {
        let number = wide
        var below: UInt128 = 0
        var above = UInt128.max
        for other in others.lazy.map(\.wide) where other != number {
            if other < number { below = max(below, other) } else { above = min(above, other) }
        }
        // Too little room to be unique by chance: then a tie may be decided anew.
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
