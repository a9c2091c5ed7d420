import GRDB
import Journal
import MergeModel
import SimulatedDisk
import Sync
import TestSupport

/// One machine: a disk with a replica, a program that writes it, and a daemon that starts and stops.
///
/// Faults of the disk happen only while a process of the machine runs; checks always succeed.
///
/// Unchecked: see ``Scheduler``.
final class SimulatedMachine: @unchecked Sendable {
    let index: Int
    /// A loss of power replaces it.
    private(set) var disk: SimulatedDisk
    let clock: MachineClock
    let signals: FileSignals
    let history: HistorySchema
    /// True when the file has the table that all programs overwrite.
    let hasRegisters: Bool
    let durability: ScenarioPlan.DurabilityPlan
    /// SQLite's own default.
    static let usualPageBytes = 4_096
    private(set) var schema: ReferenceSchema
    private(set) var additions: Set<Int> = []
    private let scheduler: Scheduler
    private var entropy: SplitMix
    /// The connection of the program that writes the file. Checks use it, too.
    private(set) var writer: RawConnection
    private(set) var daemon: Daemon?

    /// The number of commits to the file, by any process.
    private(set) var commits = 0
    /// The commit at which the machine's processes die; nil for none.
    var fuse: ScenarioPlan.CrashPoint?
    /// The daemon's commit that is refused, counted from the next one; nil for none.
    var refusal: Int?
    /// Called soon after a death that no step asked for.
    var whenDead: () -> Void = {}
    private var faults = StandingFaults()
    /// The last new identity that the daemon took.
    private var lastIdentity: NewIdentity.Outcome?
    /// Called when a commit of the daemon is refused.
    var hasRefused: () -> Void = {}
    /// Called for each fault of the disk that happened.
    var note: (FaultKind) -> Void = { _ in }
    /// True when a crash may have left an unsynced commit in the log. Every process sees it, until the next
    /// commit makes it durable or a loss of power takes it.
    private(set) var showsUnsynced = false
    /// True when a commit failed on this disk since the last loss of power.
    private var hasErred = false

    init(
        _ index: Int, schema: HistorySchema, hasRegisters: Bool, origin: OriginID, clock: MachineClock,
        scheduler: Scheduler, entropy: SplitMix,
        durability: ScenarioPlan.DurabilityPlan = ScenarioPlan.DurabilityPlan(),
        pageBytes: Int = SimulatedMachine.usualPageBytes
    ) throws {
        self.index = index
        self.clock = clock
        self.scheduler = scheduler
        self.entropy = entropy
        self.durability = durability
        history = schema
        self.hasRegisters = hasRegisters
        self.schema = schema.reference.withWatchedTables(registers: hasRegisters)
        signals = FileSignals(scheduler)
        disk = SimulatedMachine.makeDisk(index, clock)
        // Before it is a replica, nothing shows what the file lost.
        writer = try SimulatedMachine.openWriter(disk, .full, pageBytes: pageBytes)
        let watched = [TokenTable.sql] + (hasRegisters ? [RegisterTable.sql] : [])
        try writer.run((schema.statements + watched).joined(separator: ";"))
        try disk.makeReplica(ReplicaFiles.database, InitializeRequest(origin: origin)).connections.close()
        try writer.run("PRAGMA synchronous = \(durability.program.rawValue)")
    }

    /// Makes a machine with a copy of another machine's files.
    init(
        _ index: Int, copyOf other: SimulatedMachine, withRecord: Bool, clock: MachineClock, scheduler: Scheduler,
        entropy: SplitMix
    ) throws {
        self.index = index
        self.clock = clock
        self.scheduler = scheduler
        self.entropy = entropy
        durability = other.durability
        history = other.history
        hasRegisters = other.hasRegisters
        schema = other.schema
        additions = other.additions
        signals = FileSignals(scheduler)
        disk = SimulatedMachine.makeDisk(index, clock)
        other.files().write(to: disk, isNew: true, withRecord: withRecord)
        writer = try SimulatedMachine.openWriter(disk, durability.program)
    }

