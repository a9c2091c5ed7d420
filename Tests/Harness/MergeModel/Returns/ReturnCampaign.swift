import TestSupport

/// Checks random lives in which replicas come back from behind the horizon.
package enum ReturnCampaign {
    /// - Parameters:
    ///   - seed: The seed of the first life; each further life has the next seed.
    ///   - count: The number of lives.
    ///   - onProgress: Gets the number of lives that are done.
    package static func run(
        seed: UInt64, count: UInt64, onProgress: @escaping @Sendable (Int) -> Void = { _ in }
    ) async -> CampaignReport {
        var failures: [String] = []
        var (done, returns, contested) = (0, 0, 0)
        await withTaskGroup(of: (failure: String?, returns: Int, contested: Int).self) { group in
            var next = seed
            func begin() {
                guard next < seed + count, failures.count < 3 else { return }
                let seed = next
                next += 1
                group.addTask { await live(seed) }
            }
            for _ in 0..<lifesAtOnce { begin() }
            for await life in group {
                done += 1
                returns += life.returns
                contested += life.contested
                if let failure = life.failure { failures.append(failure) }
                onProgress(done)
                begin()
            }
        }
        return CampaignReport(
            summary: "\(done) lives with \(returns) returns (\(contested) contested rows)", failures: failures,
            isComplete: done == Int(count) && failures.isEmpty)
    }

    /// A life waits for its files most of the time.
    private static let lifesAtOnce = 4

    private static func live(_ seed: UInt64) async -> (failure: String?, returns: Int, contested: Int) {
        let life: ReturnLife
        do { life = try ReturnLife(seed: seed) } catch { return ("\(error)", 0, 0) }
        do {
            try await life.run()
            return (nil, life.returns, life.contested)
        } catch {
            let failure = """
                \(error)

                the story:
                  \(life.story.joined(separator: "\n  "))

                Again with: make merge-random COUNT=0 SETS=0 FLEETS=0 ARCHIVES=0 RETURNS=1 SEED=\(seed)
                """
            return (failure, life.returns, life.contested)
        }
    }
}
