import Journal
import MergeModel
import Sync
import TestSupport

extension ScenarioPlan {
    /// - Parameters:
    ///   - profile: nil to draw one.
    ///   - mute: Kinds that do not happen. All other choices stay the same.
    ///   - keep: The numbers of the steps to keep; nil for all.
    init(seed: UInt64, profile wanted: Profile? = nil, mute: Set<FaultKind> = [], keep: Set<Int>? = nil) {
        let streams = Streams(seed: seed)
        var topology = streams.stream(.topology)
        var faults = streams.stream(.faults)
        let drawn = topology.pick([
            Profile.all, .all, .all, .all, .all, .none, .network, .processes, .clocks, .identity, .identity,
        ])
        let profile = wanted ?? drawn
        let count = topology.pick([2, 2, 3, 3, 3, 4, 4, 5, 6, 7])
        var follows = ScenarioPlan.follows(count, &topology)
        var peers = streams.stream(.peers)
        let hasByzantinePeer = [.all, .network].contains(profile) && peers.chance(30)
        let disks = [.all, .disks].contains(profile) ? ScenarioPlan.kindsOfDisks(streams) : []
        var contention = streams.stream(.contention)
        let drawnKinds = ScenarioPlan.kinds(profile, &faults).union(hasByzantinePeer ? [.byzantinePeer] : []).union(
            disks
        ).union(
            contention.chance(50) ? [.contention] : []
        ).union(ScenarioPlan.hasBuggify(streams) ? [.buggify] : []).union(ScenarioPlan.kindsOfCompaction(streams))
            .union(ScenarioPlan.kindsOfMigrations(streams)).union(ScenarioPlan.kindsOfArchives(streams))
            .union(ScenarioPlan.kindsOfHubs(streams)).union(ScenarioPlan.kindsOfSecondArchives(streams))
            .union(ScenarioPlan.kindsOfDirections(streams))
        var kinds = drawnKinds.subtracting(mute)
        if !kinds.contains(.archive) { kinds.subtract([.secondArchive, .hub, .hubCrash, .hubMove]) }
        let knobs = topology.pick(["", "", "", "uniques,checks", "uniques,foreignKeys,softKeys,checks", "schemaSteps"])
        let hasConstraints = knobs.hasPrefix("uniques")
        let schema = HistorySchema(variant: topology.next() >> 16, knobs: HistoryKnobs(named: knobs))
        let duration = Int64(topology.pick([30_000, 60_000, 120_000, 240_000]))
        let ranks = (0..<count).map { $0 }.shuffled(using: &topology)

        var clockStream = streams.stream(.clocks)
        let mayDrift = !kinds.isDisjoint(with: FaultKind.ofClocks)
        let clocks = (0..<count).map { _ in ClockPlan(&clockStream, mayDrift: mayDrift) }

        self.seed = seed
        self.profile = profile
        self.kinds = kinds
        self.machines = count
        self.ranks = ranks
        self.archives = ScenarioPlan.archives(&follows, kinds, streams)
        self.hubs = ScenarioPlan.hubs(archives.first, kinds, streams)
        self.follows = follows
        self.directions = ScenarioPlan.directions(follows, kinds, streams)
        self.byzantinePeer =
            kinds.contains(.byzantinePeer) ? (0..<count).map { _ in peers.pick(ByzantinePeer.Manner.allCases) } : []
        self.clocks = clocks
        self.durabilities = ScenarioPlan.durabilities(count, kinds, streams)
        self.pageBytes = ScenarioPlan.pageBytes(count, kinds, streams)
        var limits = ScenarioPlan.limits(&topology, comparesSoon: kinds.contains(.bitRot))
        if kinds.contains(.buggify) { limits.shrink(streams) }
        if kinds.contains(.compaction) { limits.compactSoon(streams) }
        if kinds.contains(.archive) { limits.archiveSoon(streams, collects: kinds.contains(.compaction)) }
        if hubs != nil { limits.hurryHubs(streams) }
        self.limits = limits
        self.network = NetworkPlan(kinds: kinds, &faults)
        self.shufflesTasks = topology.chance(60)
        self.schema = schema
        self.hasConstraints = hasConstraints
        self.duration = duration
        var steps = ScenarioPlan.writes(count, schema, duration, streams, kinds)
        steps += ScenarioPlan.migrations(count, schema, duration, &faults)
        steps += ScenarioPlan.faults(count, kinds, duration, &faults)
        steps += ScenarioPlan.diskFaults(count, kinds, duration, streams)
        if kinds.contains(.markedMigration) {
            steps += ScenarioPlan.markedMigrations(count, schema, duration, streams)
        }
        if kinds.contains(.buggify) { steps += ScenarioPlan.buggify(count, duration, streams) }
        if kinds.isSuperset(of: [.compaction, .forget]) {
            steps += ScenarioPlan.forgettings(count, duration, streams)
        }
        steps += ScenarioPlan.storeFaults(kinds, duration, streams)
        if kinds.contains(.secondArchive) {
            steps += ScenarioPlan.storeFaults(ofSecond: true, kinds, duration, streams)
        }
        if kinds.contains(.hubCrash) { steps += ScenarioPlan.hubCrashes(hubs, duration, streams) }
        steps += [duration / 3, duration * 2 / 3].map { Step(time: $0, action: .check) }
        steps.sort { $0.time < $1.time }
        self.steps = steps.enumerated().filter { keep?.contains($0.offset) ?? true }.map(\.element)
    }

