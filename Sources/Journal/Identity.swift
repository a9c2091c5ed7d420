import Foundation
import GRDB

/// Who a replica is, and how far its derived state is written down.
public struct Identity: Sendable, Hashable {
    public let origin: OriginID
    /// Replicas of different clusters refuse to talk to each other.
    public let cluster: String
    public let format: Int64

    /// The position up to which lives are written and stamps are known.
    let sealedSeq: Int64
    /// The stamp of the entry at ``sealedSeq``.
    let sealedStamp: Stamp
    let schemaVersion: Int64

    /// The file for which the identity was taken; nil for one that was never looked at.
    public let fingerprint: FileFingerprint?
    /// A random number that only this very file holds, once somebody asked; nil before. Tells a replica's own address from a copy.
    public let instance: [UInt8]?

    /// - Throws: ``JournalError`` with `notAReplica` before `init`, `unsupportedFormat` for a file of a later release.
    public init(_ db: Database) throws {
        guard try db.tableExists("_journal_replica") else { throw JournalError.notAReplica }
        guard
            let row = try Row.fetchOne(
                db.cachedStatement(sql: "SELECT * FROM _journal_replica WHERE id = 1"))
        else {
            throw JournalError(
                .corrupt, "the journal's identity row is missing", hint: "Restore the file from a peer or a backup.")
        }
        let format: Int64 = row["format"]
        guard (1...JournalSchema.format).contains(format) else {
            throw JournalError(
                .unsupportedFormat,
                "the journal has format \(format), and this release reads formats up to \(JournalSchema.format)",
                hint: "Upgrade Tandem on this machine.")
        }
        let bytes: Data = row["origin"]
        guard let origin = OriginID(bytes: bytes) else {
            throw JournalError(
                .corrupt, "the journal's origin id is not valid", hint: "Restore the file from a backup.")
        }
        self.origin = origin
        self.cluster = row["cluster"]
        self.format = format
        self.sealedSeq = row["sealed_seq"]
        self.sealedStamp = Stamp(rawValue: row["sealed_stamp"])
        self.schemaVersion = row["schema_version"]
        // Files made before there were these columns do not have them.
        self.fingerprint = (row["fingerprint"] as String?).flatMap { FileFingerprint(text: $0) }
        self.instance = (row["instance"] as Data?).map { Array($0) }
    }
}
