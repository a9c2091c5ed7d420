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

        /// The same as arguments of `make`.
        public var arguments: String {
            "SEED=\(seed)" + (options.isEmpty ? "" : " OPTIONS='\(options.joined(separator: " "))'")
        }

        /// The same as arguments of `simulate`.
        var words: [String] { ["\(seed)", "1"] + options }

        private var options: [String] {
            var options: [String] = []
            if let profile { options += ["--profile", profile.rawValue] }
            if !mute.isEmpty { options += ["--mute", mute.map(\.rawValue).sorted().joined(separator: ",")] }
            if let keep { options += ["--keep", StepList.text(keep)] }
            return options
        }

        var plan: ScenarioPlan { ScenarioPlan(seed: seed, profile: profile, mute: mute, keep: keep.map { Set($0) }) }
    }

    public struct Outcome: Sendable, Codable {
        public var counts = Counts()
        /// Equal for equal lives.
        public var hash: UInt64 = 0
        /// Entries of the trace.
        public var length = 0
        public var failure: String?

        /// How the failure of a life begins whose process did not say what came of it.
        static let endOfProcess = "its process"
    }

    /// Lives one life.
    ///
    /// - Parameter prints: The entries of the trace to print; nil to print none.
    public static func live(_ request: Request, prints: ClosedRange<Int>? = nil) -> Outcome {
        do {
            let life = try Scenario(request.plan, prints: prints)
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
            return Outcome(failure: "before the first step: \(error)")
        }
    }

    /// What is wrong, in the shortest story that shows it.
    ///
    /// - Parameter attempts: Lives to spend on making it shorter.
    public static func finding(_ request: Request, _ failure: String, attempts: Int) -> Finding {
        // What ended its own process, or never ended, would do the same to this one.
        let attempts = failure.hasPrefix(Outcome.endOfProcess) ? 0 : attempts
        let small = Shrinker(attempts: attempts).shrink(request, failure)
        return Finding(request: small.request, failure: small.failure)
    }
}