    // MARK: - Machines and links

    private static func follows(_ count: Int, _ random: inout SplitMix) -> [[Int]] {
        var pairs: [(Int, Int)] = []
        switch random.below(5) {
        case 0: for a in 0..<count { for b in 0..<a { pairs.append((a, b)) } }
        case 1: for a in 1..<count { pairs.append((a, 0)) }
        case 2: for a in 1..<count { pairs.append((a, a - 1)) }
        case 3:
            for a in 1..<count { pairs.append((a, a - 1)) }
            if count > 2 { pairs.append((0, count - 1)) }
        default:
            // Two islands, each a mesh, with one bridge.
            let middle = max(1, count / 2)
            for a in 0..<count { for b in 0..<a where (a < middle) == (b < middle) { pairs.append((a, b)) } }
            if middle < count { pairs.append((middle, middle - 1)) }
        }
        var follows = Array(repeating: [Int](), count: count)
        for (a, b) in pairs {
            switch random.below(3) {
            case 0: follows[a].append(b)
            case 1: follows[b].append(a)
            default:
                follows[a].append(b)
                follows[b].append(a)
            }
        }
        return follows
    }

    private static func kinds(_ profile: Profile, _ random: inout SplitMix) -> Set<FaultKind> {
        let possible: Set<FaultKind> =
            switch profile {
            case .none, .disks: []
            case .network: FaultKind.ofNetwork
            case .processes: FaultKind.ofProcesses
            case .clocks: FaultKind.ofClocks
            case .identity: FaultKind.ofIdentity
            case .all: Set(FaultKind.allCases)
            }
        // Each kind takes one draw, so that a new kind changes as little as possible.
        return Set(FaultKind.drawn.filter { _ in random.chance(55) }).intersection(possible)
    }

    /// - Parameter comparesSoon: True when a comparison of contents has something to find.
    private static func limits(_ random: inout SplitMix, comparesSoon: Bool) -> Limits {
        var limits = Limits.standard
        // A row that differs from the journal is what other runs look for.
        limits.recapturesByItself = comparesSoon
        limits.rekeysPerDay = 10_000
        limits.compactionMilliseconds = nil
        limits.conflictRetention.days = 1_000_000
        limits.conflictRetention.entriesPerKey = 1_000_000
        if random.chance(60) { limits.changesPerBatch = random.pick([1, 2, 3, 5, 20]) }
        if random.chance(30) { limits.bytesPerBatch = random.pick([32, 200, 2_000]) }
        if random.chance(40) { limits.bytesPerPush = random.pick([1, 300, 5_000]) }
        if random.chance(40) { limits.bytesPerPull = random.pick([1, 300, 5_000]) }
        // With 0, every part goes to the file.
        if random.chance(50) { limits.pendingBytes = random.pick([0, 500]) }
        if random.chance(30) || comparesSoon { limits.comparisonIntervalMilliseconds = 20_000 }
        limits.comparisonRetryMilliseconds = 5_000
        limits.sweepMilliseconds = 60_000
        limits.unfinishedMilliseconds = 120_000
        limits.longPollSeconds = random.pick([1, 5, 25])
        limits.backoffCeilingMilliseconds = random.pick([2_000, 30_000])
        return limits
    }

    // MARK: - Steps

    private static func writes(
        _ count: Int, _ schema: HistorySchema, _ duration: Int64, _ streams: Streams, _ kinds: Set<FaultKind>
    ) -> [Step] {
        var steps: [Step] = []
        var total = streams.stream(.workload)
        let perMachine = total.pick([5, 12, 12, 25, 40])
        for machine in 0..<count {
            var random = streams.stream(.workload, machine + 1)
            let tables = schema.reference
            for _ in 0..<random.between(1...perMachine) {
                let statements = (0..<random.pick([0, 1, 1, 1, 2, 3, 6])).map { _ in
                    HistoryStatement.random(on: tables, &random)
                }
                let tokens = random.pick([1, 1, 1, 2, 3, 8])
                let time = Int64(random.below(Int(duration)))
                let isMarked = random.chance(70)
                let crashes = random.chance(6)
                steps.append(
                    Step(
                        time: time,
                        action: .write(
                            machine: machine, statements, tokens: tokens, isMarked: isMarked,
                            crashes: crashes && kinds.contains(.writerCrash))))
            }
        }
        return steps
    }

