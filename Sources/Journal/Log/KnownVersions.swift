import GRDB

/// What a replica knows in one snapshot of its file: the part of a ``JournalReader`` that needs no shapes, of which a
/// file with many tables has many.
package struct KnownVersions {
    /// Who the replica is.
    package let identity: Identity
    /// The version vector of this replica, including its own changes.
    package let vector: VersionVector
    let origins: OriginTable
    let runs: RunList
    /// The position of the newest entry, 0 for an empty journal.
    let lastSeq: Int64

    /// - Throws: As ``JournalReader/init(_:)``.
    package init(_ db: Database) throws {
        identity = try Identity(db)
        origins = try OriginTable(db)
        lastSeq = try JournalReader.lastSeq(db)
        runs = RunList(db: db, origins: origins, own: identity.origin, lastSeq: lastSeq)
        let tail = try runs.last()
        // The last run of this replica, when the journal does not end with it: while received changes are appended.
        let local = tail?.origin == identity.origin ? nil : try runs.run(of: identity.origin, holding: .max)
        var vector = origins.merged(except: identity.origin)
        for run in [tail, local] {
            if let run { vector.advance(run.origin, to: run.endVersion - 1) }
        }
        self.vector = vector
    }
}
