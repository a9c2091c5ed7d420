/// Lives one after the other, and what they found.
public struct Campaign: Sendable {
    /// What to run, as the arguments of `simulate` say it.
    public struct Request: Sendable {
        public var seed: UInt64
        public var profile: Profile?
        /// Kinds of faults that do not happen.
        public var mute: Set<FaultKind> = []
        /// Numbers of the plan's steps to perform; nil for all.
        public var keep: [Int]?

        public init(seed: UInt64) { self.seed = seed }

        /// The same as arguments.
        public var arguments: String {
            var words = ["SEED=\(seed)"]
            var options: [String] = []
            if let profile { options.append("--profile \(profile.rawValue)") }
            if !mute.isEmpty { options.append("--mute \(mute.map(\.rawValue).sorted().joined(separator: ","))") }
            if let keep { options.append("--keep \(StepList.text(keep))") }
            if !options.isEmpty { words.append("OPTIONS='\(options.joined(separator: " "))'") }
            return words.joined(separator: " ")
        }

        var plan: LifePlan { LifePlan(seed: seed, profile: profile, mute: mute, keep: keep.map { Set($0) }) }
    }

    public struct Outcome: Sendable {
        public let counts: Counts
        /// Equal for equal lives.
        public let hash: UInt64
        /// Entries of the trace.
        public let length: Int
        public let failure: String?
    }

    /// Lives one life.
    ///
    /// - Parameter prints: The entries of the trace to print; nil to print none.
    public static func live(_ request: Request, prints: ClosedRange<Int>? = nil) -> Outcome {
        do {
            let life = try Life(request.plan, prints: prints)
            defer { life.close() }
            var failure: String?
            do {
                try life.run()
            } catch {
                failure = "\(error)"
            }
            return Outcome(
                counts: life.counts, hash: life.trace.hash, length: life.trace.length, failure: failure)
        } catch {
            return Outcome(counts: Counts(), hash: 0, length: 0, failure: "before the first step: \(error)")
        }
    }

    /// What is wrong, the shortest story that shows it, and how to see it again.
    public static func report(_ request: Request, _ failure: String, attempts: Int) -> String {
        let small = Shrinker(attempts: attempts).shrink(request, failure)
        return """
            seed \(request.seed): \(small.failure)
            Again with: make simulate \(small.request.arguments)
            """
    }
}
