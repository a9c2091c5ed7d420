import Sync
import Synchronization

/// How far a return has come, for the line of progress.
final class ReturnMeter: Sendable {
    private let clone = CloneMeter()
    private let step = Mutex<String?>(nil)

    func note(_ progress: Return.Progress) {
        switch progress {
        case .cloning(let progress): clone.note(progress)
        case .keeping: step.withLock { $0 = "copying the file as it is" }
        case .replacing: step.withLock { $0 = "replacing the content; writers wait" }
        }
    }

    var text: String { step.withLock { $0 } ?? clone.text }
}
