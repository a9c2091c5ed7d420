import Foundation
import GRDB
import Journal
import Sync

/// A replica's file with the inbox that a daemon has open on it.
///
/// Fixtures exchange changes as two daemons do, without a network: batch by batch (``pull(from:)``), or in a
/// session (``exchange(with:)``).
package final class ReplicaFixture {
    /// How a fixture opens its file and exchanges.
    package struct Settings {
        package var limits: Limits
        package var functions = ConflictFunctions()
        package var options = Replica.Options.unsynced
        /// The time by which the inbox judges stamps.
        package var wallClock: @Sendable () -> Stamp
        /// The clock of sessions and of the endpoint.
        package var clock: any SyncClock = SystemClock()

        package init(limits: Limits = .standard, wallClock: @escaping @Sendable () -> Stamp = { ReplicaFixture.now }) {
            self.limits = limits
            self.wallClock = wallClock
        }
    }

    /// A time later than any real clock shows, so that no test depends on when it runs.
    package static let now = Stamp(milliseconds: 4_000_000_000_000)

    package private(set) var replica: Replica
    package private(set) var inbox: Inbox
    package let settings: Settings

    /// Opens the inbox of a replica, which ``close()`` then closes too.
    ///
    /// - Throws: As `Inbox.init`; the replica is closed then.
    package init(_ replica: Replica, _ settings: Settings = Settings()) throws {
        self.replica = replica
        self.settings = settings
        do {
            inbox = try Inbox(replica, settings)
        } catch {
            try? replica.close()
            throw error
        }
    }

    /// Creates a file with the tables of `schema`, and makes it a replica.
    package convenience init(
        _ path: String, schema: String, origin: OriginID = .random(), _ settings: Settings = Settings()
    ) throws {
        let request = InitializeRequest(origin: origin)
        try self.init(.make(at: path, schema: schema, request, options: settings.options), settings)
    }

    package var path: String { replica.path }
    package var origin: OriginID { get throws { try replica.identity().origin } }
    package var vector: VersionVector { get throws { try inbox.vector() } }

    /// Runs SQL in one transaction of a program that uses ``Replica``.
    package func execute(_ sql: String) throws { try replica.write { try $0.execute(sql: sql) } }

    /// Runs SQL as a program without Tandem: with foreign keys off, which is SQLite's default.
    package func executeForeign(_ sql: String) throws { try RawConnection(path: path).run(sql) }

    /// The first column of each row of a query for text.
    package func text(_ sql: String) throws -> [String] { try replica.read { try String.fetchAll($0, sql: sql) } }

    /// Everything in the file, with an empty log. Nobody may be reading.
    package func bytes() throws -> [UInt8] {
        try replica.write { _ in }
        try RawConnection(path: path).run("PRAGMA wal_checkpoint(TRUNCATE)")
        return [UInt8](try Data(contentsOf: URL(filePath: path)))
    }

    // MARK: - Starting and stopping

    package func close() throws {
        let first = Result { try inbox.close() }
        try replica.close()
        try first.get()
    }

    /// Opens the inbox again, as a restarted daemon does.
    package func restartInbox() throws {
        try inbox.close()
        inbox = try Inbox(replica, settings)
    }

    /// Closes the file, runs `body`, and opens the file again. During `body` the database has no write-ahead
    /// log.
    package func whileClosed(_ body: () throws -> Void) throws {
        try close()
        for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
        try body()
        replica = try Replica.open(at: path, options: settings.options)
        inbox = try Inbox(replica, settings)
    }

    // MARK: - Compaction

    /// Hears what `other` has merged, and what that has heard, as by a hello.
    package func hear(_ other: ReplicaFixture) throws {
        let news = try other.replica.read { try other.inbox.acknowledgements.all($0) }
        try inbox.acknowledgements.take(news, from: other.origin)
    }

    /// Removes from the journal what all replicas are known to have merged, whatever its age.
    ///
    /// - Returns: How many entries were removed.
    @discardableResult
    package func compactWhatIsStable() throws -> Int {
        try compact(upTo: inbox.stableHorizon(lease: .max).vector, rowsPerStep: 7)
    }

    /// Compacts the journal, without asking what other replicas have.
    ///
    /// - Parameters:
    ///   - vector: What counts as stable; nil for everything here.
    ///   - until: Later entries stay.
    ///   - steps: After how many transactions to stop, as a kill would; nil for the whole work.
    /// - Returns: How many entries were removed.
    @discardableResult
    package func compact(
        upTo vector: VersionVector? = nil, until: Stamp = ReplicaFixture.now, rowsPerStep: Int = 100, steps: Int? = nil
    ) throws -> Int {
        try inbox.prepareCompaction()
        let target = try vector ?? self.vector
        guard
            let plan = try CompactionPlan(
                { [replica] in try replica.read($0) }, upTo: target, until: until,
                ends: replica.read { try inbox.transactionEnds($0) }, rowsPerStep: rowsPerStep, entriesPerSnapshot: 5)
        else {
            return 0
        }
        var compactor = Compactor(plan)
        var left = steps ?? .max
        while !compactor.progress.isComplete, left > 0 {
            guard try replica.write({ try compactor.step($0) }) else { break }
            left -= 1
        }
        return compactor.progress.removed
    }

    // MARK: - Exchanging batches

    /// Everything here that `have` lacks.
    ///
    /// - Parameter changes: The most changes in a batch; nil for the limit of the settings.
    package func batches(after have: VersionVector, changes: Int? = nil) throws -> [ChangeBatch] {
        try replica.refreshDerivedState()
        var limits = settings.limits
        limits.changesPerBatch = changes ?? limits.changesPerBatch
        var batches: [ChangeBatch] = []
        try replica.read { db in
            try Outbox.forEachBatch(in: db, after: have, limits: limits) { batch in
                batches.append(batch)
                return true
            }
        }
        return batches
    }

    /// Applies batches through the codec, as over a wire.
    @discardableResult
    package func receive(_ batches: [ChangeBatch]) throws -> ReceiveReport {
        try batches.reduce(ReceiveReport()) { report, batch in
            try report + inbox.receive(BatchCodec.decode(BatchCodec.encode(batch), limits: settings.limits))
        }
    }

    /// Takes everything that `source` knows and this replica lacks.
    @discardableResult
    package func pull(from source: ReplicaFixture) throws -> ReceiveReport {
        try receive(source.batches(after: inbox.have()))
    }

    // MARK: - Sessions

    package var endpoint: Endpoint {
        Endpoint(replica: replica, inbox: inbox, limits: settings.limits, clock: settings.clock) {
            AsyncStream { $0.finish() }
        }
    }

    /// Runs one exchange in both directions.
    @discardableResult
    package func exchange(over transport: any Transport) async throws -> SyncReport {
        try await SyncSession(
            replica: replica, inbox: inbox, transport: transport, limits: settings.limits, clock: settings.clock
        ).exchange()
    }

    @discardableResult
    package func exchange(with other: ReplicaFixture) async throws -> SyncReport {
        try await exchange(over: LocalTransport(other.endpoint, name: other.path))
    }
}

