import Foundation
import Sync

/// Many followers of hubs in one process, for `make bench ONLY=archive PART=hub`.
///
/// They ask and decode as replicas do, and write nothing to disk, so that one machine bears as many. `ready` on standard
/// output says that all follow. Then one line on standard input gives the number of changes that each has to get; when all
/// have them, or a minute later, the figures follow as one JSON object:
/// - `followers`; `changes`: those of all together; `least`: those of the one with the fewest;
/// - `p50`, `p99`, `most`: milliseconds from the time in a row, its first column behind the key, to its arrival;
/// - `pulls`, `failures`: requests that were answered, and that failed.
///
/// The exit status is 0 when all followers have all changes, 1 when one has not, 64 for wrong use.
@main
struct HubFollowers {
    private struct Figures: Encodable {
        var followers, changes, least, pulls, failures: Int
        var p50, p99, most: Int?
    }

    static func main() async {
        let arguments = CommandLine.arguments.dropFirst()
        guard arguments.count >= 4, let count = Int(arguments[arguments.startIndex]), (1...100_000).contains(count)
        else {
            FileHandle.standardError.write(Data("usage: hub-followers COUNT CLUSTER TOKEN-FILE HUB-URL…\n".utf8))
            exit(64)
        }
        let values = Array(arguments)
        do {
            let text = try String(contentsOfFile: values[2], encoding: .utf8)
            let token = try BearerToken(text.trimmingCharacters(in: .whitespacesAndNewlines))
            let hubs = try values[3...].map { try PeerConfiguration($0, token: token) }
            exit(try await run(count, cluster: values[1], hubs: hubs) ? 0 : 1)
        } catch {
            FileHandle.standardError.write(Data("hub-followers: \(error)\n".utf8))
            exit(1)
        }
    }

    /// - Returns: True when all followers have got all changes.
    private static func run(_ count: Int, cluster: String, hubs: [PeerConfiguration]) async throws -> Bool {
        let arrivals = Arrivals()
        let followers = try (0..<count).map {
            try Follower(cluster: cluster, hubs: hubs, first: $0, arrivals: arrivals)
        }
        for follower in followers { try await follower.greet() }
        return try await withThrowingDiscardingTaskGroup(returning: Bool.self) { group in
            for follower in followers { group.addTask { await follower.run() } }
            print("ready")
            fflush(nil)
            guard let line = await nextLine(), let changes = Int(line) else {
                throw SyncError(.configuration, "Standard input gives no number of changes")
            }
            let end = ContinuousClock.now + .seconds(60)
            while ContinuousClock.now < end, followers.contains(where: { $0.tally.changes < changes }) {
                try await Task.sleep(for: .milliseconds(20))
            }
            group.cancelAll()
            let tallies = followers.map(\.tally)
            let parts = arrivals.percentiles([0.5, 0.99, 1])
            let figures = Figures(
                followers: count, changes: tallies.map(\.changes).reduce(0, +),
                least: tallies.map(\.changes).min() ?? 0,
                pulls: tallies.map(\.pulls).reduce(0, +), failures: tallies.map(\.failures).reduce(0, +), p50: parts[0],
                p99: parts[1], most: parts[2])
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys]
            print(String(decoding: try encoder.encode(figures), as: UTF8.self))
            fflush(nil)
            return figures.least >= changes
        }
    }

    /// The next line of standard input. A thread of its own waits for it.
    private static func nextLine() async -> String? {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: readLine()) }
        }
    }
}
