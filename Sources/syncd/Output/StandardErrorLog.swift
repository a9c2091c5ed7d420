import Logging

extension Logger {
    /// Returns a logger that writes to standard error. Tokens and row values are never logged.
    static func standardError(level: Logger.Level) -> Logger {
        var logger = Logger(label: "syncd", factory: { StreamLogHandler.standardError(label: $0) })
        logger.logLevel = level
        return logger
    }
}
