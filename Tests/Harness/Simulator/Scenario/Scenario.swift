import Journal
import MergeModel
import SimulatedDisk
import Sync
import TestSupport

/// Runs a plan: machines, their network, faults, and the checks that hold at every moment.
///
/// Unchecked: see ``Scheduler``.
final class Scenario: @unchecked Sendable {
    let plan: ScenarioPlan
    let scheduler: Scheduler
    let network: Network
    var machines: [SimulatedMachine] = []
    var counts = Counts()
    var trace: Trace
    var follows: [[Int]]
    var shared: [SharedArchive] = []
    var hubs: [SimulatedHub] = []
    /// The hub of each machine that reaches the first archive by one.
    var hubOf: [Int: Int]
    /// How often each machine that may move between hubs began to start.
    var starts: [Int: Int] = [:]

    let streams: Streams
    var watches: [MachineWatch] = []
    /// The batches that each machine got last.
    var arrivals: [[ChangeBatch]] = []
    /// Decides what is delivered again.
    var redelivery: SplitMix
    /// The number of commits to each file at the last check.
    var checked: [Int] = []
    var publications: Publications
    var knowledge = KnowledgeMap()
    var archive = ChangeArchive()
    var backups: [Int: ReplicaFiles] = [:]
    /// Machines whose file was replaced, and that no daemon has looked at since.
    var unsettled: Set<Int> = []
    /// Machines whose file was restored without a trace, with their origin. The first contact with a peer
    /// shows that the file is older.
    var unproven: [Int: OriginID] = [:]
    /// Machines whose loss of power took unsynced commits, and whose file no daemon has looked at since.
    var shortened: Set<Int> = []
    /// The machine with a rotten value, until it is repaired.
    var decayed: BitRot?
    /// The last new identity of each machine that was noticed.
    var rekeys: [Int: NewIdentity.Outcome] = [:]
    /// The identities that machines left when they returned.
    var leftAtReturns: [OriginID] = []
    /// How often machines came back since all faults ended.
    private var returns = 0
    var written: Set<Int> = []
    var acknowledged: Set<Int> = []
    /// For each transaction, the transaction whose write it saw in the register that it overwrote.
    var overwritten: [Int: Int] = [:]
    /// Transactions whose commit ended with an error of the disk.
    var unconfirmed: Set<Int> = []
    /// Transactions that a restored file may have lost for ever: no other machine had them.
    var mayBeLost: Set<Int> = []
    var violation: (any Error)?
    var latestTime: Int64
    /// The right time at the start of the scenario, once all faults have ended.
    var rightTime: Int64 = 0
    var locks: [Int: RawConnection] = [:]
    /// How long the daemon of each machine stays down after a death that a step led to.
    var downTimes: [Int: Int64] = [:]

    init(_ plan: ScenarioPlan, prints: ClosedRange<Int>? = nil) throws {
        self.plan = plan
        streams = Streams(seed: plan.seed)
        redelivery = streams.stream(.redelivery)
        trace = Trace(prints: prints)
        SimulatedDisk.seedRandomness(plan.seed)
        scheduler = Scheduler(random: streams.stream(.scheduler), shufflesTasks: plan.shufflesTasks)
        network = Network(scheduler, plan: plan.network, random: streams.stream(.network), limits: plan.limits)
        follows = plan.follows
        hubOf = plan.hubs?.hubs ?? [:]
        publications = Publications(limits: plan.limits)
        latestTime = HistoryReplica.start
        for index in 0..<plan.machines {
            let clock = MachineClock(
                scheduler, start: HistoryReplica.start + plan.clocks[index].offset, drift: plan.clocks[index].drift)
            add(
                try SimulatedMachine(
                    index, schema: plan.schema, hasRegisters: plan.hasRegisters,
                    origin: Scenario.origin(plan.ranks[index]), clock: clock, scheduler: scheduler,
                    entropy: streams.stream(.entropy, index), durability: plan.durabilities[index],
                    pageBytes: plan.pageBytes[index]))
        }
        shared = plan.archives.enumerated().map { SharedArchive(store: makeStore($0, $1), members: $1.members) }
        hubs = makeHubs()
        connect()
    }

    static func origin(_ rank: Int) -> OriginID { OriginID(high: UInt64(0x10 * (rank + 1)) << 56, low: 1) }

    func add(_ machine: SimulatedMachine) {
        machines.append(machine)
        watches.append(MachineWatch())
        arrivals.append([])
        checked.append(-1)
        machine.note = { [unowned self] kind in counts.note(kind) }
        machine.hasRefused = { [unowned self] in counts.note(.commitRefused) }
        machine.whenDead = { [unowned self, unowned machine] in attempt { try crash(machine) } }
    }

    func connect() {
        network.server = { [unowned self] address in server(at: address) }
        network.isDead = { [unowned self] address in isDead(at: address) }
        network.note = { [unowned self] kind in counts.note(kind) }
        network.trace = { [unowned self] line in
            counts.requests += 1
            note(line)
        }
        network.failed = { [unowned self] error in
            switch error.code {
            case .gap: counts.note(.gap)
            case .behindHorizon: counts.note(.behindHorizon)
            case .busy: counts.note(.busy)
            case .truncated where error.message.contains("damaged"): counts.note(.corruptFrame)
            case .truncated: counts.note(.truncatedStream)
            default: break
            }
        }
        network.onSend = { [unowned self] exchange, isAnswer, bytes in
            attempt { try self.watch(exchange, isAnswer: isAnswer, bytes) }
        }
        scheduler.whenQuiet = { [unowned self] in try checkQuiet() }
    }

