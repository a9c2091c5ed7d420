/// Runs scenarios one after the other, and collects their outcomes.
package struct Campaign: Sendable {
    /// A scenario to run, by the arguments of `simulate`.
    package struct Request: Sendable {
        package var seed: UInt64
        package var profile: Profile?
        /// Kinds of faults that do not happen.
        package var mute: Set<FaultKind> = []
        /// Numbers of the plan's steps to perform; nil for all.
        package var keep: [Int]?

        package init(seed: UInt64) { self.seed = seed }

        /// The request as arguments of `make`.
        package var arguments: String {
            "SEED=\(seed)" + (options.isEmpty ? "" : " OPTIONS='\(options.joined(separator: " "))'")
        }

        /// The request as arguments of `simulate`.
        var words: [String] { ["\(seed)", "1"] + options }

        private var options: [String] {
            var options: [String] = []
            if let profile { options += ["--profile", profile.rawValue] }
            if !mute.isEmpty { options += ["--mute", mute.map(\.rawValue).sorted().joined(separator: ",")] }
            if let keep { options += ["--keep", StepList.text(keep)] }
            return options
        }

        /// True when the scenario has all of these kinds.
        package func draws(_ kinds: Set<FaultKind>) -> Bool { kinds.isEmpty || plan.kinds.isSuperset(of: kinds) }

        var plan: ScenarioPlan { ScenarioPlan(seed: seed, profile: profile, mute: mute, keep: keep.map { Set($0) }) }
    }

    package struct Outcome: Sendable, Codable {
        package var counts = Counts()
        /// The hash of the trace: equal for equal scenarios.
        package var hash: UInt64 = 0
        /// The number of entries of the trace.
        package var length = 0
        package var failure: String?

        /// The first words of the failure of a scenario whose process did not report its outcome.
        static let endOfProcess = "its process"
    }

    /// Runs one scenario.
    ///
    /// - Parameter prints: The entries of the trace to print; nil to print none.
    package static func live(_ request: Request, prints: ClosedRange<Int>? = nil) -> Outcome {
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

    /// Finds the shortest scenario with the same failure.
    ///
    /// - Parameter attempts: The number of scenarios to run for it.
    package static func finding(_ request: Request, _ failure: String, attempts: Int) -> Finding {
        // A scenario that ended its own process, or hung, would do the same to this one.
        let attempts = failure.hasPrefix(Outcome.endOfProcess) ? 0 : attempts
        let small = Shrinker(attempts: attempts).shrink(request, failure)
        return Finding(request: small.request, failure: small.failure)
    }
}
