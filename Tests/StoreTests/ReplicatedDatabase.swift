import Journal
import Store
import Sync
import TestSupport

/// A database, and the replica that `syncd` has on the same file.
final class ReplicatedDatabase {
    private let directory = TemporaryDirectory()
    let db: Store.Database
    private let fixture: ReplicaFixture

    init(_ schema: (inout SchemaBuilder) -> Void) throws {
        let path = directory.file("machine.sqlite")
        db = try Store.Database(path: path, options: TestDatabase.options, schema: schema)
        fixture = try ReplicaFixture(.open(at: path))
    }

    deinit {
        try? db.close()
        try? fixture.close()
    }

    var path: String { db.path }

    /// Takes everything that `other` knows and this replica lacks. The database follows by itself, a little
    /// later.
    func pull(from other: ReplicatedDatabase) throws { try fixture.pull(from: other.fixture) }

    /// Removes from the journal what later changes have overwritten, whoever lacks it.
    func compact() throws { try fixture.compact() }

    /// Brings the replica back from behind the horizon of `other`.
    func comeBack(by other: ReplicatedDatabase) async throws {
        let endpoint = Endpoint(
            replica: other.fixture.replica, inbox: other.fixture.inbox, changes: { AsyncStream { _ in } })
        _ = try await Return(fixture.inbox, from: LocalTransport(endpoint, name: "other")).run()
    }

    /// Does what a daemon does at each contact with the file.
    func bringBackHeldRows() throws { try fixture.inbox.bringBackHeldRows() }
}
