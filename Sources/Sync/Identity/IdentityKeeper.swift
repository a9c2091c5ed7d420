import GRDB
import Journal
import Synchronization

/// Checks that only one file publishes changes under this replica's origin, by the file's fingerprint and by
/// the publication record.
///
/// One for each open file and process. See docs/decisions/0006-identity.md.
final class IdentityKeeper: Sendable {
    private struct State {
        /// The entry of the current origin that the record holds and that the file was found to fit; nil
        /// before the first check.
        var published: PublicationRecord.Entry?
        /// Where the file has it; nil while that is not known.
        var witness: EntryWitness?
        var lastRekey: NewIdentity.Outcome?
    }

    private let replica: Replica
    private let record: PublicationRecord
    /// The fingerprint of the open file; nil for a database without a file.
    private let opened: FileFingerprint?
    private let state = Mutex(State())

    init(replica: Replica) {
        self.replica = replica
        let files = replica.options.files
        record = PublicationRecord(database: replica.path, files: files)
        opened = files.fingerprint(of: replica.path)
    }

    /// The fingerprint of the file that is at the path now.
    var fingerprint: FileFingerprint? { opened.flatMap { _ in replica.options.files.fingerprint(of: replica.path) } }

    /// The last new identity that this process gave the file.
    var lastRekey: NewIdentity.Outcome? { state.withLock { $0.lastRekey } }

    // MARK: - Evidence in the file's surroundings

    /// Evidence that this is not the file for which its origin was created; nil when there is none. While
    /// nothing is published, it costs two file lookups and three short queries.
    ///
    /// - Throws: ``SyncError/Code/storage`` when another file was moved to the path of the open one.
    func evidence(time: Double) throws -> NewIdentity? {
        guard let opened else { return nil }
        guard let present = fingerprint, present.canBeSameFile(as: opened) else {
            throw SyncError(
                .storage, "The database file \(replica.path) was moved away or replaced while it was open",
                hint: "Restart the program, so that it opens the file that is there now.")
        }
        let entries = try record.entries()
        let (verified, witness) = state.withLock { ($0.published, $0.witness) }
        let identity = try replica.identity()
        guard let bound = identity.fingerprint else {
            try replica.write { try FileBinding.bind($0, to: present) }
            return nil
        }
        if !present.canBeSameFile(as: bound) {
            return NewIdentity(
                .copied, of: identity.origin, shared: try sharedByRecord(entries, identity.origin), time: time)
        }
        guard let newest = entries.last else { return nil }
        // A program can put an older state into the open file.
        if newest == verified, try newest.version == 0 || witness.map({ try replica.read($0.isThere) }) ?? false {
            return nil
        }
        guard let entry = entries.last(where: { $0.origin == identity.origin }) else {
            // The record belongs to another file that was here before, or to an origin before the current
            // one.
            return nil
        }
        let (head, digest, found) = try replica.read { db in
            let reader = try JournalReader(db)
            return (
                reader.vector()[entry.origin], try reader.digest(of: entry.origin, version: entry.version),
                try reader.witness(of: entry.origin, version: entry.version)
            )
        }
        if entry.version > head { return NewIdentity(.rolledBack, of: entry.origin, time: time) }
        if entry.version > 0, let digest, digest != entry.digest {
            return NewIdentity(.rolledBack, of: entry.origin, mostKept: entry.version - 1, time: time)
        }
        // The file has an origin that it had replaced already, so it is an older copy.
        if entry != newest { return NewIdentity(.rolledBack, of: entry.origin, shared: entry.version, time: time) }
        state.withLock { state in
            state.published = entry
            state.witness = found
        }
        return nil
    }

    /// The highest version of `origin` that the publication record names, if the record fits this file;
    /// otherwise 0.
    func sharedByRecord(_ origin: OriginID) throws -> Int64 { try sharedByRecord(try record.entries(), origin) }

    private func sharedByRecord(_ entries: [PublicationRecord.Entry], _ origin: OriginID) throws -> Int64 {
        guard let entry = entries.last(where: { $0.origin == origin }), entry.version > 0 else { return 0 }
        let digest = try replica.read { try JournalReader($0).digest(of: origin, version: entry.version) }
        return digest == entry.digest ? entry.version : 0
    }

    // MARK: - Publishing

    /// True when the record already covers changes of `origin` up to `version`, so that they may be sent.
    func hasPublished(_ origin: OriginID, through version: Int64) -> Bool {
        state.withLock { state in
            state.published.map { $0.origin == origin && $0.version >= version } ?? false
        }
    }

    /// Records that changes up to `entry` are about to be sent to a peer. The record is on the disk when this
    /// returns.
    ///
    /// - Parameter witness: Where the file has the entry; nil when that is not known.
    /// - Throws: ``SyncError/Code/busy`` when the replica has another origin by now: what was read before
    ///   must be read again.
    func willPublish(_ entry: PublicationRecord.Entry, at witness: EntryWitness? = nil) throws {
        guard !hasPublished(entry.origin, through: entry.version) else { return }
        guard try replica.identity().origin == entry.origin else {
            throw SyncError(.busy, "The replica has taken a new identity; the exchange starts over")
        }
        guard opened != nil else { return }
        try record.raise(to: entry)
        state.withLock { state in
            state.published = entry
            state.witness = witness
        }
    }

    /// Records a new origin after the old one. A file that has the old origin later is then known to be an
    /// older copy.
    func note(_ outcome: NewIdentity.Outcome) throws {
        state.withLock { state in
            state.published = nil
            state.witness = nil
            state.lastRekey = outcome
        }
        guard opened != nil else { return }
        try record.raise(to: .init(origin: outcome.new, version: 0, digest: 0))
    }
}
