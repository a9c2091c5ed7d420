/// What happens to a few replicas, drawn from a seed.
///
/// One task at a time uses it.
protocol Life: AnyObject {
    init(seed: UInt64) throws
    /// What happened, for a failure.
    var story: [String] { get }
    /// What it counted; all lives of a campaign count the same things.
    var counts: [Int] { get }
    /// - Throws: What is wrong, when the properties do not hold.
    func run() async throws
}

/// What the replicas of a life must not come to.
struct Difference: Error, CustomStringConvertible {
    let description: String
}

/// Runs lives, each of a seed of its own, a few at once.
struct LifeCampaign {
    /// The end of one life.
    struct End: Sendable {
        /// What went wrong, with the story; nil when nothing did.
        var failure: String?
        /// What it counted; each life of a campaign counts the same things.
        var counts: [Int]
    }

    /// The seed of the first life; each further life has the next one.
    let seed: UInt64
    /// The number of lives.
    let count: UInt64
    /// Gets the number of lives that are done.
    let onProgress: @Sendable (Int) -> Void

    /// A life waits for its files most of the time.
    private static let livesAtOnce = 4

    /// - Parameters:
    ///   - summary: Says what was done: by how many lives, and the sums of what they counted.
    ///   - live: Lives one life.
    func run(
        counts: Int, summary: (_ done: Int, _ sums: [Int]) -> String,
        live: @escaping @Sendable (UInt64) async -> End
    ) async -> CampaignReport {
        var failures: [String] = []
        var done = 0
        var sums = [Int](repeating: 0, count: counts)
        await withTaskGroup(of: End.self) { group in
            var next = seed
            func begin() {
                guard next < seed + count, failures.count < 3 else { return }
                let seed = next
                next += 1
                group.addTask { await live(seed) }
            }
            for _ in 0..<LifeCampaign.livesAtOnce { begin() }
            for await life in group {
                done += 1
                for (index, count) in life.counts.enumerated() { sums[index] += count }
                if let failure = life.failure { failures.append(failure) }
                onProgress(done)
                begin()
            }
        }
        return CampaignReport(
            summary: summary(done, sums), failures: failures, isComplete: done == Int(count) && failures.isEmpty)
    }

    /// Lives the life of a seed to its end.
    ///
    /// - Parameter variable: The variable of `make merge-random` that asks for such lives.
    static func live<L: Life>(_: L.Type, again variable: String, seed: UInt64) async -> End {
        let life: L
        do { life = try L(seed: seed) } catch { return End(failure: "\(error)", counts: []) }
        do {
            try await life.run()
            return End(counts: life.counts)
        } catch {
            return End(failure: failure(error, story: life.story, again: variable, seed: seed), counts: life.counts)
        }
    }

    /// What to print of a life that failed.
    private static func failure(_ error: any Error, story: [String], again variable: String, seed: UInt64) -> String {
        let others = ["COUNT", "SETS", "FLEETS", "ARCHIVES", "HUBS", "RETURNS", "LEAVES"].filter { $0 != variable }
            .map { "\($0)=0" }
        return """
            \(error)

            the story:
              \(story.joined(separator: "\n  "))

            Again with: make merge-random \(others.joined(separator: " ")) \(variable)=1 SEED=\(seed)
            """
    }
}
