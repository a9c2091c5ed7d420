import Logging
import Sync

/// What the lines of the daemon's log are about, besides those of ``SyncEvent``. The names are stable;
/// docs/OPERATIONS.md lists them.
enum DaemonEvent: String, Sendable, CaseIterable {
    case stopped = "daemon.stopped"
    case cutShort = "daemon.cut_short"
    case logKept = "daemon.log_kept"
    case configurationApplied = "config.applied"
    case configurationRefused = "config.refused"
    case request = "request.answered"
    case requestFailed = "request.failed"
    case requestBroken = "request.broken"
    case clientGone = "request.abandoned"
    case hookDone = "hook.done"
    case hookFailed = "hook.failed"
    case hookOutput = "hook.output"
    case mergeFollowed = "after_merge.done"
    case mergeNotFollowed = "after_merge.failed"

    /// How serious it is.
    var level: Logger.Level {
        switch self {
        case .configurationRefused, .requestBroken: .error
        case .logKept, .requestFailed, .hookFailed, .mergeNotFollowed: .warning
        case .stopped, .cutShort, .configurationApplied: .notice
        case .hookDone, .hookOutput, .mergeFollowed: .info
        case .request, .clientGone: .debug
        }
    }

    /// The event of lines of the libraries that syncd is built on.
    static let ofLibraries = "library"
}

extension Logger {
    /// Logs what has happened, with the name of its event.
    func log(
        _ event: DaemonEvent, _ message: @autoclosure () -> Logger.Message, _ details: Logger.Metadata = [:],
        file: String = #fileID, function: String = #function, line: UInt = #line
    ) {
        guard logLevel <= event.level else { return }
        let metadata = details.merging([Logger.eventKey: "\(event.rawValue)"]) { $1 }
        log(level: event.level, message(), metadata: metadata, file: file, function: function, line: line)
    }
}
