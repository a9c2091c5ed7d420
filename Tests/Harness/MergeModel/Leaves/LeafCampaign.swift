/// Checks random lives of a replica with all tables and of leaves that have some of them.
package enum LeafCampaign {
    /// - Parameters:
    ///   - seed: The seed of the first life; each further life has the next seed.
    ///   - count: The number of lives.
    ///   - onProgress: Gets the number of lives that are done.
    package static func run(
        seed: UInt64, count: UInt64, onProgress: @escaping @Sendable (Int) -> Void = { _ in }
    ) async -> CampaignReport {
        await LifeCampaign(seed: seed, count: count, onProgress: onProgress).run(
            counts: 2,
            summary: { done, sums in "\(done) lives with leaves (\(sums[0]) leaves made, \(sums[1]) came back)" },
            live: { await LifeCampaign.live(LeafLife.self, again: "LEAVES", seed: $0) })
    }
}
