import Journal
import TestSupport

/// A history before it runs. The seed makes every choice and events make none, so leaving out a step does not
/// change the others.
struct HistoryPlan: Sendable {
    enum Step: Sendable {
        case write(replica: Int, [String], tick: Int64, isMarked: Bool)
        /// `target` takes what it lacks from `source`, in batches of at most `size` changes, and only the
        /// first `count` of them.
        case pull(target: Int, source: Int, size: Int, count: Int, order: Order)
        /// A program runs a migration with that name.
        case migrate(replica: Int, String, [String], tick: Int64)
        case restart(Int)
        case add(replica: Int, addition: Int)
        /// The journal loses what every replica has and no row needs.
        case compact(Int)
        /// The rows are compared with the journal. Before that, a program without triggers runs the statements.
        case recapture(Int, [String])
        /// `target` hears what `source` has merged, and what that has heard of others, and gets no change.
        case hear(target: Int, source: Int)
    }

    /// How the batches of one exchange arrive.
    struct Order: Sendable {
        /// Not in the sender's order. The batches of each origin stay in order.
        var shuffle: UInt64?
        /// All batches arrive twice.
        var isRepeated = false
        /// Batches pass through the codec, as over a wire.
        var isEncoded = false
    }

    let seed: UInt64
    let schema: HistorySchema
    let replicas: Int
    /// For each replica: its rank in the order of origins, the start of its clock, and whether it fires
    /// recursive triggers.
    let ranks: [Int]
    let offsets: [Int64]
    let recursiveTriggers: [Bool]
    var steps: [Step]

    /// Makes a plan without steps, for machines that fire recursive triggers.
    init(seed: UInt64, schema: HistorySchema, ranks: [Int], offsets: [Int64]) {
        self.seed = seed
        self.schema = schema
        self.ranks = ranks
        self.offsets = offsets
        replicas = ranks.count
        recursiveTriggers = ranks.map { _ in true }
        steps = []
    }

    init(seed: UInt64, knobs: HistoryKnobs) {
        var random = SplitMix(seed: seed)
        self.seed = seed
        schema = HistorySchema(variant: random.next() >> 16, knobs: knobs)
        let count = random.pick([2, 2, 3, 3, 3, 4, 5, 7])
        replicas = count
        ranks = (0..<count).map { $0 }.shuffled(using: &random)
        offsets = (0..<count).map { _ in Int64(random.pick([0, 0, 1, 5, 60_000])) }
        recursiveTriggers = (0..<count).map { _ in !knobs.lateEvictions || random.chance(80) }
        steps = []
        var schemas = Array(repeating: schema.reference, count: count)
        var added = Array(repeating: Set<Int>(), count: count)
        for _ in 0..<(8 + random.below(25)) {
            let index = random.below(count)
            switch random.below(100) {
            case 0..<55:
                let statements = (0...random.pick([0, 0, 0, 1, 1, 2, 3])).map { _ in
                    HistoryStatement.random(on: schemas[index], &random)
                }
                steps.append(
                    .write(
                        replica: index, statements, tick: Int64(random.pick([0, 0, 1, 1, 2, -3])),
                        isMarked: random.chance(70)))
            case 55..<89:
                let source = (index + 1 + random.below(count - 1)) % count
                let order = Order(
                    shuffle: knobs.reordering && random.chance(25) ? random.next() : nil,
                    isRepeated: random.chance(20), isEncoded: random.chance(20))
                steps.append(
                    .pull(
                        target: index, source: source, size: random.pick([1, 2, 3, 5, 100, 100]),
                        count: random.chance(25) ? 1 + random.below(3) : .max, order: order))
            case 89:
                steps.append(.restart(index))
            default:
                guard !schema.additions.isEmpty else { continue }
                let addition = random.below(schema.additions.count)
                steps.append(.add(replica: index, addition: addition))
                if added[index].insert(addition).inserted { schemas[index].add(schema.additions[addition]) }
            }
        }
        // In most histories every replica has every addition at the end.
        if random.chance(70) {
            for index in 0..<count {
                for addition in schema.additions.indices where !added[index].contains(addition) {
                    steps.append(.add(replica: index, addition: addition))
                }
            }
        }
        if knobs.migrations { drawMigrations() }
        if knobs.compaction { drawCompactions() }
        if knobs.recapture { drawRecaptures() }
    }

