import GRDB
import Journal
import SimulatedDisk
import Sync
import TestSupport

/// A machine of a campaign: a replica on a simulated disk, with the production inbox and endpoint.
final class CampaignMachine {
    static let file = "a.sqlite"
    /// Small limits, so that a transaction of some rows is larger than a batch and travels in parts.
    static let limits: Limits = {
        var limits = Limits.standard
        // A row that differs from the journal is what a run looks for.
        limits.recapturesByItself = false
        limits.changesPerBatch = 24
        limits.conflictRetention = ConflictRetention()
        limits.snapshotPartBytes = 16 << 10
        return limits
    }()

    let disk: SimulatedDisk
    private let fixture: ReplicaFixture
    private let clock: CampaignClock

    var replica: Replica { fixture.replica }
    var inbox: Inbox { fixture.inbox }

    private init(_ disk: SimulatedDisk, _ replica: Replica, _ clock: CampaignClock) throws {
        self.disk = disk
        self.clock = clock
        var settings = ReplicaFixture.Settings(limits: CampaignMachine.limits) {
            Stamp(milliseconds: clock.wallMilliseconds())
        }
        settings.clock = clock
        fixture = try ReplicaFixture(replica, settings)
    }

    /// Opens the replica on the disk, or makes one on an empty disk.
    ///
    /// - Parameter origin: The origin of a new replica.
    static func start(
        on disk: SimulatedDisk, origin: OriginID, durability: Replica.Durability, clock: CampaignClock
    ) throws -> CampaignMachine {
        disk.setTime(milliseconds: clock.wallMilliseconds())
        var options = Replica.Options()
        options.durability = durability
        options.maximumReaders = 1
        options.busyTimeout = .milliseconds(200)
        let replica: Replica
        do {
            replica = try disk.openReplica(file, options: options)
        } catch let error as JournalError where [.notFound, .notAReplica].contains(error.code) {
            replica = try disk.makeReplica(file, InitializeRequest(origin: origin), options: options)
        }
        return try CampaignMachine(disk, replica, clock)
    }

    func close() throws { try fixture.close() }

    func write<T>(_ body: (Database) throws -> T) throws -> T {
        disk.setTime(milliseconds: clock.wallMilliseconds())
        return try replica.write(body)
    }

    var endpoint: Endpoint { fixture.endpoint }

    /// Runs one exchange in both directions.
    func exchange(over transport: any Transport) async throws -> SyncReport {
        disk.setTime(milliseconds: clock.wallMilliseconds())
        return try await fixture.exchange(over: transport)
    }

    @discardableResult
    func exchange(with other: CampaignMachine) async throws -> SyncReport {
        try await exchange(over: LocalTransport(other.endpoint, name: other.disk.directory))
    }

    // MARK: - The life of the file

    /// Compacts what all replicas are known to have, in steps of some rows.
    ///
    /// - Returns: How many entries were removed.
    func compact() throws -> Int {
        disk.setTime(milliseconds: clock.wallMilliseconds())
        return try fixture.compactWhatIsStable()
    }

    /// Takes the content of another machine, and writes again what that one has not seen.
    func comeBack(from other: CampaignMachine) async throws -> Return.Report {
        disk.setTime(milliseconds: clock.wallMilliseconds())
        var back = Return(inbox, from: SnapshotShelf(other.replica, limits: CampaignMachine.limits))
        back.limits = CampaignMachine.limits
        back.clock = clock
        return try await back.run()
    }

    /// Makes a further replica from another machine's snapshot, beside this one's file.
    ///
    /// - Parameter token: What a program writes on the other machine while it copies its file.
    func clone(_ other: CampaignMachine, to name: String, token: String) async throws -> Clone.Report {
        disk.setTime(milliseconds: clock.wallMilliseconds())
        let source = SnapshotShelf(other.replica, limits: CampaignMachine.limits) { [replica = other.replica] in
            try? replica.write { db in
                try db.execute(
                    sql: "INSERT INTO token VALUES (?, 0) ON CONFLICT DO UPDATE SET number = number + 1",
                    arguments: [token])
            }
        }
        var clone = Clone(from: source, to: disk.path(name))
        clone.limits = CampaignMachine.limits
        clone.clock = clock
        clone.files = disk.files
        return try await clone.run()
    }

    // MARK: - The schema

    /// Applies the migrations up to `level` that are missing.
    func migrate(to level: Int) throws {
        try write { db in
            try db.execute(
                sql: """
                    CREATE TABLE IF NOT EXISTS item (id INTEGER PRIMARY KEY, owner TEXT, n INTEGER, note TEXT);
                    CREATE TABLE IF NOT EXISTS token (name TEXT PRIMARY KEY NOT NULL, number INTEGER);
                    """)
            let columns = try db.columns(in: "item").map(\.name)
            for step in 1..<max(1, level + 1) {
                if step % 2 == 0 {
                    try db.execute(sql: "CREATE TABLE IF NOT EXISTS more\(step) (id INTEGER PRIMARY KEY, a)")
                } else if !columns.contains("extra\(step)") {
                    try db.execute(sql: "ALTER TABLE item ADD COLUMN extra\(step)")
                }
            }
        }
        try replica.refreshDerivedState()
        try inbox.bringBackHeldRows()
    }
}
