import Foundation
import GRDB

/// A replica's identity, and how far its derived state is materialized: the row of `_journal_replica`.
public struct Identity: Sendable, Hashable {
    /// The replica's origin. `NewIdentity` and `ClockRepair` replace it.
    public let origin: OriginID
    /// The name of the cluster. Replicas of different clusters refuse each other.
    public let cluster: String
    /// The format of the journal, 1 or more; it rises when an older release would misread the file.
    public let format: Int64

    /// The position up to which derived state is materialized: lives are stored and stamps are known.
    let sealedSeq: Int64
    /// The stamp of the entry at ``sealedSeq``.
    package let sealedStamp: Stamp
    let schemaVersion: Int64

    /// The fingerprint of the file to which the identity belongs; nil when none was stored.
    package let fingerprint: FileFingerprint?
    /// A random number that distinguishes the file from its copies; nil until one is needed. With it a
    /// replica recognizes its own address among its peers.
    public let instance: [UInt8]?
    /// What a replica has that has some tables only; nil for one that has all.
    package let leaf: LeafMark?

    /// True when the file is a replica, or was one whose identity is damaged.
    ///
    /// - Throws: Errors of SQLite.
    static func isThere(_ db: Database) throws -> Bool {
        guard try db.tableExists("_journal_replica") else { return false }
        let hasRow = try Bool.fetchOne(db, sql: "SELECT EXISTS (SELECT 1 FROM _journal_replica)") ?? false
        return try hasRow || hasHistory(db)
    }

    /// False for the empty tables of a file that was made from the schema of a replica.
    private static func hasHistory(_ db: Database) throws -> Bool {
        guard try db.tableExists("_journal_runs") else { return true }
        return try Bool.fetchOne(db, sql: "SELECT EXISTS (SELECT 1 FROM _journal_runs)") ?? true
    }

    /// Reads the identity.
    ///
    /// - Throws: ``JournalError``: `notAReplica` when the file has no journal, `unsupportedFormat` when a
    ///   later release wrote it, `corrupt` when the row is missing or not valid; errors of SQLite.
    public init(_ db: Database) throws {
        guard try db.tableExists("_journal_replica") else { throw JournalError.notAReplica }
        guard
            let row = try Row.fetchOne(
                db.cachedStatement(sql: "SELECT * FROM _journal_replica WHERE id = 1"))
        else {
            guard try Identity.hasHistory(db) else { throw JournalError.notAReplica }
            throw JournalError(
                .corrupt, "The journal's identity row is missing", hint: "Restore the file from a peer or a backup.")
        }
        // A table of this name that Tandem did not create may lack columns, or have any values in them.
        func optional<T: DatabaseValueConvertible>(_ column: String) -> T? {
            let stored: (any DatabaseValueConvertible)? = row[column]
            guard let stored else { return nil }
            return T.fromDatabaseValue(stored.databaseValue)
        }
        func required<T: DatabaseValueConvertible>(_ column: String) throws -> T {
            guard let value: T = optional(column) else {
                throw JournalError(
                    .corrupt, "The journal's identity row has no valid \(column)",
                    hint: "Restore the file from a peer or a backup.")
            }
            return value
        }
        let format: Int64 = try required("format")
        guard (1...JournalSchema.format).contains(format) else {
            throw JournalError(
                .unsupportedFormat,
                "The journal has format \(format), and this release reads formats up to \(JournalSchema.format)",
                hint: "Upgrade Tandem on this machine.")
        }
        let bytes: Data = try required("origin")
        guard let origin = OriginID(bytes: bytes) else {
            throw JournalError(
                .corrupt, "The journal's origin id is not valid", hint: "Restore the file from a backup.")
        }
        self.origin = origin
        self.cluster = try required("cluster")
        self.format = format
        self.sealedSeq = try required("sealed_seq")
        let sealedStamp: Int64 = try required("sealed_stamp")
        self.sealedStamp = Stamp(rawValue: sealedStamp)
        self.schemaVersion = try required("schema_version")
        // Files of an earlier release lack these columns.
        let fingerprint: String? = optional("fingerprint")
        self.fingerprint = fingerprint.flatMap { FileFingerprint(text: $0) }
        let instance: Data? = optional("instance")
        self.instance = instance.map { Array($0) }
        self.leaf = try LeafMark(row)
    }
}