    private static func makeDisk(_ index: Int, _ clock: MachineClock) -> SimulatedDisk {
        let disk = SimulatedDisk(machine: UInt64(index) + 1)
        // No other process runs during a wait: a lock that is held now is held at its end.
        disk.setVirtualSleep(true)
        disk.setTime(milliseconds: clock.wallMilliseconds())
        disk.holdsFaults = true
        return disk
    }

    /// - Parameter pageBytes: The page size of a new file.
    private static func openWriter(
        _ disk: SimulatedDisk, _ durability: Replica.Durability, pageBytes: Int = SimulatedMachine.usualPageBytes
    ) throws -> RawConnection {
        let writer = try RawConnection(
            path: disk.path(ReplicaFiles.database), recursiveTriggers: true, foreignKeys: true)
        try writer.run(
            """
            PRAGMA page_size = \(pageBytes); PRAGMA synchronous = \(durability.rawValue); PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0;
            PRAGMA temp_store = MEMORY
            """)
        return writer
    }

    // MARK: - The running machine

    /// Sets SQLite's 'now' to the time of this machine.
    func setTime() { disk.setTime(milliseconds: clock.wallMilliseconds()) }

    /// Everything until ``leave()`` runs on this machine.
    func enter() {
        setTime()
        disk.holdsFaults = false
    }

    func leave() { disk.holdsFaults = true }

    func files() -> ReplicaFiles { ReplicaFiles(on: disk) }

    /// The size of the write-ahead log.
    var logBytes: Int64 { disk.size(of: ReplicaFiles.database + "-wal") ?? 0 }

    /// Another connection to the file.
    func connect() throws -> RawConnection { try RawConnection(path: disk.path(ReplicaFiles.database)) }

    // MARK: - The daemon

    var isUp: Bool { daemon != nil }

    /// True from the death of the processes until ``crash(losingPower:)``.
    var isDead: Bool { disk.isDown }

    /// - Throws: The error that keeps the daemon from starting, also a death; the daemon is then down.
    func start(
        limits: Limits, transports: (SimulatedMachine, Daemon.Process) -> [any Transport],
        direction: (any Transport) -> SyncDirection
    ) throws {
        enter()
        defer { leave() }
        let executor = ProcessExecutor(
            scheduler, willRun: { [unowned self] in enter() }, didRun: { [unowned self] in didRun() })
        let entropy = SplitMix(seed: entropy.next())
        let daemon = try Daemon(
            disk: disk, transports: { transports(self, $0) }, direction: direction, limits: limits, clock: clock,
            executor: executor, signals: signals, entropy: entropy, durability: durability.daemon,
            observe: { [unowned self] in
                CommitObserver(willCommit: { try self.willCommit() }, didCommit: { self.didCommit() })
            })
        self.daemon = daemon
    }

    /// Runs `body` as a part of the daemon.
    func inDaemon<T>(_ body: (Daemon) throws -> T) rethrows -> T? {
        guard let daemon else { return nil }
        enter()
        defer { leave() }
        return try body(daemon)
    }

    private func willCommit() throws {
        if let left = refusal {
            refusal = left > 1 ? left - 1 : nil
            guard left > 1 else {
                hasRefused()
                throw DatabaseError(resultCode: .SQLITE_IOERR, message: "a commit that a buggify point refuses")
            }
        }
        guard case .beforeCommit(let left) = fuse else { return }
        if left > 1 { fuse = .beforeCommit(left - 1) } else { disk.crash() }
    }

    private func didCommit() {
        committed()
        guard case .afterCommit(let left) = fuse else { return }
        if left > 1 { fuse = .afterCommit(left - 1) } else { disk.crash() }
    }

    /// Notes a commit on this machine.
    func committed() {
        commits += 1
        // An empty commit syncs nothing.
        if disk.unsynced.bytes == 0 { showsUnsynced = false }
        signals.signal()
    }

    private func didRun() {
        noteIdentity()
        leave()
        if isDead, daemon != nil { whenDead() }
    }

    /// A return replaces the content by a connection that nothing observes.
    private func noteIdentity() {
        guard let outcome = daemon?.replicator.inbox.lastRekey, outcome != lastIdentity else { return }
        lastIdentity = outcome
        committed()
    }

