import Journal
import SimulatedDisk
import TestSupport

extension ScenarioPlan {
    /// Draws each kind from a stream of its own, so that a new kind does not change scenarios without it.
    static func kindsOfDisks(_ streams: Streams) -> Set<FaultKind> {
        var kinds: Set<FaultKind> = []
        for (number, kind) in FaultKind.ofDisks.enumerated() {
            var random = streams.stream(.storage, numbers(ofStreamsFor: number).whether)
            if random.chance(kind == .diskBusy ? 25 : 45) { kinds.insert(kind) }
        }
        var durability = streams.stream(.durability)
        // Only a loss of power shows the difference.
        if durability.chance(50), kinds.contains(.powerLoss) { kinds.insert(.normalCommits) }
        var bitRot = streams.stream(.bitRot)
        if bitRot.chance(30) { kinds.insert(.bitRot) }
        return kinds
    }

    /// The streams that decide whether a kind happens, and when. The first four kinds share the numbers 0
    /// to 7.
    private static func numbers(ofStreamsFor kind: Int) -> (whether: Int, when: Int) {
        kind < 4 ? (kind, kind + 4) : (2 * kind, 2 * kind + 1)
    }

    static func durabilities(_ count: Int, _ kinds: Set<FaultKind>, _ streams: Streams) -> [DurabilityPlan] {
        var random = streams.stream(.durability, 1)
        let possible = [
            DurabilityPlan(), DurabilityPlan(program: .normal), DurabilityPlan(program: .normal, daemon: .normal),
        ]
        let drawn = (0..<count).map { _ in random.pick(possible) }
        return kinds.contains(.normalCommits) ? drawn : drawn.map { _ in DurabilityPlan() }
    }

    static func diskFaults(
        _ count: Int, _ kinds: Set<FaultKind>, _ duration: Int64, _ streams: Streams
    ) -> [Step] {
        var steps: [Step] = []
        for (number, kind) in FaultKind.ofDisks.enumerated() where kinds.contains(kind) {
            var random = streams.stream(.storage, numbers(ofStreamsFor: number).when)
            for _ in 0..<random.between(2...6) {
                let time = Int64(random.below(Int(duration)))
                let machine = random.below(count)
                // The writes of a failed sync cannot survive a later loss of power, so no plan has both.
                let sparesSyncs = kinds.contains(.powerLoss)
                let fault = DiskFault(kind, sparesSyncs: sparesSyncs, &random)
                steps.append(Step(time: time, action: .disk(machine: machine, fault)))
            }
        }
        return steps
    }
}

extension DiskFault {
    fileprivate init(_ kind: FaultKind, sparesSyncs: Bool, _ random: inout SplitMix) {
        self.kind = kind
        seed = random.next()
        isAtStart = random.chance(25)
        let first = random.between(1...random.pick([5, 20, 80]))
        let pause = Int64(random.pick([100, 2_000, 10_000, 40_000]))
        switch kind {
        case .crashAtWrite, .powerLoss:
            let moment = SimulatedDisk.Fault(
                random.pick([.crashBefore, .crashAfter]), .at(first), of: random.pick([.changes, .changes, .sync]))
            let isEarly = kind == .powerLoss && random.chance(35)
            // An unsynced commit may then be in the log, and every process sees it until the power fails.
            lead = isEarly ? Int64(random.pick([2, 50, 1_000])) : 0
            let unsynced = SimulatedDisk.Fault(.crashBefore, .at(random.between(1...4)), of: .sync, on: .log)
            fault = isEarly ? unsynced : kind == .powerLoss && random.chance(30) ? nil : moment
            time = pause
        case .diskError:
            let rate = SimulatedDisk.Fault.Moment.random(perMillion: random.pick([5_000, 50_000, 300_000]), seed: seed)
            let moment = random.pick([.at(first), .at(first), .from(first), rate])
            let operations = random.pick([SimulatedDisk.Operations.all, .changes]).subtracting(
                sparesSyncs ? [.sync, .namesSync] : [])
            fault =
                random.chance(30) ? .init(.short, moment, of: .write) : .init(.fail, moment, of: operations)
            // A fault that happens once needs time to happen.
            time = moment == .at(first) ? 60_000 : pause
            lead = 0
        case .diskBusy:
            let rate = SimulatedDisk.Fault.Moment.random(perMillion: random.pick([50_000, 300_000]), seed: seed)
            fault = .init(.busy, random.pick([rate, rate, .from(first)]), of: .locks, on: .database)
            time = pause
            lead = 0
        default:
            fault = .init(.full, .from(first), of: [.open, .write, .truncate, .shareMap])
            time = pause
            lead = 0
        }
    }
}
