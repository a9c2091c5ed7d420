import TestSupport

extension HistoryPlan {
    /// Makes a plan of machines that each write and sometimes exchange, for sets of batches.
    init(meetingOf count: Int, seed: UInt64, knobs: HistoryKnobs) {
        var random = SplitMix(seed: seed)
        var knobs = knobs
        knobs.schemaSteps = false
        let schema = HistorySchema(variant: random.next() >> 16, knobs: knobs)
        self.init(
            seed: seed, schema: schema, ranks: Array(0..<count).shuffled(using: &random),
            offsets: (0..<count).map { _ in Int64(random.pick([0, 0, 1, 5])) })
        for round in 0..<3 {
            for index in (0..<count).shuffled(using: &random) {
                if round > 0, random.chance(50) { continue }
                if random.chance(40) {
                    let source = (index + 1 + random.below(count - 1)) % count
                    steps.append(.pull(target: index, source: source, size: 100, count: .max, order: .init()))
                }
                let statements = (0...random.below(2)).map { _ in
                    HistoryStatement.random(on: schema.reference, &random)
                }
                steps.append(
                    .write(
                        replica: index, statements, tick: Int64(random.pick([0, 1, 2])), isMarked: true))
            }
        }
    }
}
