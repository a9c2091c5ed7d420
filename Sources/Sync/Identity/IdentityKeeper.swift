import GRDB
import Journal
import Synchronization

/// Watches that one file alone publishes under this replica's name: its fingerprint, and the record of what was published.
///
/// One for an open file and process. See docs/decisions/0006-identity.md.
final class IdentityKeeper: Sendable {
    private struct State {
        /// What the record is known to say of the present name, and the file to hold.
        var published: PublicationRecord.Entry?
        var lastRekey: NewIdentity.Outcome?
    }

    private let replica: Replica
    private let record: PublicationRecord
    /// Of the file that is open; nil for one that has no place on a disk.
    private let opened: FileFingerprint?
    private let state = Mutex(State())

    init(replica: Replica) {
        self.replica = replica
        let files = replica.options.files
        record = PublicationRecord(database: replica.path, files: files)
        opened = files.fingerprint(of: replica.path)
    }

    /// The file as it is at its path now.
    var fingerprint: FileFingerprint? { opened.flatMap { _ in replica.options.files.fingerprint(of: replica.path) } }

    /// The last new name that this process gave the file.
    var lastRekey: NewIdentity.Outcome? { state.withLock { $0.lastRekey } }

    // MARK: - Evidence in the file's surroundings

    /// What speaks against the file being the one for which its name was taken; nil when nothing does. Two looks at files and two
    /// short queries, as long as nothing was published since the last time.
    ///
    /// - Throws: ``SyncError/Code/storage`` when another file has come to the path of the open one.
    func evidence(time: Double) throws -> NewIdentity? {
        guard let opened else { return nil }
        guard let present = fingerprint, present.canBeSameFile(as: opened) else {
            throw SyncError(
                .storage, "The database file \(replica.path) was moved away or replaced while it was open",
                hint: "Restart the program, so that it opens the file that is there now.")
        }
        let entries = try record.entries()
        let verified = state.withLock { $0.published }
        let identity = try replica.identity()
        guard let bound = identity.fingerprint else {
            try replica.write { try FileBinding.bind($0, to: present) }
            return nil
        }
        if !present.canBeSameFile(as: bound) {
            return NewIdentity(
                .copied, of: identity.origin, shared: try sharedByRecord(entries, identity.origin), time: time)
        }
        guard let newest = entries.last, newest != verified else { return nil }
        guard let entry = entries.last(where: { $0.origin == identity.origin }) else {
            // A record of another file that stood here before, or of a name before the present one.
            return nil
        }
        let (head, digest) = try replica.read { db in
            let reader = try JournalReader(db)
            return (
                reader.vector()[entry.origin], try reader.digest(of: entry.origin, version: entry.version)
            )
        }
        if entry.version > head { return NewIdentity(.rolledBack, of: entry.origin, time: time) }
        if entry.version > 0, let digest, digest != entry.digest {
            return NewIdentity(.rolledBack, of: entry.origin, mostKept: entry.version - 1, time: time)
        }
        // The file bears a name that it had given up already.
        if entry != newest { return NewIdentity(.rolledBack, of: entry.origin, shared: entry.version, time: time) }
        state.withLock { $0.published = entry }
        return nil
    }

    /// How much of `origin` this file published by its record, if the record fits the file.
    func sharedByRecord(_ origin: OriginID) throws -> Int64 { try sharedByRecord(try record.entries(), origin) }

    private func sharedByRecord(_ entries: [PublicationRecord.Entry], _ origin: OriginID) throws -> Int64 {
        guard let entry = entries.last(where: { $0.origin == origin }), entry.version > 0 else { return 0 }
        let digest = try replica.read { try JournalReader($0).digest(of: origin, version: entry.version) }
        return digest == entry.digest ? entry.version : 0
    }

    // MARK: - Publishing

    /// True when changes of `origin` up to `version` may be handed out without a further note.
    func hasPublished(_ origin: OriginID, through version: Int64) -> Bool {
        state.withLock { state in
            state.published.map { $0.origin == origin && $0.version >= version } ?? false
        }
    }

    /// Records that changes up to `entry` are about to be handed to a peer. On the disk when this returns.
    ///
    /// - Throws: ``SyncError/Code/busy`` when the replica bears another name by now: what was read before must be read again.
    func willPublish(_ entry: PublicationRecord.Entry) throws {
        guard !hasPublished(entry.origin, through: entry.version) else { return }
        guard try replica.identity().origin == entry.origin else {
            throw SyncError(.busy, "The replica has taken a new identity; the exchange starts over")
        }
        guard opened != nil else { return }
        try record.raise(to: entry)
        state.withLock { $0.published = entry }
    }

    /// Notes a new name beside the old one, so that a file that bears the old one again is known to be older.
    func note(_ outcome: NewIdentity.Outcome) throws {
        state.withLock { state in
            state.published = nil
            state.lastRekey = outcome
        }
        guard opened != nil else { return }
        try record.raise(to: .init(origin: outcome.new, version: 0, digest: 0))
    }
}
