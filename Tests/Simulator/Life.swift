import Journal
import MergeModel
import SimulatedDisk
import Sync
import TestSupport

/// A plan at work: machines, their network, what befalls them, and the checks that hold at every moment.
///
/// Unchecked: see ``Scheduler``.
final class Life: @unchecked Sendable {
    let plan: LifePlan
    let scheduler: Scheduler
    let network: Network
    private(set) var machines: [Machine] = []
    private(set) var counts = Counts()
    private(set) var trace: Trace
    private(set) var follows: [[Int]]

    private let streams: Streams
    private var watches: [MachineWatch] = []
    /// The number of commits to each file when it was last looked at.
    private var checked: [Int] = []
    private var publications: Publications
    private var knowledge = KnowledgeMap()
    private var backups: [Int: ReplicaFiles] = [:]
    /// Machines whose file is another one than before, which no daemon has looked at yet.
    private var unsettled: Set<Int> = []
    /// Machines whose file was restored without a trace, and the name that it bears since: the first contact with a peer tells.
    private var unproven: [Int: OriginID] = [:]
    /// The last new name of each machine that was noticed.
    private var rekeys: [Int: Rekey.Outcome] = [:]
    private var written: Set<Int> = []
    private var acknowledged: Set<Int> = []
    /// Those whose commit ended with an error of the disk.
    private var unconfirmed: Set<Int> = []
    /// What a restored file may have taken away for good: nobody else had seen it.
    private var mayBeLost: Set<Int> = []
    private var violation: (any Error)?
    private var latestTime: Int64
    private var locks: [Int: RawConnection] = [:]