    private static func migrations(
        _ count: Int, _ schema: HistorySchema, _ duration: Int64, _ random: inout SplitMix
    ) -> [Step] {
        schema.additions.indices.flatMap { addition in
            (0..<count).filter { _ in random.chance(80) }.map { machine in
                Step(
                    time: Int64(random.below(Int(duration))),
                    action: .migrate(machine: machine, addition: addition))
            }
        }
    }

    private static func faults(
        _ count: Int, _ kinds: Set<FaultKind>, _ duration: Int64, _ random: inout SplitMix
    ) -> [Step] {
        var steps: [Step] = []
        for kind in FaultKind.drawn {
            var own = SplitMix(seed: random.next())
            guard kinds.contains(kind) else { continue }
            for _ in 0..<own.between(1...4) {
                let time = Int64(own.below(Int(duration)))
                let machine = own.below(count)
                let pause = Int64(own.pick([100, 2_000, 10_000, 40_000]))
                guard let action = action(kind, machine, pause, count, kinds, &own) else { continue }
                if [.restore, .restoreInPlace].contains(kind) {
                    steps.append(Step(time: Int64(own.below(Int(max(1, time)))), action: .backUp(machine: machine)))
                }
                steps.append(Step(time: time, action: action))
            }
        }
        return steps
    }

    private static func action(
        _ kind: FaultKind, _ machine: Int, _ pause: Int64, _ count: Int, _ kinds: Set<FaultKind>,
        _ random: inout SplitMix
    ) -> Action? {
        let recoversBadly = random.chance(20)
        switch kind {
        case .crash: return .crash(machine: machine, .now, downFor: pause, recoversBadly: recoversBadly)
        case .crashBeforeCommit:
            return .crash(
                machine: machine, .beforeCommit(random.between(1...6)), downFor: pause, recoversBadly: recoversBadly)
        case .crashAfterCommit:
            return .crash(
                machine: machine, .afterCommit(random.between(1...6)), downFor: pause, recoversBadly: recoversBadly)
        case .stop: return .stop(machine: machine, downFor: pause)
        case .lock: return .lock(machine: machine, for: pause)
        case .partition, .oneWay:
            let side = (0..<count).filter { _ in random.chance(50) }
            return .partition(side, isOneWay: kind == .oneWay, for: pause)
        case .jump:
            return .jump(
                machine: machine, milliseconds: Int64(random.pick([-500_000, -60_000, -1_000, 1_000, 60_000, 500_000])))
        case .jumpOfYears:
            return .jump(machine: machine, milliseconds: Int64(random.pick([-10, -1, 1, 10])) * 365 * 86_400_000)
        case .frozenClock: return .freeze(machine: machine, for: pause)
        case .restore: return .restore(machine: machine, isInPlace: false, keepsRecord: random.chance(50))
        case .restoreInPlace:
            // When the record is restored too, only a peer can tell: one that knows everything that was
            // published, before any other asks.
            let goesBack = random.chance(70)
            let isTold = count == 2 && kinds.isDisjoint(with: [.clone, .duplicated, .replayed, .archive])
            return .restore(machine: machine, isInPlace: true, keepsRecord: !(isTold && goesBack))
        case .clone: return .clone(machine: machine, keepsRecord: random.chance(50))
        case .rekey: return .rekey(machine: machine)
        case .writerCrash, .refused, .requestCut, .requestFlipped, .answerCut, .answerLost, .answerFlipped, .duplicated,
            .replayed, .stalled, .byzantinePeer, .crashAtWrite, .powerLoss, .diskError, .diskFull, .diskBusy,
            .normalCommits,
            .bitRot, .contention, .buggify, .compaction, .forget, .markedMigration,
            .directions, .archive, .secondArchive, .storeDown, .storeRestored, .storeDamage, .hub, .hubCrash, .hubMove:
            // These kinds are parts of writes or of requests, apply all the time, or are drawn elsewhere.
            return nil
        }
    }
}

extension NetworkPlan {
    fileprivate init(kinds: Set<FaultKind>, _ random: inout SplitMix) {
        delay = random.pick([0...0, 1...20, 1...20, 20...300, 1...2_000])
        for kind in FaultKind.drawn {
            let rate = random.pick([0.02, 0.05, 0.15, 0.3])
            if kinds.contains(kind) { rates[kind] = rate }
        }
    }
}

extension ScenarioPlan.ClockPlan {
    /// - Parameter mayDrift: False for clocks that run evenly.
    fileprivate init(_ random: inout SplitMix, mayDrift: Bool) {
        offset = Int64(random.pick([0, 0, 0, 1, 5, -1_000, 60_000]))
        let wanted = Int64(random.pick([0, 0, 200, -200, 20_000, -20_000, 100_000]))
        drift = mayDrift ? wanted : 0
    }
}