    /// Ends all processes that still run. The disk is then as they left it, or as a loss of power leaves it.
    /// The program starts again at once, the daemon does not.
    ///
    /// - Parameter seed: The seed of a loss of power; nil when only the processes die.
    /// - Returns: The unsynced bytes at a loss of power; nil without one.
    func crash(losingPower seed: UInt64? = nil) throws -> Int64? {
        disk.crash()
        if let daemon {
            self.daemon = nil
            daemon.kill(scheduler)
            signals.drop()
        }
        fuse = nil
        refusal = nil
        endFaults()
        var unsynced: Int64?
        if let seed {
            unsynced = disk.unsynced.bytes
            disk = disk.powerLoss(seed: seed)
            disk.holdsFaults = true
            showsUnsynced = false
            hasErred = false
        } else {
            if disk.unsynced.bytes > 0 { showsUnsynced = true }
            disk.start()
        }
        try comeBack()
        return unsynced
    }

    private func comeBack() throws {
        commits += 1
        writer = try SimulatedMachine.openWriter(disk, durability.program)
        try lookAtSchema()
    }

    /// True within ``stop()``.
    private(set) var isStopping = false

    /// Stops the daemon as SIGTERM does.
    func stop() throws {
        guard let daemon else { return }
        self.daemon = nil
        isStopping = true
        enter()
        defer {
            leave()
            isStopping = false
        }
        do {
            try daemon.stop(scheduler)
            signals.drop()
        } catch {
            self.daemon = daemon
            guard hasFailed else { throw error }
        }
    }

    /// Replaces the machine's files. The daemon must be down.
    func restore(_ files: ReplicaFiles, isInPlace: Bool, withRecord: Bool) throws {
        // After a crash nobody has the file open.
        disk.crash()
        disk.start()
        files.write(to: disk, isNew: !isInPlace, withRecord: withRecord)
        endFaults()
        showsUnsynced = false
        hasErred = false
        try comeBack()
    }

    // MARK: - The file

    /// Starts the program again, without its transaction.
    func restartWriter() throws {
        guard !isDead else { return }
        writer = try disk.withoutFaults { try SimulatedMachine.openWriter(disk, durability.program) }
    }

    /// Reads which additions the file has: one whose commit failed may be there.
    func lookAtSchema() throws {
        additions = try Set(history.additions.indices.filter { try has(history.additions[$0]) })
        schema = history.reference.withWatchedTables(registers: hasRegisters)
        for number in additions.sorted() { schema.add(history.additions[number]) }
    }

    private func has(_ addition: HistorySchema.Addition) throws -> Bool {
        let query =
            switch addition {
            case .column(let table, let column):
                "SELECT 1 FROM pragma_table_info('\(table)') WHERE name = '\(column.name)'"
            case .table(let table): "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = '\(table.name)'"
            }
        return try !rows(query).isEmpty
    }

    var schemaName: String { additions.sorted().map(String.init).joined(separator: ",") }

    func rows(_ sql: String) throws -> [[Value]] { try disk.withoutFaults { try writer.rows(sql) } }

    // MARK: - Faults of the disk

    func arm(_ fault: DiskFault) { faults.arm(fault, on: disk) }

    /// True when a fault has happened.
    var hasFailed: Bool { isDead || faults.haveHappened(on: disk) }

    /// True when the log may hold writes of a failed commit, over which a later commit wrote its own.
    var mayHoldFailedCommits: Bool { hasErred || faults.haveErred(on: disk) }

    /// The fault that killed the processes; nil for none.
    var causeOfDeath: DiskFault? { isDead ? faults.deadly(on: disk) : nil }

    /// Removes all faults from the disk.
    func endFaults() {
        hasErred = mayHoldFailedCommits
        for kind in faults.end(on: disk) { note(kind) }
    }
}

extension ReferenceSchema {
    /// The schema with the tables that checks use and no plan draws from.
    fileprivate func withWatchedTables(registers: Bool) -> ReferenceSchema {
        var schema = self
        schema.tables += [TokenTable.reference] + (registers ? [RegisterTable.reference] : [])
        return schema
    }
}
