/// Checks random lives of replicas that share an archive.
package enum ArchiveCampaign {
    /// - Parameters:
    ///   - seed: The seed of the first life; each further life has the next seed.
    ///   - count: The number of lives.
    ///   - onProgress: Gets the number of lives that are done.
    package static func run(
        seed: UInt64, count: UInt64, onProgress: @escaping @Sendable (Int) -> Void = { _ in }
    ) async -> CampaignReport {
        await LifeCampaign(seed: seed, count: count, onProgress: onProgress).run(
            counts: 1, summary: { done, sums in "\(done) archives (\(sums[0]) packs collected)" },
            live: { await LifeCampaign.live(ArchiveLife.self, again: "ARCHIVES", seed: $0) })
    }
}
