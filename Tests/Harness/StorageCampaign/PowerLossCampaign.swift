/// Lives of machines, one after the other, until enough images of lost power were looked at.
public enum PowerLossCampaign {
    public struct Report: Sendable {
        public var lives = 0
        public var transactions = 0
        public var exchanges = 0
        /// Moments at which the power went.
        public var moments = 0
        /// Different disks that were found afterwards.
        public var images = 0
        /// Of those: after which the machine worked on, with a replica that had met nobody and with its peer.
        public var continued = 0
        /// Operations that failed besides.
        public var faults = 0
        public var imagesByLoss: [String: Int] = [:]
        public var seconds = 0.0
        public var failures: [String] = []

        public var imagesPerSecond: Double { seconds > 0 ? Double(images) / seconds : 0 }
    }

    /// - Parameters:
    ///   - seed: Of the first life; each further one is the next.
    ///   - progress: Called after each life.
    /// - Returns: Up to five failures, after which the campaign stops.
    public static func run(
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
        imagesByLoss.merge(counts.byLoss, uniquingKeysWith: +)
    }
}