    /// Everyone hears of everything, and `center` hears that everyone has.
    private func meeting(at center: Int) -> [Step] {
        let others = (0..<replicas).filter { $0 != center }
        func pull(_ target: Int, _ source: Int) -> Step {
            .pull(target: target, source: source, size: 100, count: .max, order: Order())
        }
        return others.map { pull(center, $0) } + others.map { pull($0, center) } + others.map { pull(center, $0) }
            + others.map { pull($0, center) }
    }

    var hasCompactions: Bool {
        steps.contains { step in
            if case .compact = step { true } else { false }
        }
    }

    /// Draws from a stream of its own, so that the rest of a history is the same without compaction.
    private mutating func drawCompactions() {
        var random = SplitMix(seed: seed ^ 0xC0_4BAC_7104)
        guard random.chance(60) else { return }
        for _ in 0...random.below(6) {
            var drawn: [Step] = []
            // Little is stable in replicas that meet by chance.
            if random.chance(60) { drawn += meeting(at: random.below(replicas)) }
            drawn += (0..<random.below(4)).map { _ in
                let target = random.below(replicas)
                return .hear(target: target, source: (target + 1 + random.below(replicas - 1)) % replicas)
            }
            drawn += (0...random.below(replicas)).map { _ in .compact(random.below(replicas)) }
            steps.insert(contentsOf: drawn, at: random.below(steps.count + 1))
        }
    }
}

extension HistoryPlan {
    /// Draws from a stream of its own, too.
    private mutating func drawRecaptures() {
        var random = SplitMix(seed: seed ^ 0x4E_CA97_04E5)
        guard random.chance(30) else { return }
        for _ in 0...random.below(3) {
            let statements =
                random.chance(50)
                ? [] : (0...random.below(3)).map { _ in HistoryStatement.random(on: schema.reference, &random) }
            steps.insert(.recapture(random.below(replicas), statements), at: random.below(steps.count + 1))
        }
    }
}

extension HistoryPlan {
    /// Two migrations at most, each run on several replicas, at different times. Draws from a stream of its own, too.
    private mutating func drawMigrations() {
        var random = SplitMix(seed: seed ^ 0x316_4A7E)
        guard random.chance(40) else { return }
        for name in ["first", "second"].prefix(1 + random.below(2)) {
            let statements = (0...random.below(2)).map { _ in
                HistoryStatement.migration(of: schema.reference, &random)
            }
            for replica in 0..<replicas where random.chance(70) {
                steps.insert(
                    .migrate(replica: replica, name, statements, tick: Int64(random.pick([0, 1, 2, -3]))),
                    at: random.below(steps.count + 1))
            }
        }
    }
}

extension HistoryPlan: CustomStringConvertible {
    var description: String {
        (["replicas with the origins \(ranks.map { History.origin($0).short }.joined(separator: " "))"]
            + schema.statements
            + steps.map { step in
                switch step {
                case .write(let replica, let statements, let tick, let isMarked):
                    "\(replica), \(tick) ms later\(isMarked ? "" : ", unmarked"): \(statements.joined(separator: "; "))"
                case .pull(let target, let source, let size, let count, let order):
                    "\(target) <- \(source)" + (size < 100 ? " by \(size)" : "")
                        + (count < .max ? ", only \(count)" : "")
                        + (order.shuffle == nil ? "" : ", shuffled") + (order.isRepeated ? ", twice" : "")
                case .migrate(let replica, let name, let statements, let tick):
                    "\(replica), \(tick) ms later, the \(name) migration: \(statements.joined(separator: "; "))"
                case .restart(let replica): "\(replica) restarts"
                case .compact(let replica): "\(replica) compacts its journal"
                case .recapture(let replica, let statements):
                    "\(replica) compares its rows with its journal"
                        + (statements.isEmpty ? "" : ", after, past capture: \(statements.joined(separator: "; "))")
                case .hear(let target, let source): "\(target) hears what \(source) knows of all"
                case .add(let replica, let addition):
                    "\(replica): \(HistorySchema.sql(of: schema.additions[addition]).joined(separator: "; "))"
                }
            }).joined(separator: "\n  ")
    }
}
