import TestSupport

/// Checks random fleets that are migrated machine by machine.
package enum FleetCampaign {
    /// - Parameters:
    ///   - seed: The seed of the first fleet; each further fleet has the next seed.
    ///   - count: The number of fleets.
    ///   - onProgress: Gets the number of fleets that are done, on any thread.
    package static func run(
        seed: UInt64, count: UInt64, onProgress: @escaping @Sendable (Int) -> Void = { _ in }
    ) async -> CampaignReport {
        let outcomes = await inThreads(
            seeds: seed..<(seed + count), { seed, clocks in failure(seed, clocks) }, isFailure: { $0 != nil },
            onProgress: onProgress)
        return CampaignReport(
            summary: "\(outcomes.count) fleets", failures: outcomes.compactMap { $0 },
            isComplete: outcomes.count == Int(count) && outcomes.allSatisfy { $0 == nil })
    }

    private static func failure(_ seed: UInt64, _ clocks: [TestClock]) -> String? {
        let directory = TemporaryDirectory()
        var story: [String] = []
        do {
            var fleet = try Fleet(seed: seed, directory: directory, clocks: clocks)
            defer {
                story = fleet.story
                try? fleet.close()
            }
            try fleet.run()
            return nil
        } catch {
            return """
                \(error)

                the story:
                  \(story.joined(separator: "\n  "))

                Again with: make merge-random COUNT=0 SETS=0 FLEETS=1 SEED=\(seed)
                """
        }
    }
}
