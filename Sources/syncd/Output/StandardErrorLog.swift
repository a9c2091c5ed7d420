import Foundation
import Logging

extension Logger {
    /// Returns a logger that writes to standard error, as text. Tokens and row values are never logged.
    static func standardError(level: Logger.Level) -> Logger {
        var logger = standardError(format: { .text }, level: { level })
        logger.logLevel = level
        return logger
    }

    /// Returns a logger whose format and level, and those of its copies, are what the closures return at any
    /// time.
    static func standardError(
        format: @escaping @Sendable () -> LogFormat, level: @escaping @Sendable () -> Logger.Level
    ) -> Logger {
        Logger(label: "syncd") { label in
            let text: any LogHandler =
                JournalLogHandler.isReading ? JournalLogHandler() : StreamLogHandler.standardError(label: label)
            return FollowingLogHandler(text: text, format: format, level: level)
        }
    }
}

/// A log handler whose format and level are those of the settings, unless a level was set for a copy of the
/// logger.
private struct FollowingLogHandler: LogHandler {
    /// Writes text, and has the details of the logger.
    var text: any LogHandler
    let format: @Sendable () -> LogFormat
    let level: @Sendable () -> Logger.Level
    private var own: Logger.Level?

    init(
        text: any LogHandler, format: @escaping @Sendable () -> LogFormat, level: @escaping @Sendable () -> Logger.Level
    ) {
        self.text = text
        self.format = format
        self.level = level
    }

    var logLevel: Logger.Level {
        get { own ?? level() }
        set { own = newValue }
    }

    var metadata: Logger.Metadata {
        get { text.metadata }
        set { text.metadata = newValue }
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { text[metadataKey: key] }
        set { text[metadataKey: key] = newValue }
    }

    func log(event: LogEvent) {
        guard format() == .json else { return text.log(event: event) }
        let details = metadata.merging(event.metadata ?? [:]) { $1 }
        let line = JSONLogLine.text(event.level, "\(event.message)", details, time: Date())
        Console.log(JournalLogHandler.isReading ? JournalLogHandler.prefix(event.level) + line : line)
    }
}
