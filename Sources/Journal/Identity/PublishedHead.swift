import Foundation
import GRDB

/// The version up to which all changes of a replica count as published: `_journal_replica.published`.
///
/// The replica's ``PublicationRecord`` names that version, so the replica never gives it, or one below it, a
/// second content. A copy of the file therefore need not send these changes again under its new identity.
///
/// The value names the origin, too: after a change of identity it says nothing about the new one.
package enum PublishedHead {
    /// Notes that changes of `origin` up to `version` are published. Raise the publication record before.
    ///
    /// - Throws: Errors of SQLite; the transaction must then be rolled back.
    package static func write(_ origin: OriginID, _ version: Int64, _ db: Database) throws {
        try db.execute(
            sql: "UPDATE _journal_replica SET published = ?", arguments: ["\(origin) \(version)"])
    }

    /// Returns the version that the file notes for `origin`; 0 for none.
    ///
    /// - Throws: Errors of SQLite.
    static func read(_ origin: OriginID, _ db: Database) throws -> Int64 {
        let text = try String.fetchOne(db, sql: "SELECT published FROM _journal_replica")
        guard let words = text?.split(separator: " "), words.count == 2, OriginID(hex: String(words[0])) == origin,
            let version = Int64(words[1])
        else { return 0 }
        return max(0, version)
    }
}

extension Replica {
    /// Publishes all changes of this replica that are committed: copies of the file will not send them again
    /// under an identity of their own.
    ///
    /// - Throws: ``JournalError/Code/readOnly`` when the log cannot be synced or the publication record
    ///   cannot be written, with nothing changed; as ``write(enforcingForeignKeys:_:)``.
    func publishHead() throws {
        try syncLog()
        guard let head = try read(PublicationRecord.Entry.init(headOf:)) else { return }
        try PublicationRecord(database: path, files: options.files).raise(to: head)
        try write { try PublishedHead.write(head.origin, head.version, $0) }
    }
}

extension PublicationRecord.Entry {
    /// The newest change of the replica itself; nil when it has none.
    ///
    /// - Throws: As ``JournalReader/init(_:)``.
    init?(headOf db: Database) throws {
        let reader = try JournalReader(db)
        let origin = reader.identity.origin
        let version = reader.vector()[origin]
        guard version > 0, let digest = try reader.digest(of: origin, version: version) else { return nil }
        self.init(origin: origin, version: version, digest: digest)
    }
}