    func note(_ line: @autoclosure () -> String) { trace.note(scheduler.now, line()) }

    /// Keeps the first failure until the event is over: callbacks of production code cannot throw.
    func attempt(_ body: () throws -> Void) {
        do {
            try body()
        } catch {
            if violation == nil { violation = error }
        }
    }

    // MARK: - The run

    /// Runs the scenario to its end.
    ///
    /// - Throws: ``Violation`` when a property does not hold; other errors are faults of the simulator or of
    ///   the engine.
    func run() throws {
        if plan.hasRegisters { counts.note(FaultKind.contention) }
        if plan.kinds.contains(.buggify) { counts.note(FaultKind.buggify) }
        if plan.directions.values.contains(where: { $0 != .both }) { counts.note(FaultKind.directions) }
        for machine in machines { start(machine) }
        for index in hubs.indices { startHub(index) }
        for step in plan.steps {
            scheduler.after(step.time) { [unowned self] in attempt { try self.perform(step.action) } }
        }
        try scheduler.run(until: plan.duration)
        try live()
        counts.lives += 1
        counts.events += scheduler.executed
        counts.virtualSeconds += scheduler.now / 1_000
    }

    func close() {
        locks = [:]
        for machine in machines { _ = try? machine.crash() }
        for hub in hubs { hub.kill() }
        scheduler.end()
    }

    func transports(_ machine: SimulatedMachine, _ process: Daemon.Process) -> [any Transport] {
        var transports: [any Transport] = follows[machine.index].map { peer in
            SimulatedTransport(
                name: "machine-\(peer)", network: network, from: machine.index, to: peer, limits: plan.limits)
        }
        transports += archiveTransports(machine, process)
        if machine.index < plan.byzantinePeer.count {
            counts.note(FaultKind.byzantinePeer)
            transports.insert(ByzantinePeer(manner: plan.byzantinePeer[machine.index], clock: machine.clock), at: 0)
        }
        return transports
    }

    func direction(_ transport: any Transport) -> SyncDirection {
        (transport as? SimulatedTransport).map { direction(from: $0.from, to: $0.to) } ?? .both
    }

    /// In which direction a machine exchanges with another one that it follows.
    func direction(from machine: Int, to peer: Int) -> SyncDirection {
        plan.directions[.init(from: machine, to: peer)] ?? .both
    }

    /// True for a machine that asks another one for its changes.
    func pulls(_ machine: Int, from peer: Int) -> Bool {
        follows[machine].contains(peer) && direction(from: machine, to: peer).pulls
    }

    /// Starts the daemon, at once or as soon as possible.
    func start(_ machine: SimulatedMachine) {
        guard !machine.isUp else { return }
        moveBetweenHubs(machine)
        do {
            let before = try FileView(machine: machine).origin
            try machine.start(limits: plan.limits, transports: transports, direction: direction)
            if machine.isDead {
                counts.note(.crashDuringRestart)
                return attempt { try crash(machine) }
            }
            if let outcome = machine.daemon?.replicator.inbox.lastRekey {
                rekeyed(machine, outcome)
                if outcome.reason == .rolledBack, shortened.contains(machine.index) { counts.note(.publishedLost) }
            } else if try FileView(machine: machine).origin != before {
                throw Violation("P14", "machine \(machine.index) has another origin and reported no new identity")
            }
            note("machine \(machine.index) is up")
            unsettled.remove(machine.index)
            shortened.remove(machine.index)
        } catch let error as Violation {
            attempt { throw error }
        } catch {
            note("machine \(machine.index) does not start: \(SyncError(wrapping: error).code)")
            if machine.isDead {
                counts.note(.crashDuringRestart)
            } else if machine.hasFailed {
                counts.note(.startFailed)
            }
            attempt { if machine.isDead { try crash(machine) } }
            scheduler.after(1_000) { [unowned self] in start(machine) }
        }
    }

    func rekeyed(_ machine: SimulatedMachine, _ outcome: NewIdentity.Outcome) {
        rekeys[machine.index] = outcome
        archive.beginAnew(machine.index)
        note("machine \(machine.index) is \(outcome.new) instead of \(outcome.old): \(outcome.reason)")
        switch outcome.reason {
        case .copied, .cloned: counts.note(.rekeyCopied)
        case .rolledBack: counts.note(.rekeyRolledBack)
        case .outrun, .contradicted: counts.note(.rekeyOutrun)
        case .manual: counts.note(.rekeyManual)
        case .returned:
            counts.note(.returned)
            leftAtReturns.append(outcome.old)
            if network.isHealed { returns += 1 }
            guard returns <= 30 * machines.count else {
                return attempt { throw Violation("P21", "machines come back by each other's content without an end") }
            }
            archive.replace(machine.index, by: nil)
        case .created, .restored: break
        }
        if outcome.reissued > 0 { counts.note(.reissued) }
    }
}
