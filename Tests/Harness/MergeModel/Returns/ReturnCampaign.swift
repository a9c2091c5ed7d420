/// Checks random lives in which replicas come back from behind the horizon.
package enum ReturnCampaign {
    /// - Parameters:
    ///   - seed: The seed of the first life; each further life has the next seed.
    ///   - count: The number of lives.
    ///   - onProgress: Gets the number of lives that are done.
    package static func run(
        seed: UInt64, count: UInt64, onProgress: @escaping @Sendable (Int) -> Void = { _ in }
    ) async -> CampaignReport {
        await LifeCampaign(seed: seed, count: count, onProgress: onProgress).run(
            counts: 2, summary: { done, sums in "\(done) lives with \(sums[0]) returns (\(sums[1]) contested rows)" },
            live: { await LifeCampaign.live(ReturnLife.self, again: "RETURNS", seed: $0) })
    }
}
