import Foundation
import GRDB
import Journal
import MergeModel
import Sync
import TestSupport

/// One machine: a file, a program that writes it, and a daemon that comes and goes.
///
/// Unchecked: see ``Scheduler``.
final class Machine: @unchecked Sendable {
    let index: Int
    let path: String
    let clock: MachineClock
    let signals: FileSignals
    private(set) var schema: ReferenceSchema
    private(set) var additions: Set<Int> = []
    private let scheduler: Scheduler
    private var entropy: SplitMix
    /// The program that writes the file; also what checks look through.
    private(set) var writer: RawConnection
    private(set) var daemon: Daemon?

    /// Counts commits to the file, whoever made them.
    private(set) var commits = 0
    /// The commit at which the daemon dies; nil for none.
    var fuse: LifePlan.CrashPoint?
    /// The files at the moment of the daemon's death, while what it was doing runs to its end.
    private(set) var death: FileImage?
    /// Called soon after the death.
    var whenDead: () -> Void = {}

    init(
        _ index: Int, path: String, schema: HistorySchema, origin: OriginID, clock: MachineClock, scheduler: Scheduler,
        entropy: SplitMix
    ) throws {
        self.index = index
        self.path = path
        self.clock = clock
        self.scheduler = scheduler
        self.entropy = entropy
        self.schema = schema.reference.withTokens
        signals = FileSignals(scheduler)
        SimulatedSystem.set(time: clock.wallMilliseconds())
        writer = try Machine.openWriter(path)
        try writer.run((schema.statements + [TokenTable.sql]).joined(separator: ";"))
        var options = Replica.Options()
        options.durability = .normal
        let replica = try Replica.create(at: path, InitializeRequest(origin: origin), options: options).replica
        try replica.connections.close()
    }

    /// A machine that gets a copy of another one's file.
    init(
        _ index: Int, path: String, copyOf other: Machine, keepsRecord: Bool, clock: MachineClock, scheduler: Scheduler,
        entropy: SplitMix
    ) throws {
        self.index = index
        self.path = path
        self.clock = clock
        self.scheduler = scheduler
        self.entropy = entropy
        schema = other.schema
        additions = other.additions
        signals = FileSignals(scheduler)
        try other.image().replace(path, keepsRecord: !keepsRecord)
        writer = try Machine.openWriter(path)
    }

    private static func openWriter(_ path: String) throws -> RawConnection {
        let writer = try RawConnection(path: path, recursiveTriggers: true, foreignKeys: true)
        try writer.run("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; PRAGMA temp_store = MEMORY")
        return writer
    }

    /// What runs next runs on this machine.
    func enter() { SimulatedSystem.set(time: clock.wallMilliseconds()) }

    func image() -> FileImage { FileImage(of: path) }

    /// The size of the write-ahead log.
    var logBytes: Int {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path + "-wal")
        return (attributes?[.size] as? NSNumber)?.intValue ?? 0
    }

    // MARK: - The daemon

    var isUp: Bool { daemon != nil }

    /// The fuse burned down before the daemon was up.
    struct DiedStarting: Error {}

    /// - Throws: What keeps it from coming up; it is down then.
    func start(limits: Limits, transports: (Machine) -> [any Transport]) throws {
        enter()
        death = nil
        let executor = ProcessExecutor(
            scheduler, willRun: { [unowned self] in enter() }, didRun: { [unowned self] in reapIfDead() })
        let entropy = SplitMix(seed: entropy.next())
        let daemon: Daemon
        do {
            daemon = try Daemon(
                path: path, transports: transports(self), limits: limits, clock: clock, executor: executor,
                signals: signals, entropy: entropy
            ) { [unowned self] in
                CommitObserver(willCommit: { self.willCommit() }, didCommit: { self.didCommit() })
            }
        } catch {
            guard death != nil else { throw error }
            try takeDeath()
            throw DiedStarting()
        }
        if death != nil {
            daemon.kill(scheduler)
            signals.drop()
            try takeDeath()
            throw DiedStarting()
        }
        self.daemon = daemon
    }

    private func willCommit() {
        guard death == nil, case .beforeCommit(let left) = fuse else { return }
        if left > 1 { fuse = .beforeCommit(left - 1) } else { die() }
    }

    private func didCommit() {
        commits += 1
        signals.signal()
        guard death == nil, case .afterCommit(let left) = fuse else { return }
        if left > 1 { fuse = .afterCommit(left - 1) } else { die() }
    }

    private func die() {
        fuse = nil
        death = image()
    }

    private func reapIfDead() {
        guard death != nil, daemon != nil, !isReaping else { return }
        whenDead()
    }

    private var isReaping = false

    /// The daemon is gone, and the files are as they were at the moment of its death.
    func crash() throws {
        guard let daemon else { return }
        let image = death ?? image()
        death = image
        isReaping = true
        defer { isReaping = false }
        self.daemon = nil
        daemon.kill(scheduler)
        signals.drop()
        try takeDeath()
    }

    private func takeDeath() throws {
        guard let image = death else { return }
        death = nil
        fuse = nil
        commits += 1
        try whileClosed { try image.write(to: path) }
    }

    func stop() throws {
        guard let daemon else { return }
        isReaping = true
        defer { isReaping = false }
        self.daemon = nil
        try daemon.stop(scheduler)
        signals.drop()
    }

    /// Closes the writer's connection meanwhile; the daemon must be down.
    func whileClosed(_ body: () throws -> Void) throws {
        // A connection to nothing lets go of the file.
        writer = try RawConnection(path: ":memory:")
        try body()
        writer = try Machine.openWriter(path)
    }

    // MARK: - The program

    /// What a transaction came to.
    enum WriteOutcome {
        case committed
        /// It was refused, or rolled back.
        case failed
        /// The program died before the commit.
        case died
    }

    func write(_ statements: [String], isMarked: Bool, dies: Bool) throws -> WriteOutcome {
        enter()
        guard writer.execute("BEGIN IMMEDIATE") == 0 else { return .failed }
        for statement in statements {
            // A statement that a constraint refuses is a part of the history like any other.
            _ = writer.execute(statement)
            if !writer.isInTransaction { return .failed }
        }
        if isMarked {
            try writer.run(
                "UPDATE _journal SET tx = 1 WHERE seq = (SELECT max(seq) FROM _journal) AND origin IS NULL")
        }
        if dies {
            writer = try Machine.openWriter(path)
            return .died
        }
        guard writer.execute("COMMIT") == 0 else {
            if writer.isInTransaction { try writer.run("ROLLBACK") }
            return .failed
        }
        commits += 1
        signals.signal()
        return .committed
    }

    /// - Returns: False when it was done before, or the file is locked.
    func migrate(_ number: Int, _ addition: HistorySchema.Addition) throws -> Bool {
        guard !additions.contains(number) else { return false }
        enter()
        for statement in HistorySchema.sql(of: addition) where writer.execute(statement) != 0 { return false }
        additions.insert(number)
        schema.add(addition)
        commits += 1
        signals.signal()
        return true
    }

    /// After the file was replaced by an older or another one.
    func adopt(schema: ReferenceSchema, additions: Set<Int>) {
        self.schema = schema
        self.additions = additions
        commits += 1
    }

    var schemaName: String { additions.sorted().map(String.init).joined(separator: ",") }

    func rows(_ sql: String) throws -> [[Value]] { try writer.rows(sql) }
}
