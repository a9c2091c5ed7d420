import GRDB
import Journal
import SimulatedDisk
import Sync

/// A machine of a campaign: a replica on a simulated disk, with the production way in and out.
final class Machine {
    static let file = "a.sqlite"
    /// Small, so that a transaction of some rows is larger than a batch and travels in parts.
    static let limits: Limits = {
        var limits = Limits.standard
        limits.changesPerBatch = 24
        limits.conflictRetention = ConflictRetention()
        return limits
    }()

    let disk: SimulatedDisk
    let replica: Replica
    let inbox: Inbox
    private let clock: CampaignClock

    private init(_ disk: SimulatedDisk, _ replica: Replica, _ clock: CampaignClock) throws {
        self.disk = disk
        self.replica = replica
        self.clock = clock
        inbox = try Inbox(replica: replica, limits: Machine.limits) { Stamp(milliseconds: clock.wallMilliseconds()) }
    }

    /// Opens what is on the disk; makes a replica where there is none.
    ///
    /// - Parameter origin: For a new replica.
    static func start(
        on disk: SimulatedDisk, origin: OriginID, durability: Replica.Durability, clock: CampaignClock
    ) throws -> Machine {
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
        do {
            return try Machine(disk, replica, clock)
        } catch {
            try? replica.close()
            throw error
        }
    }

    func close() throws {
        let first = Result { try inbox.close() }
        try replica.close()
        try first.get()
    }

    func write<T>(_ body: (Database) throws -> T) throws -> T {
        disk.setTime(milliseconds: clock.wallMilliseconds())
        return try replica.write(body)
    }

    var endpoint: Endpoint {
        Endpoint(replica: replica, inbox: inbox, limits: Machine.limits, clock: clock) { AsyncStream { $0.finish() } }
    }

    /// One full exchange, both ways.
    func exchange(over transport: any Transport) async throws -> SyncReport {
        disk.setTime(milliseconds: clock.wallMilliseconds())
        return try await SyncSession(
            replica: replica, inbox: inbox, transport: transport, limits: Machine.limits, clock: clock
        ).exchange()
    }

    @discardableResult
    func exchange(with other: Machine) async throws -> SyncReport {
        try await exchange(over: LocalTransport(other.endpoint, name: other.disk.directory))
    }

    // MARK: - The schema

    /// Brings the tables to what migrations up to `level` make of them; does nothing twice.
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
