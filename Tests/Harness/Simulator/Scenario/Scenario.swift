import Journal
import MergeModel
import SimulatedDisk
import Sync
import TestSupport

/// A plan at work: machines, their network, what befalls them, and the checks that hold at every moment.
///
/// Unchecked: see ``Scheduler``.
final class Scenario: @unchecked Sendable {
    let plan: ScenarioPlan
    let scheduler: Scheduler
    let network: Network
    var machines: [Machine] = []
    var counts = Counts()
    var trace: Trace
    var follows: [[Int]]

    let streams: Streams
    var watches: [MachineWatch] = []
    /// For each machine what was sent to it last.
    var arrivals: [[ChangeBatch]] = []
    /// Decides what is delivered again.
    var redelivery: SplitMix
    /// The number of commits to each file when it was last looked at.
    var checked: [Int] = []
    var publications: Publications
    var knowledge = KnowledgeMap()
    var backups: [Int: ReplicaFiles] = [:]
    /// Machines whose file is another one than before, which no daemon has looked at yet.
    var unsettled: Set<Int> = []
    /// Machines whose file was restored without a trace, and the name that it bears since: the first contact with a peer tells.
    var unproven: [Int: OriginID] = [:]
    /// Machines whose power took commits that were not synced, and no daemon has looked at their file yet.
    var shortened: Set<Int> = []
    /// The machine whose file has decayed, until it is mended.
    var decayed: BitRot?
    /// The last new name of each machine that was noticed.
    var rekeys: [Int: NewIdentity.Outcome] = [:]
    var written: Set<Int> = []
    var acknowledged: Set<Int> = []
    /// For each transaction, the one whose write it saw in the register that it overwrote.
    var overwritten: [Int: Int] = [:]
    /// Those whose commit ended with an error of the disk.
    var unconfirmed: Set<Int> = []
    /// What a restored file may have taken away for good: nobody else had seen it.
    var mayBeLost: Set<Int> = []
    var violation: (any Error)?
    var latestTime: Int64
    var locks: [Int: RawConnection] = [:]
    /// How long the daemon of each machine is down after a death that a step led to.
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
        publications = Publications(limits: plan.limits)
        latestTime = HistoryReplica.start
        for index in 0..<plan.machines {
            let clock = MachineClock(
                scheduler, start: HistoryReplica.start + plan.clocks[index].offset, drift: plan.clocks[index].drift)
            add(
                try Machine(
                    index, schema: plan.schema, hasRegisters: plan.hasRegisters,
                    origin: Scenario.origin(plan.ranks[index]), clock: clock, scheduler: scheduler,
                    entropy: streams.stream(.entropy, index), durability: plan.durabilities[index],
                    pageBytes: plan.pageBytes[index]))
        }
        connect()
    }

    static func origin(_ rank: Int) -> OriginID { OriginID(high: UInt64(0x10 * (rank + 1)) << 56, low: 1) }

    func add(_ machine: Machine) {
        machines.append(machine)
        watches.append(MachineWatch())
        arrivals.append([])
        checked.append(-1)
        machine.note = { [unowned self] kind in counts.note(kind) }
        machine.hasRefused = { [unowned self] in counts.note(.commitRefused) }
        machine.whenDead = { [unowned self, unowned machine] in attempt { try crash(machine) } }
    }

    func connect() {
        network.server = { [unowned self] index in machines[index].isDead ? nil : machines[index].daemon?.server }
        network.isDead = { [unowned self] index in machines[index].isDead }
        network.note = { [unowned self] kind in counts.note(kind) }
        network.trace = { [unowned self] line in
            counts.requests += 1
            note(line)
        }
        network.failed = { [unowned self] error in
            switch error.code {
            case .gap: counts.note(.gap)
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

    // MARK: - The course of a life

    /// Lives it to its end.
    ///
    /// - Throws: ``Violation`` when a property does not hold; other errors are faults of the simulator or of the engine alike.
    func run() throws {
        if plan.hasRegisters { counts.note(FaultKind.contention) }
        if plan.kinds.contains(.buggify) { counts.note(FaultKind.buggify) }
        for machine in machines { start(machine) }
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
        scheduler.end()
    }

    func transports(_ machine: Machine) -> [any Transport] {
        var transports: [any Transport] = follows[machine.index].map { peer in
            SimulatedTransport(
                name: "machine-\(peer)", network: network, from: machine.index, to: peer, limits: plan.limits)
        }
        if machine.index < plan.byzantinePeer.count {
            counts.note(FaultKind.byzantinePeer)
            transports.insert(ByzantinePeer(manner: plan.byzantinePeer[machine.index], clock: machine.clock), at: 0)
        }
        return transports
    }

    /// Starts the daemon, now or as soon as it can.
    func start(_ machine: Machine) {
        guard !machine.isUp else { return }
        do {
            let before = try FileView(machine: machine).origin
            try machine.start(limits: plan.limits, transports: transports)
            if machine.isDead {
                counts.note(.crashDuringRestart)
                return attempt { try crash(machine) }
            }
            if let outcome = machine.daemon?.replicator.inbox.lastRekey {
                rekeyed(machine, outcome)
                if outcome.reason == .rolledBack, shortened.contains(machine.index) { counts.note(.publishedLost) }
            } else if try FileView(machine: machine).origin != before {
                throw Violation("P14", "machine \(machine.index) changed its name without a word")
            }
            note("machine \(machine.index) is up")
            unsettled.remove(machine.index)
            shortened.remove(machine.index)
        } catch let error as Violation {
            attempt { throw error }
        } catch {
            note("machine \(machine.index) does not come up: \(SyncError(wrapping: error).code)")
            if machine.isDead {
                counts.note(.crashDuringRestart)
            } else if machine.hasFailed {
                counts.note(.startFailed)
            }
            attempt { if machine.isDead { try crash(machine) } }
            scheduler.after(1_000) { [unowned self] in start(machine) }
        }
    }

    func rekeyed(_ machine: Machine, _ outcome: NewIdentity.Outcome) {
        rekeys[machine.index] = outcome
        note("machine \(machine.index) is \(outcome.new) instead of \(outcome.old): \(outcome.reason)")
        switch outcome.reason {
        case .copied, .cloned: counts.note(.rekeyCopied)
        case .rolledBack: counts.note(.rekeyRolledBack)
        case .outrun, .contradicted: counts.note(.rekeyOutrun)
        case .manual: counts.note(.rekeyManual)
        }
        if outcome.reissued > 0 { counts.note(.reissued) }
    }
}
