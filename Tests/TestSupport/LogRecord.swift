import Logging
import Synchronization

/// What was logged, in memory.
public final class LogRecord: Sendable {
    public struct Line: Sendable {
        public let level: Logger.Level
        public let message: String
        public let metadata: Logger.Metadata
    }

    private let lines = Mutex<[Line]>([])

    public init() {}

    public var all: [Line] { lines.withLock { $0 } }

    /// The lines since the last call.
    public func take() -> [Line] {
        lines.withLock { lines in
            defer { lines = [] }
            return lines
        }
    }

    /// Logs into this record, whatever the level.
    public var logger: Logger {
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
