import Journal
import Sync
import Synchronization

/// For how long changes were under way, from the time in each row to its arrival at each follower.
///
/// All followers share it. A frame is decoded once, by the first one that gets it.
final class Arrivals: Sendable {
    private struct State {
        /// For each cover, the time in each row; nil where a row has none.
        var times: [Cover: [Int64?]] = [:]
        /// How often a change was under way for so many milliseconds. The last one also counts longer times.
        var counts = [Int](repeating: 0, count: 120_001)
    }

    private let state = Mutex(State())

    /// Notes that versions have arrived at a follower.
    ///
    /// - Parameters:
    ///   - versions: Versions that `frame` covers.
    ///   - milliseconds: The time of day, in milliseconds since 1970.
    /// - Throws: `WireError` for a frame that cannot be decoded; `SyncError` when it lacks the versions.
    func note(
        _ versions: ClosedRange<Int64>, of origin: OriginID, in frame: Frame, at milliseconds: Int64, limits: Limits
    ) throws {
        guard case .batch(let covers, _, _) = frame.body,
            let cover = covers.first(where: { $0.origin == origin && $0.first <= versions.lowerBound })
        else { throw SyncError(.invalid, "The frame does not cover the versions") }
        try state.withLock { state in
            let times: [Int64?]
            if let known = state.times[cover] {
                times = known
            } else {
                times = Arrivals.times(of: cover, in: try frame.batch(limits: limits))
                state.times[cover] = times
            }
            for version in versions {
                guard let time = times[Int(version - cover.first)] else { continue }
                state.counts[min(max(0, Int(milliseconds - time)), state.counts.count - 1)] += 1
            }
        }
    }

    /// The milliseconds that the given part of all changes was under way at most; nil when none has arrived.
    ///
    /// - Parameter parts: From 0 to 1; 0.5 is the median.
    func percentiles(_ parts: [Double]) -> [Int?] {
        let counts = state.withLock { $0.counts }
        let total = counts.reduce(0, +)
        return parts.map { part in
            var left = max(1, Int((Double(total) * part).rounded(.up)))
            return total == 0
                ? nil
                : counts.firstIndex { count in
                    left -= count
                    return left <= 0
                }
        }
    }

    /// The time of a row is its first column behind the key.
    private static func times(of cover: Cover, in batch: ChangeBatch) -> [Int64?] {
        var times = [Int64?](repeating: nil, count: Int(cover.last - cover.first + 1))
        for run in batch.runs where run.origin == cover.origin {
            for (offset, change) in batch.changes[run.changes].enumerated() where change.operation == .insert {
                let index = Int(run.firstVersion - cover.first) + offset
                let values = batch.values[change.values].dropFirst(batch.shapes[change.shape].keyCount)
                if times.indices.contains(index), case .integer(let time)? = values.first { times[index] = time }
            }
        }
        return times
    }
}
