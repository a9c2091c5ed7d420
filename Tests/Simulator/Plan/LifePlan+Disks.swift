import SimulatedDisk
import TestSupport

extension LifePlan {
    /// Each kind by a stream of its own.
    static func kindsOfDisks(_ streams: Streams) -> Set<FaultKind> {
        var kinds: Set<FaultKind> = []
        for (number, kind) in FaultKind.ofDisks.enumerated() {
            var random = streams.stream(.storage, number)
            if random.chance(45) { kinds.insert(kind) }
        }
        return kinds
    }

    static func diskFaults(
        _ count: Int, _ kinds: Set<FaultKind>, _ duration: Int64, _ streams: Streams
    ) -> [Step] {
        var steps: [Step] = []
        for (number, kind) in FaultKind.ofDisks.enumerated() where kinds.contains(kind) {
            var random = streams.stream(.storage, FaultKind.ofDisks.count + number)
            for _ in 0..<random.between(2...6) {
                let time = Int64(random.below(Int(duration)))
                let machine = random.below(count)
                // Nobody can keep what a sync that failed left behind once the power goes, too.
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
        time = Int64(random.pick([100, 2_000, 10_000, 40_000]))
        let first = random.between(1...random.pick([5, 20, 80]))
        let syncs: SimulatedDisk.Operations = sparesSyncs ? [.sync, .namesSync] : []
        switch kind {
        case .crashAtWrite:
            fault = .init(random.pick([.crashBefore, .crashAfter]), .at(first), of: .changes)
        case .powerLoss:
            let place = SimulatedDisk.Fault(random.pick([.crashBefore, .crashAfter]), .at(first), of: .changes)
            fault = random.chance(30) ? nil : place
        case .diskError:
            let rate = SimulatedDisk.Fault.Moment.random(perMillion: random.pick([5_000, 50_000, 300_000]), seed: seed)
            fault = random.pick([
                .init(.fail, .at(first), of: SimulatedDisk.Operations.all.subtracting(syncs)),
                .init(.fail, .at(first), of: SimulatedDisk.Operations.changes.subtracting(syncs)),
                .init(.fail, .from(first), of: SimulatedDisk.Operations.all.subtracting(syncs)),
                .init(.fail, rate, of: SimulatedDisk.Operations.all.subtracting(syncs)),
                .init(.short, .at(first), of: .write),
                .init(.short, rate, of: .write),
            ])
        default:
            fault = .init(.full, .from(first), of: [.open, .write, .truncate, .shareMap])
        }
    }
}
