import Logging

extension Logger {
    /// Returns a logger that writes to standard error. Tokens and row values are never logged.
    static func standardError(level: Logger.Level) -> Logger {
        var logger = standardError { level }
        logger.logLevel = level
        return logger
    }

    /// Returns a logger whose level, and that of its copies, is `level` at any time.
    static func standardError(level: @escaping @Sendable () -> Logger.Level) -> Logger {
        Logger(label: "syncd") { label in
            let base: any LogHandler =
                JournalLogHandler.isReading ? JournalLogHandler() : StreamLogHandler.standardError(label: label)
            return FollowingLogHandler(base: base, level: level)
        }
    }
}

/// A log handler whose level is that of the settings, unless one was set for a copy of the logger.
private struct FollowingLogHandler: LogHandler {
    var base: any LogHandler
    let level: @Sendable () -> Logger.Level
    private var own: Logger.Level?

    init(base: any LogHandler, level: @escaping @Sendable () -> Logger.Level) {
        self.base = base
        self.level = level
    }

    var logLevel: Logger.Level {
        get { own ?? level() }
        set { own = newValue }
    }

    var metadata: Logger.Metadata {
        get { base.metadata }
        set { base.metadata = newValue }
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { base[metadataKey: key] }
        set { base[metadataKey: key] = newValue }
    }

    func log(event: LogEvent) { base.log(event: event) }
}
