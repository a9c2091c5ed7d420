import GRDB
import Journal
import MergeModel
import Sync

/// Everything that a daemon's file knows: as batches, and as changes of the model.
struct KnownChanges {
    /// What the journal holds.
    let batches: [ChangeBatch]
    /// These changes, and those that compaction removed.
    let writes: [ReferenceWrite]
    let ledger: [ConflictEntry]

    init(_ daemon: Daemon, of machine: Int, _ archive: ChangeArchive) throws {
        var batches: [ChangeBatch] = []
        var writes: [ReferenceWrite] = []
        var horizon = VersionVector()
        ledger = try daemon.replica.read { db in
            let reader = try JournalReader(db)
            try reader.forEachBatch(after: VersionVector(), changes: 8_192, bytes: 1 << 24) { batch in
                batches.append(batch)
                writes += ReferenceWrite.all(in: batch, registry: reader.registry)
                return true
            }
            horizon = try Horizon(db).vector
            return try ConflictEntry.all(db)
        }
        writes += archive.compacted(of: machine, upTo: horizon, without: writes)
        (self.batches, self.writes) = (batches, writes)
    }
}