extension [ReplicaFixture] {
    /// Exchanges in rounds until all know the same. In a round, each replica pulls from each other one.
    ///
    /// - Parameter pull: Gets the indices of the target and of the source.
    /// - Returns: False when they still differ after twice as many rounds as there are replicas.
    package func converge(_ pull: (_ target: Int, _ source: Int) throws -> Void) throws -> Bool {
        for _ in 0..<(count * 2) {
            for target in indices { for source in indices where source != target { try pull(target, source) } }
            for fixture in self { try fixture.inbox.bringBackHeldRows() }
            let vectors = try map { try $0.vector }
            if vectors.allSatisfy({ $0 == vectors[0] }) { return true }
        }
        return false
    }
}

extension Inbox {
    fileprivate convenience init(_ replica: Replica, _ settings: ReplicaFixture.Settings) throws {
        try self.init(
            replica: replica, limits: settings.limits, functions: settings.functions, wallClock: settings.wallClock)
    }
}

extension Replica {
    /// Creates a file with the tables of `schema`, and makes it a replica.
    package static func make(
        at path: String, schema: String, _ request: InitializeRequest = InitializeRequest(),
        options: Options = Options()
    ) throws -> Replica {
        try RawConnection(path: path).run(schema)
        return try create(at: path, request, options: options).replica
    }
}

extension Replica.Options {
    /// Options for tests without loss of power: commits are not synced (`PRAGMA synchronous = NORMAL`).
    package static var unsynced: Replica.Options {
        var options = Replica.Options()
        options.durability = .normal
        return options
    }
}
