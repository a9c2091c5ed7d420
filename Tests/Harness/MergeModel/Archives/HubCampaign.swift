/// Checks random lives of replicas that share an archive through hubs.
package enum HubCampaign {
    /// - Parameters:
    ///   - seed: The seed of the first life; each further life has the next seed.
    ///   - count: The number of lives.
    ///   - onProgress: Gets the number of lives that are done.
    package static func run(
        seed: UInt64, count: UInt64, onProgress: @escaping @Sendable (Int) -> Void = { _ in }
    ) async -> CampaignReport {
        await LifeCampaign(seed: seed, count: count, onProgress: onProgress).run(
            counts: 1, summary: { done, sums in "\(done) lives with hubs (\(sums[0]) hubs died)" },
            live: { seed in
                let life: HubLife
                do { life = try HubLife(seed: seed) } catch { return .init(failure: "\(error)", counts: [0]) }
                do {
                    try await life.run()
                    return .init(counts: [life.deaths])
                } catch {
                    return .init(
                        failure: LifeCampaign.failure(error, story: life.story, again: "HUBS", seed: seed),
                        counts: [life.deaths])
                }
            })
    }
}
