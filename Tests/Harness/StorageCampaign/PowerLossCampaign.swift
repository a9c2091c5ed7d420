/// Runs scenarios of machines, one after the other, until enough disks after a loss of power were checked.
package enum PowerLossCampaign {
    package struct Report: Sendable {
        package var lives = 0
        package var transactions = 0
        package var exchanges = 0
        /// Moments at which the power failed.
        package var moments = 0
        /// Different disks that were found afterwards.
        package var images = 0
        /// The disks on which the machine then continued, with a replica that had met nobody and with its
        /// peer.
        package var continued = 0
        /// Other operations that failed.
        package var faults = 0
        /// Entries that compaction removed, returns, and clones.
        package var compacted = 0
        package var returns = 0
        package var clones = 0
        package var imagesByLoss: [String: Int] = [:]
        package var seconds = 0.0
        package var failures: [String] = []

        package var imagesPerSecond: Double { seconds > 0 ? Double(images) / seconds : 0 }
    }

    /// - Parameters:
    ///   - seed: The seed of the first scenario; each further seed is the next number.
    ///   - progress: Called after each scenario.
    /// - Returns: Up to five failures, after which the campaign stops.
    package static func run(
        seed: UInt64, images: Int, steps: Int = 40, imagesPerMoment: Int = 5,
        progress: (Report) -> Void = { _ in }
    ) async -> Report {
        let start = ContinuousClock.now
        var report = Report()
        var next = seed
        while report.images < images, report.failures.count < 5 {
            var life: PowerLossScenario?
            do {
                let begun = try PowerLossScenario(seed: next)
                life = begun
                try await begun.run(
                    steps: steps, imagesPerMoment: imagesPerMoment, most: images - report.images)
            } catch {
                report.failures.append("\(error)\n  again: make power-loss SEED=\(next) IMAGES=\(images)")
            }
            if let counts = life?.counts { report.add(counts) }
            let passed = (ContinuousClock.now - start).components
            report.seconds = Double(passed.seconds) + Double(passed.attoseconds) / 1e18
            progress(report)
            next += 1
        }
        return report
    }
}

extension PowerLossCampaign.Report {
    fileprivate mutating func add(_ counts: PowerLossScenario.Counts) {
        lives += 1
        transactions += counts.transactions
        exchanges += counts.exchanges
        moments += counts.moments
        images += counts.images
        continued += counts.exchangedImages
        faults += counts.faults
        compacted += counts.compacted
        returns += counts.returns
        clones += counts.clones
        imagesByLoss.merge(counts.byLoss, uniquingKeysWith: +)
    }
}
