import Journal
import Store
import Sync
import TestSupport

/// A replica with a database and, beside it, what `syncd` does with the file.
final class Machine {
    private let directory = TemporaryDirectory()
    let db: Store.Database
    private let replica: Replica
    private let inbox: Inbox

    init(_ schema: (inout SchemaBuilder) -> Void) throws {
        let path = directory.file("machine.sqlite")
        db = try Store.Database(path: path, options: TestDatabase.options, schema: schema)
        replica = try Replica.open(at: path)
        inbox = try Inbox(replica: replica) { Stamp(milliseconds: 4_000_000_000_000) }
    }

    deinit {
        try? db.close()
        try? replica.close()
    }

    var path: String { db.path }

    /// Takes up all that `other` knows and this machine does not. The database follows by itself, some time later.
    func pull(from other: Machine) throws {
        try other.replica.refreshDerivedState()
        let have = try inbox.have()
        var batches: [ChangeBatch] = []
        try other.replica.read { db in
            try Outbox.forEachBatch(in: db, after: have, limits: .standard) { batch in
                batches.append(batch)
                return true
            }
        }
        for batch in batches { _ = try inbox.receive(batch) }
    }

    /// What a daemon does at each contact with the file.
    func bringBackHeldRows() throws { try inbox.bringBackHeldRows() }
}
