import GRDB
import Journal
import MergeModel
import SimulatedDisk
import Sync
import TestSupport

/// One machine: a disk with a replica, a program that writes it, and a daemon that comes and goes.
///
/// Faults of the disk happen only while something of the machine runs: what looks on from outside always succeeds.
///
/// Unchecked: see ``Scheduler``.
final class Machine: @unchecked Sendable {
    let index: Int
    /// After a loss of power another one.
    private(set) var disk: SimulatedDisk
    let clock: MachineClock
    let signals: FileSignals
    let history: HistorySchema
    /// Whether the file has the table that all programs overwrite.
    let hasRegisters: Bool
    let durability: ScenarioPlan.DurabilityPlan
    /// SQLite's own default.
    static let usualPageBytes = 4_096
    private(set) var schema: ReferenceSchema
    private(set) var additions: Set<Int> = []
    private let scheduler: Scheduler
    private var entropy: SplitMix
    /// The program that writes the file; also what checks look through.
    private(set) var writer: RawConnection
    private(set) var daemon: Daemon?

    /// Counts commits to the file, whoever made them.
    private(set) var commits = 0
    /// The commit at which the machine's processes die; nil for none.
    var fuse: ScenarioPlan.CrashPoint?
    /// The daemon's commit that is refused, counted from the next one; nil for none.
    var refusal: Int?
    /// Called soon after a death that nobody asked for.
    var whenDead: () -> Void = {}
    private var faults = StandingFaults()
    /// Called when a commit of the daemon is refused.
    var hasRefused: () -> Void = {}
    /// Called for each fault of the disk that happened.
    var note: (FaultKind) -> Void = { _ in }
    /// True when a crash may have left a commit in the log that was not synced: it is there for everybody, until the next commit makes it
    /// durable, or a loss of power takes it.
    private(set) var showsUnsynced = false
    /// Whether a commit has failed on this disk, as it is since the power went last.
    private var hasErred = false

    init(
        _ index: Int, schema: HistorySchema, hasRegisters: Bool, origin: OriginID, clock: MachineClock,
        scheduler: Scheduler, entropy: SplitMix,
        durability: ScenarioPlan.DurabilityPlan = ScenarioPlan.DurabilityPlan(),
        pageBytes: Int = Machine.usualPageBytes
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
        disk = Machine.makeDisk(index, clock)
        // Until it is a replica, nothing says what it has lost.
        writer = try Machine.openWriter(disk, .full, pageBytes: pageBytes)
        let watched = [TokenTable.sql] + (hasRegisters ? [RegisterTable.sql] : [])
        try writer.run((schema.statements + watched).joined(separator: ";"))
        try disk.makeReplica(ReplicaFiles.database, InitializeRequest(origin: origin)).connections.close()
        try writer.run("PRAGMA synchronous = \(durability.program.rawValue)")
    }

    /// A machine that gets a copy of another one's files.
    init(
        _ index: Int, copyOf other: Machine, withRecord: Bool, clock: MachineClock, scheduler: Scheduler,
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
        disk = Machine.makeDisk(index, clock)
        other.files().write(to: disk, isNew: true, withRecord: withRecord)
        writer = try Machine.openWriter(disk, durability.program)
    }

    private static func makeDisk(_ index: Int, _ clock: MachineClock) -> SimulatedDisk {
        let disk = SimulatedDisk(machine: UInt64(index) + 1)
        // Nobody else runs meanwhile: who holds a lock now holds it when the wait is over.
        disk.setVirtualSleep(true)
        disk.setTime(milliseconds: clock.wallMilliseconds())
        disk.holdsFaults = true
        return disk
    }

