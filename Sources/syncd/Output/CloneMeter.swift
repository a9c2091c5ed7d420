import Foundation
import Sync
import Synchronization

/// The progress of a clone in a few words: `412 of 1 024 MB, 81 MB/s, 8 s left`.
final class CloneMeter: Sendable {
    private let state = Mutex((progress: Clone.Progress.preparing(0), began: ContinuousClock.now))

    func note(_ progress: Clone.Progress) {
        state.withLock { state in
            // The rate counts from the first part on.
            if case .fetching = progress, case .preparing = state.progress { state.began = .now }
            state.progress = progress
        }
    }

    var text: String {
        let (progress, began) = state.withLock { $0 }
        return CloneMeter.text(progress, seconds: (ContinuousClock.now - began) / .seconds(1))
    }

    /// - Parameter seconds: The time since the first part.
    static func text(_ progress: Clone.Progress, seconds: Double) -> String {
        switch progress {
        case .preparing(let fraction): return "the peer copies its file, \(Int(fraction * 100)) %"
        case .finishing: return "finishing"
        case .fetching(let fetched, let present, let total):
            let all = "\(megabytes(present + fetched)) of \(megabytes(total)) MB"
            guard seconds > 0.5, fetched > 0 else { return all }
            let rate = Double(fetched) / seconds
            let left = Double(total - present - fetched) / rate
            return "\(all), \(String(format: "%.1f", rate / 1_000_000)) MB/s, "
                + "\(ConsoleText.duration(Int64(left * 1_000))) left"
        }
    }

    private static func megabytes(_ bytes: Int64) -> String { ConsoleText.number((bytes + 500_000) / 1_000_000) }
}