    init(_ plan: LifePlan, prints: ClosedRange<Int>? = nil) throws {
        self.plan = plan
        streams = Streams(seed: plan.seed)
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
                    index, schema: plan.schema, origin: Life.origin(plan.ranks[index]), clock: clock,
                    scheduler: scheduler, entropy: streams.stream(.entropy, index)))
        }
        connect()
    }

    private static func origin(_ rank: Int) -> OriginID { OriginID(high: UInt64(0x10 * (rank + 1)) << 56, low: 1) }

    private func add(_ machine: Machine) {
        machines.append(machine)
        watches.append(MachineWatch())
        checked.append(-1)
        machine.note = { [unowned self] kind in counts.note(kind) }
        machine.whenDead = { [unowned self, unowned machine] in attempt { try crash(machine) } }
    }

    private var downTimes: [Int: Int64] = [:]

    private func connect() {
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

    private func note(_ line: @autoclosure () -> String) { trace.note(scheduler.now, line()) }

    /// Keeps the first failure until the event is over: callbacks of production code cannot throw.
    private func attempt(_ body: () throws -> Void) {
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

    private func transports(_ machine: Machine) -> [any Transport] {
        var transports: [any Transport] = follows[machine.index].map { peer in
            SimulatedTransport(
                name: "machine-\(peer)", network: network, from: machine.index, to: peer, limits: plan.limits)
        }
        if machine.index < plan.badPeers.count {
            counts.note(FaultKind.badPeer)
            transports.insert(BadPeer(manner: plan.badPeers[machine.index], clock: machine.clock), at: 0)
        }
        return transports
    }

    /// Starts the daemon, now or as soon as it can.
    private func start(_ machine: Machine) {
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
            } else if try FileView(machine: machine).origin != before {
                throw Violation("P14", "machine \(machine.index) changed its name without a word")
            }
            note("machine \(machine.index) is up")
            unsettled.remove(machine.index)
        } catch let error as Violation {
            attempt { throw error }
        } catch {
            note("machine \(machine.index) does not come up: \(SyncError(wrapping: error).code)")
            if machine.isDead { counts.note(.crashDuringRestart) } else if machine.hasFailed { counts.note(.startFailed) }
            attempt { if machine.isDead { try crash(machine) } }
            scheduler.after(1_000) { [unowned self] in start(machine) }
        }
    }

    private func rekeyed(_ machine: Machine, _ outcome: Rekey.Outcome) {
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

    /// All processes on the machine die, or have died.
    ///
    /// - Parameters:
    ///   - downFor: Until the daemon starts again; nil for as long as the step says that led to the death.
    ///   - seed: Of a loss of power now.
    private func crash(_ machine: Machine, downFor: Int64? = nil, losingPower seed: UInt64? = nil) throws {
        let wasUp = machine.isUp
        let hadShownUnsynced = machine.showsUnsynced
        let lock = locks.removeValue(forKey: machine.index)
        let unsynced = try machine.crash(losingPower: seed)
        if lock != nil { note("the lock of machine \(machine.index) ends with the crash") }
        network.disconnect(machine.index)
        if let unsynced {
            note("machine \(machine.index) has lost its power, with \(unsynced) B that were not synced")
            if unsynced > 0 { counts.note(.powerTookWrites) }
            if hadShownUnsynced {
                watches[machine.index].fallBack()
                forgetUnpublished(of: machine)
            }
        } else {
            note("machine \(machine.index) is dead")
            if machine.showsUnsynced, !hadShownUnsynced { watches[machine.index].remember() }
        }
        if try !FileView(machine: machine).staged().isEmpty { counts.note(.stagedOverCrash) }
        guard wasUp else { return }
        scheduler.after(downFor ?? downTimes[machine.index] ?? 1_000) { [unowned self] in start(machine) }
    }

    private func stop(_ machine: Machine, downFor: Int64) throws {
        guard machine.isUp else { return }
        try machine.stop()
        // Its disk did not let it end in order.
        if machine.isUp || machine.isDead { return try crash(machine, downFor: downFor) }
        network.disconnect(machine.index)
        note("machine \(machine.index) is stopped")
        scheduler.after(downFor) { [unowned self] in start(machine) }
    }

    // MARK: - Steps

    private func perform(_ action: LifePlan.Action) throws {
        switch action {
        case .write(let index, let statements, let tokens, let isMarked, let crashes):
            try write(machines[index], statements, tokens: tokens, isMarked: isMarked, dies: crashes)
        case .crash(let index, let point, let downFor, let recoversBadly):
            try crash(machines[index], point, downFor: downFor, recoversBadly: recoversBadly)
        case .disk(let index, let fault):
            try perform(fault, on: machines[index])
        case .stop(let index, let downFor):
            guard machines[index].isUp else { return }
            counts.note(FaultKind.stop)
            try stop(machines[index], downFor: downFor)
        case .lock(let index, let time):
            try lock(machines[index], for: time)
        case .partition(let side, let isOneWay, let time):
            partition(side, isOneWay: isOneWay, for: time)
        case .jump(let index, let milliseconds):
            counts.note(abs(milliseconds) > 86_400_000 ? FaultKind.jumpOfYears : .jump)
            machines[index].clock.jump(by: milliseconds)
            note("the clock of machine \(index) jumps by \(milliseconds) ms")
        case .freeze(let index, let time):
            counts.note(FaultKind.frozenClock)
            machines[index].clock.stop()
            note("the clock of machine \(index) stands still")
            scheduler.after(time) { [unowned self] in machines[index].clock.goOn() }
        case .backUp(let index):
            backups[index] = machines[index].files()
            note("machine \(index) is backed up")
        case .restore(let index, let isInPlace, let keepsRecord):
            try restore(machines[index], isInPlace: isInPlace, keepsRecord: keepsRecord)
        case .clone(let index, let keepsRecord):
            try clone(machines[index], keepsRecord: keepsRecord)
        case .rekey(let index):
            try rekey(machines[index])
        case .migrate(let index, let addition):
            let isKnown = try FileView(machine: machines[index]).knows(plan.schema.additions[addition])
            if isKnown { counts.note(.joined) }
            if try machines[index].migrate(addition) { note("machine \(index) has addition \(addition)") }
            if machines[index].isDead { try crash(machines[index]) }
        case .check:
            for machine in machines where machine.isUp { try checkDeeply(machine) }
        }
    }

    private func write(
        _ machine: Machine, _ statements: [String], tokens: Int, isMarked: Bool, dies: Bool
    ) throws {
        let transaction = (written.max() ?? 0) + 1
        written.insert(transaction)
        // The tokens stand somewhere in the middle.
        var all = statements
        all.insert(TokenTable.insert(txn: transaction, count: tokens), at: statements.count / 2)
        latestTime = max(latestTime, machine.clock.wallMilliseconds())
        let outcome = try machine.write(all, isMarked: isMarked, dies: dies)
        counts.statements += all.count
        note("machine \(machine.index) writes \(transaction): \(outcome)")
        switch outcome {
        case .committed:
            counts.transactions += 1
            // A constraint may have refused only this statement.
            let isThere =
                try FileView(machine: machine).number("SELECT count(*) FROM token WHERE txn = \(transaction)") > 0
            guard isThere else { return }
            acknowledged.insert(transaction)
            watches[machine.index].acknowledge(transaction)
        case .failed: break
        case .died: counts.note(FaultKind.writerCrash)
        case .unconfirmed(let code):
            unconfirmed.insert(transaction)
            let isFull = code & 0xFF == Machine.codeOfFullDisk
            counts.note(machine.isDead ? .diedWriting : isFull ? .fullRefused : .commitFailed)
        }
        if machine.isDead { try crash(machine) }
    }

    private func crash(
        _ machine: Machine, _ point: LifePlan.CrashPoint, downFor: Int64, recoversBadly: Bool
    ) throws {
        guard machine.isUp else {
            // It dies while it starts.
            if recoversBadly, point != .now { machine.fuse = point }
            return
        }
        downTimes[machine.index] = downFor
        switch point {
        case .now:
            counts.note(FaultKind.crash)
            try crash(machine, downFor: downFor)
            if recoversBadly { machine.fuse = .afterCommit(1) }
        case .beforeCommit:
            counts.note(FaultKind.crashBeforeCommit)
            machine.fuse = point
        case .afterCommit:
            counts.note(FaultKind.crashAfterCommit)
            machine.fuse = point
        }
    }

    private func perform(_ fault: DiskFault, on machine: Machine) throws {
        note("\(fault.kind.rawValue) at the disk of machine \(machine.index)")
        if fault.isDeadly { downTimes[machine.index] = fault.time }
        guard fault.fault != nil else {
            counts.note(fault.kind)
            return try crash(machine, downFor: fault.time, losingPower: fault.seed)
        }
        if fault.isAtStart { try crash(machine, downFor: 100) }
        machine.arm(fault)
        guard !fault.isDeadly else { return }
        scheduler.after(fault.time) { [unowned self] in
            machine.endFaults()
            note("the disk of machine \(machine.index) works")
        }
    }

    private func lock(_ machine: Machine, for time: Int64) throws {
        guard locks[machine.index] == nil else { return }
        let holder = try machine.connect()
        guard holder.execute("BEGIN IMMEDIATE") == 0 else { return }
        counts.note(FaultKind.lock)
        locks[machine.index] = holder
        note("machine \(machine.index) is locked")
        scheduler.after(time) { [unowned self] in unlock(machine) }
    }

    private func unlock(_ machine: Machine) {
        guard let holder = locks.removeValue(forKey: machine.index) else { return }
        _ = holder.execute("ROLLBACK")
        machine.signals.signal()
    }

    private func partition(_ side: [Int], isOneWay: Bool, for time: Int64) {
        counts.note(isOneWay ? FaultKind.oneWay : .partition)
        let others = machines.indices.filter { !side.contains($0) }
        note("\(side) \(isOneWay ? "do not reach" : "are apart from") \(others)")
        let links = side.flatMap { a in others.flatMap { b in isOneWay ? [(a, b)] : [(a, b), (b, a)] } }
        for (a, b) in links { network.block(from: a, to: b) }
        scheduler.after(time) { [unowned self] in for (a, b) in links { network.unblock(from: a, to: b) } }
    }

    // MARK: - Files and names

    private func restore(_ machine: Machine, isInPlace: Bool, keepsRecord: Bool) throws {
        guard let backup = backups[machine.index] else { return }
        counts.note(isInPlace ? FaultKind.restoreInPlace : .restore)
        counts.livesWithCopies = 1
        if machine.isUp { try crash(machine, downFor: 1_000) }
        unlock(machine)
        let before = try transactions(of: machine)
        try machine.restore(backup, isInPlace: isInPlace, withRecord: !keepsRecord)
        unsettled.insert(machine.index)
        if isInPlace, !keepsRecord { try forgetTraces(of: machine) }
        forgetUnpublished(of: machine)
        note("machine \(machine.index) is restored\(isInPlace ? " in place" : "")")
        // What nobody else holds is gone for good, unless it is on its way.
        var gone = before.subtracting(try transactions(of: machine))
        for other in machines where other !== machine { gone.subtract(try transactions(of: other)) }
        mayBeLost.formUnion(gone)
        watches[machine.index].forget()
    }

    /// Numbers that nobody else has seen may be given again.
    private func forgetUnpublished(of machine: Machine) {
        for origin in knowledge.origins
        where !machines.contains(where: { $0 !== machine && watches[$0.index].origin == origin }) {
            knowledge.forget(origin, beyond: publications.latest(of: origin))
        }
    }

    /// Nothing at the file tells that it is older: what was sent from it, and nobody got, is sent again with another content.
    private func forgetTraces(of machine: Machine) throws {
        let name = try FileView(machine: machine).origin
        unproven[machine.index] = name
        guard let name else { return }
        let held = try machines.filter { $0 !== machine }.map { other in
            let view = FileView(machine: other)
            let durable = try view.vector().merged(with: view.staged())
            return max(durable[name], try other.daemon?.replicator.inbox.have()[name] ?? 0)
        }
        publications.forget(name, beyond: held.max() ?? 0)
    }

    private func transactions(of machine: Machine) throws -> Set<Int> {
        Set(
            try machine.rows("SELECT DISTINCT txn FROM token").compactMap { row in
                if case .integer(let number) = row[0] { Int(number) } else { nil }
            })
    }

    private func clone(_ source: Machine, keepsRecord: Bool) throws {
        guard machines.count < 8, locks[source.index] == nil else { return }
        counts.note(FaultKind.clone)
        counts.livesWithCopies = 1
        let index = machines.count
        let clock = MachineClock(scheduler, start: source.clock.wallMilliseconds() - scheduler.now, drift: 0)
        let machine = try Machine(
            index, copyOf: source, withRecord: keepsRecord, clock: clock, scheduler: scheduler,
            entropy: streams.stream(.entropy, index))
        note("machine \(index) is a copy of machine \(source.index)")
        add(machine)
        unsettled.insert(index)
        // It talks to the original, and to somebody else.
        follows.append(Array(Set([source.index, (source.index + 1) % index])).sorted())
        start(machine)
    }

    private func rekey(_ machine: Machine) throws {
        guard machine.isUp else { return }
        counts.note(FaultKind.rekey)
        do {
            if let outcome = try machine.inDaemon({ try $0.replicator.inbox.rekey() }) ?? nil {
                rekeyed(machine, outcome)
            }
        } catch {
            note("machine \(machine.index) takes no new name: \(SyncError(wrapping: error).code)")
        }
        if machine.isDead { try crash(machine) }
    }

    // MARK: - Checks

    private func watch(_ exchange: Exchange, isAnswer: Bool, _ bytes: [UInt8]) throws {
        note("\(isAnswer ? exchange.to : exchange.from) sends \(bytes.count) B of #\(exchange.number)")
        trace.append(bytes)
        switch (exchange.path, isAnswer) {
        case (WireHTTP.pushPath, false), (WireHTTP.pullPath, true):
            try publications.note(bytes, from: watches[isAnswer ? exchange.to : exchange.from].origin)
            if isAnswer {
                exchange.pieces += 1
                if exchange.pieces == 3 { counts.note(.manyFrames) }
            }
        case (WireHTTP.digestPath, true): counts.note(.compared)
        case (WireHTTP.pushPath, true): try checkAcknowledgement(exchange, bytes)
        default: break
        }
    }

    /// What a push's answer says is there, is there after a crash too (P4).
    private func checkAcknowledgement(_ exchange: Exchange, _ bytes: [UInt8]) throws {
        guard let reply = try? PushReply(decoding: bytes, limits: plan.limits) else { return }
        let view = FileView(machine: machines[exchange.to])
        let whole = try view.vector()
        let durable = try whole.merged(with: view.staged())
        guard durable.covers(reply.vector) else {
            throw Violation(
                "P4", "machine \(exchange.to) says that it has \(reply.vector), and its file holds \(durable)")
        }
        // Beginnings of transactions may be given up later.
        let promised = reply.vector.entries.map {
            VersionVector.Entry(origin: $0.origin, version: min($0.version, whole[$0.origin]))
        }
        watches[exchange.to].promise(VersionVector(promised.filter { $0.version > 0 }))
    }

    /// After every event, for each file that changed.
    private func checkQuiet() throws {
        if let violation { throw violation }
        for machine in machines where checked[machine.index] != machine.commits {
            checked[machine.index] = machine.commits
            try check(machine)
        }
    }

    private func check(_ machine: Machine) throws {
        counts.checks += 1
        let view = FileView(machine: machine)
        guard machine.logBytes < 16 << 20 else {
            throw Violation("P23", "the log of machine \(machine.index) has grown to \(machine.logBytes) bytes")
        }
        // A contact with a peer may have given it a new name.
        if let outcome = machine.daemon?.replicator.inbox.lastRekey, outcome != rekeys[machine.index] {
            rekeyed(machine, outcome)
        }
        let known = try watches[machine.index].check(view, written: written, &counts)
        // A local write can make room for held rows, and a migration joins columns, both a little later.
        guard !plan.hasConstraints, plan.schema.additions.isEmpty else { return }
        try compare(view, known)
    }

    private func compare(_ view: FileView, _ known: VersionVector) throws {
        // Its next changes go out under a new name, and are not called by the old one anywhere.
        guard !unsettled.contains(view.machine.index) else { return }
        if let name = unproven[view.machine.index] {
            guard try view.origin != name else { return }
            unproven[view.machine.index] = nil
        }
        let digest = try view.digest()
        trace.append([UInt8(truncatingIfNeeded: digest), UInt8(truncatingIfNeeded: digest >> 8)])
        if let other = knowledge.note(known, schema: view.machine.schemaName, digest, machine: view.machine.index) {
            let theirs = machines[other]
            let detail = try theirs.isUp ? Life.difference(theirs, view.machine) : ""
            throw Violation(
                "P1",
                "machine \(view.machine.index) knows \(known), as machine \(other) did, and holds something else\n\(detail)"
            )
        }
    }

    private static func difference(_ a: Machine, _ b: Machine) throws -> String {
        func content(_ machine: Machine) throws -> HistoryContent {
            try HistoryContent(schema: machine.schema, rows: machine.rows) {
                try machine.daemon?.replica.read { try ConflictEntry.all($0) } ?? []
            }
        }
        return HistoryContent.difference(try content(a), try content(b)).joined(separator: "\n")
    }

    private func checkDeeply(_ machine: Machine) throws {
        guard let daemon = machine.daemon, machine.fuse == nil, locks[machine.index] == nil else { return }
        let settles = plan.hasConstraints || !plan.schema.additions.isEmpty
        let outcome = try ModelCheck(machine: machine, daemon: daemon).run(settles: settles)
        counts.modelChecks += 1
        counts.changesChecked += outcome.changes
        for conflict in outcome.conflicts {
            switch conflict.kind {
            case "update/update": counts.note(.conflictUpdate)
            case "update/delete": counts.note(.conflictDelete)
            case "insert/insert": counts.note(.conflictInsert)
            default: counts.note(.conflictKeyChange)
            }
        }
        try compare(FileView(machine: machine), FileView(machine: machine).vector())
    }

    // MARK: - The end

    /// All faults end; then everybody comes to know and hold the same within bounded time (P21).
    private func live() throws {
        note("all faults end")
        network.heal()
        for machine in machines {
            unlock(machine)
            machine.fuse = nil
            machine.endFaults()
            latestTime = max(latestTime, machine.clock.wallMilliseconds())
        }
        for machine in machines { machine.clock.set(wall: latestTime + 1_000) }
        try becomeLevel()
        // Everybody has met a peer by now.
        unproven = [:]
        for machine in machines { try checkDeeply(machine) }
        try welcome()
        try checkEverywhere()
        counts.note(.redelivered, publications.redelivered)
        counts.note(.relayed, publications.relayed)
        counts.note(.morePull, publications.unfinished)
    }

    private func becomeLevel() throws {
        let end = scheduler.now + 900_000
        while true {
            try scheduler.run(until: scheduler.now + 2_000)
            if try isLevel() { break }
            guard scheduler.now < end else { throw try stuck() }
        }
    }

    /// Who comes last gets everything from one machine, in another order and in other batches than the others, and ends with the same (P7).
    private func welcome() throws {
        var random = streams.stream(.checks)
        let host = machines[random.below(machines.count)]
        let index = machines.count
        let clock = MachineClock(scheduler, start: host.clock.wallMilliseconds() - scheduler.now, drift: 0)
        let machine = try Machine(
            index, schema: plan.schema, origin: Life.origin(index), clock: clock, scheduler: scheduler,
            entropy: streams.stream(.entropy, index))
        for addition in host.additions.sorted() { _ = try machine.migrate(addition) }
        note("machine \(index) joins, and follows machine \(host.index)")
        add(machine)
        follows.append([host.index])
        start(machine)
        try becomeLevel()
        try checkDeeply(machine)
        counts.note(.newcomer)
    }

    private func isLevel() throws -> Bool {
        guard machines.allSatisfy(\.isUp) else { return false }
        let first = try FileView(machine: machines[0]).vector()
        for machine in machines {
            let view = FileView(machine: machine)
            guard try view.vector() == first, try view.staged().isEmpty else { return false }
        }
        return true
    }

    private func stuck() throws -> Violation {
        let lines = try machines.map { machine in
            let view = FileView(machine: machine)
            let peers = machine.daemon?.replicator.status().peers.map { peer in
                "\(peer.name) \(peer.failures) failures, \(peer.lastError?.message ?? "no error")"
            }
            return
                "  machine \(machine.index) \(machine.isUp ? "up" : "down") knows \(try view.vector()), staged \(try view.staged()); \(peers?.joined(separator: "; ") ?? "")"
        }
        return Violation("P21", "without faults for 15 minutes, and still not level:\n\(lines.joined(separator: "\n"))")
    }

    private func checkEverywhere() throws {
        let wanted = acknowledged.subtracting(mayBeLost)
        for machine in machines {
            if let lost = wanted.subtracting(try transactions(of: machine)).min() {
                throw Violation(
                    "P3", "transaction \(lost) was acknowledged and is nowhere near machine \(machine.index)")
            }
        }
        counts.note(.unconfirmedKept, try transactions(of: machines[0]).intersection(unconfirmed).count)
    }
}
