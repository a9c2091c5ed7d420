/// Shrinks a failing scenario, as long as the same property fails.
struct Shrinker {
    /// The most scenarios to run.
    let attempts: Int

    func shrink(_ request: Campaign.Request, _ failure: String) -> (request: Campaign.Request, failure: String) {
        var best = (request: request, failure: failure)
        var left = attempts
        let property = Shrinker.property(failure)
        func holds(_ candidate: Campaign.Request) -> Bool {
            guard left > 0 else { return false }
            left -= 1
            guard let failure = Campaign.live(candidate).failure, Shrinker.property(failure) == property else {
                return false
            }
            best = (candidate, failure)
            return true
        }
        // Mutes kinds of faults, one by one.
        for kind in FaultKind.allCases where request.plan.kinds.contains(kind) {
            var candidate = best.request
            candidate.mute.insert(kind)
            // Without that kind, steps have other numbers.
            candidate.keep = nil
            _ = holds(candidate)
        }
        // Removes steps, in halves, quarters, and so on.
        var steps = Array(best.request.plan.steps.indices)
        var size = max(1, steps.count / 2)
        while left > 0 {
            var start = 0
            var isSmaller = false
            while start < steps.count, left > 0 {
                var candidate = best.request
                var fewer = steps
                fewer.removeSubrange(start..<min(start + size, fewer.count))
                candidate.keep = fewer
                if holds(candidate) {
                    steps = fewer
                    isSmaller = true
                } else {
                    start += size
                }
            }
            if size > 1 { size /= 2 } else if !isSmaller { break }
        }
        return best
    }

    /// The number of the property; for other failures, their first words.
    private static func property(_ failure: String) -> String {
        String(failure.prefix { $0 != ":" && $0 != "(" })
    }
}
