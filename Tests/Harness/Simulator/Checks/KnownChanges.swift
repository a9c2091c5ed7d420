import GRDB
import Journal
import MergeModel
import Sync

/// Everything that a daemon's file knows: as batches, and as changes of the model.
struct KnownChanges {
    let batches: [ChangeBatch]
    let writes: [ReferenceWrite]
    let ledger: [ConflictEntry]

    init(_ daemon: Daemon) throws {
        var batches: [ChangeBatch] = []
        var writes: [ReferenceWrite] = []
        ledger = try daemon.replica.read { db in
            let reader = try JournalReader(db)
            try reader.forEachBatch(after: VersionVector(), changes: 8_192, bytes: 1 << 24) { batch in
                batches.append(batch)
                writes += ReferenceWrite.all(in: batch, registry: reader.registry)
                return true
            }
            return try ConflictEntry.all(db)
        }
        (self.batches, self.writes) = (batches, writes)
    }
}
