import Foundation
import Journal
import Logging

/// Writes log lines for systemd's journal: one line each, which begins with its priority (sd-daemon(3)). The
/// journal adds the time and the name of the service.
struct JournalLogHandler: LogHandler {
    var logLevel: Logger.Level = .info
    var metadata: Logger.Metadata = [:]

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let metadata = metadata.merging(event.metadata ?? [:]) { $1 }
        Console.log(JournalLogHandler.line(event.level, "\(event.message)", metadata))
    }

    /// `<4>message key=value`
    static func line(_ level: Logger.Level, _ message: String, _ metadata: Logger.Metadata) -> String {
        let values = metadata.sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }.joined()
        return prefix(level) + ConsoleText.printable(message + values)
    }

    /// `<4>`
    static func prefix(_ level: Logger.Level) -> String { "<\(level.priority)>" }

    /// True when standard error goes to the journal: systemd names the stream that it connected.
    static let isReading: Bool = {
        guard let stream = ProcessInfo.processInfo.environment["JOURNAL_STREAM"],
            let status = try? SystemFiles().status(of: "/proc/self/fd/\(STDERR_FILENO)")
        else { return false }
        return stream == "\(status.device):\(status.inode)"
    }()
}

extension Logger.Level {
    /// The priority of syslog(3).
    fileprivate var priority: Int {
        switch self {
        case .trace, .debug: 7
        case .info: 6
        case .notice: 5
        case .warning: 4
        case .error: 3
        case .critical: 2
        }
    }
}