    /// - Parameter pageBytes: Counts for a file that is made.
    private static func openWriter(
        _ disk: SimulatedDisk, _ durability: Replica.Durability, pageBytes: Int = Machine.usualPageBytes
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

    // MARK: - Whose turn it is

    /// SQLite's 'now' is this machine's.
    func setTime() { disk.setTime(milliseconds: clock.wallMilliseconds()) }

    /// What runs next runs on this machine, until ``leave()``.
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

    /// True from the death of its processes until ``crash(losingPower:)``.
    var isDead: Bool { disk.isDown }

    /// - Throws: What keeps it from coming up, a death included; it is down then.
    func start(limits: Limits, transports: (Machine) -> [any Transport]) throws {
        enter()
        defer { leave() }
        let executor = ProcessExecutor(
            scheduler, willRun: { [unowned self] in enter() }, didRun: { [unowned self] in didRun() })
        let entropy = SplitMix(seed: entropy.next())
        let daemon = try Daemon(
            disk: disk, transports: transports(self), limits: limits, clock: clock, executor: executor,
            signals: signals, entropy: entropy, durability: durability.daemon
        ) { [unowned self] in
            CommitObserver(willCommit: { try self.willCommit() }, didCommit: { self.didCommit() })
        }
        self.daemon = daemon
    }

    /// Performs `body` as a part of the daemon.
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
                throw DatabaseError(resultCode: .SQLITE_IOERR, message: "a commit that a whim refuses")
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

    /// Something of this machine committed.
    func committed() {
        commits += 1
        // A commit of nothing syncs nothing.
        if disk.unsynced.bytes == 0 { showsUnsynced = false }
        signals.signal()
    }

    private func didRun() {
        leave()
        if isDead, daemon != nil { whenDead() }
    }

    /// All processes are gone, if they were not yet, and the disk is as they left it, or as a loss of power leaves it. The program comes back at
    /// once, the daemon does not.
    ///
    /// - Parameter seed: Of a loss of power now; nil when only the processes die.
    /// - Returns: How many bytes a loss of power found that were not synced; nil when the power stayed.
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
        writer = try Machine.openWriter(disk, durability.program)
        try lookAtSchema()
    }

    /// Ends the daemon as SIGTERM does.
    func stop() throws {
        guard let daemon else { return }
        self.daemon = nil
        enter()
        defer { leave() }
        do {
            try daemon.stop(scheduler)
            signals.drop()
        } catch {
            self.daemon = daemon
            guard hasFailed else { throw error }
        }
    }

    /// Puts other files in the place of its own. The daemon must be down.
    func restore(_ files: ReplicaFiles, isInPlace: Bool, withRecord: Bool) throws {
        // Nobody has it open then.
        disk.crash()
        disk.start()
        files.write(to: disk, isNew: !isInPlace, withRecord: withRecord)
        endFaults()
        showsUnsynced = false
        hasErred = false
        try comeBack()
    }

    // MARK: - The file

    /// The program begins anew, without its transaction.
    func restartWriter() throws {
        guard !isDead else { return }
        writer = try disk.withoutFaults { try Machine.openWriter(disk, durability.program) }
    }

    /// Which additions the file has: one whose commit failed may be there all the same.
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

    /// Whether one of them has happened.
    var hasFailed: Bool { isDead || faults.haveHappened(on: disk) }

    /// Whether the writes of a commit that failed may stand in the log, where a later commit then wrote its own.
    var mayHoldFailedCommits: Bool { hasErred || faults.haveErred(on: disk) }

    /// What the processes died of; nil for no fault of the disk.
    var causeOfDeath: DiskFault? { isDead ? faults.deadly(on: disk) : nil }

    /// Nothing is wrong with the disk any more.
    func endFaults() {
        hasErred = mayHoldFailedCommits
        for kind in faults.end(on: disk) { note(kind) }
    }
}

extension ReferenceSchema {
    /// With the tables that no plan draws from, and the checks look at.
    fileprivate func withWatchedTables(registers: Bool) -> ReferenceSchema {
        var schema = self
        schema.tables += [TokenTable.reference] + (registers ? [RegisterTable.reference] : [])
        return schema
    }
}
