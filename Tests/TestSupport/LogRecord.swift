import Logging
import Synchronization

/// Log lines in memory.
package final class LogRecord: Sendable {
    package struct Line: Sendable {
        package let level: Logger.Level
        package let message: String
        package let metadata: Logger.Metadata
    }

    private let lines = Mutex<[Line]>([])

    package init() {}

    package var all: [Line] { lines.withLock { $0 } }

    /// The lines since the last call.
    package func take() -> [Line] {
        lines.withLock { lines in
            defer { lines = [] }
            return lines
        }
    }

    /// A logger that writes into this record, at any level.
    package var logger: Logger {
        var logger = Logger(label: "test") { _ in Handler(record: self) }
        logger.logLevel = .trace
        return logger
    }

    private struct Handler: LogHandler {
        let record: LogRecord
        var logLevel: Logger.Level = .trace
        var metadata: Logger.Metadata = [:]

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let line = Line(level: event.level, message: "\(event.message)", metadata: event.metadata ?? [:])
            record.lines.withLock { $0.append(line) }
        }
    }
}
