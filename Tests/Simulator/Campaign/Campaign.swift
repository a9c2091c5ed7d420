/// Lives one after the other, and what they found.
public struct Campaign {
    public struct Failure: Sendable {
        public let seed: UInt64
        /// What is wrong, and a command that shows it again.
        public let report: String
    }

    public struct Result: Sendable {
        public let counts: Counts
        public let hash: UInt64
        public let length: Int
        public let failure: String?
    }

    public static func run(
        seed: UInt64, profile: Profile? = nil, mute: Set<FaultKind> = [], keep: Set<Int>? = nil, printsFrom: Int? = nil
    ) -> Result {
        live(LifePlan(seed: seed, profile: profile, mute: mute, keep: keep), printsFrom: printsFrom)
    }

    static func live(_ plan: LifePlan, printsFrom: Int? = nil) -> Result {
        do {
            let life = try Life(plan, printsFrom: printsFrom)
            defer { life.close() }
            do {
                try life.run()
            } catch {
                return Result(counts: life.counts, hash: life.trace.hash, length: life.trace.length, failure: "\(error)")
            }
            return Result(counts: life.counts, hash: life.trace.hash, length: life.trace.length, failure: nil)
        } catch {
            return Result(counts: Counts(), hash: 0, length: 0, failure: "before the first step: \(error)")
        }
    }
}
