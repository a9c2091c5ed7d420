import Journal
import Synchronization

/// The progress of a copy in a few words: `42 %`.
final class CopyMeter: Sendable {
    private let state = Mutex<DatabaseCopy.Progress?>(nil)

    func note(_ progress: DatabaseCopy.Progress) { state.withLock { $0 = progress } }

    var text: String {
        guard let progress = state.withLock({ $0 }), progress.totalPages > 0 else { return "starting" }
        let percent = progress.completedPages * 100 / progress.totalPages
        return percent < 100 ? "\(percent) %" : "reading the copy"
    }
}
