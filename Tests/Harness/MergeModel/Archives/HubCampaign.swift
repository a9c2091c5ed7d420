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
            live: { await LifeCampaign.live(HubLife.self, again: "HUBS", seed: $0) })
    }
}
