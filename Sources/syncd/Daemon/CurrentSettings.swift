import Logging
import Synchronization

/// The settings of a running daemon. A reload replaces them as a whole.
final class CurrentSettings: Sendable {
    private let settings: Mutex<DaemonSettings>

    init(_ settings: DaemonSettings) { self.settings = Mutex(settings) }

    var value: DaemonSettings { settings.withLock { $0 } }

    func replace(by new: DaemonSettings) { settings.withLock { $0 = new } }
}
