import ArgumentParser
import Foundation
import Journal
import Logging
import Sync

/// How the lines of the log are written.
enum LogFormat: String, Sendable, CaseIterable, ExpressibleByArgument {
    /// For people.
    case text
    /// One JSON object a line.
    case json
}

/// A line of the log as a JSON object: `time`, `level`, `event`, `message`, and the details.
enum JSONLogLine {
    /// The keys that every line has. A detail of the same name gets an underscore in front.
    private static let reserved = ["time", "level", "event", "message"]

    /// - Parameters:
    ///   - level: How serious it is.
    ///   - message: What happened, for people.
    ///   - metadata: The details, with the name of the event under ``Logging/Logger/eventKey``.
    ///   - time: Now.
    static func text(_ level: Logger.Level, _ message: String, _ metadata: Logger.Metadata, time: Date) -> String {
        var details = metadata
        let event = details.removeValue(forKey: Logger.eventKey).map { "\($0)" } ?? DaemonEvent.ofLibraries
        var members: [JSONValue.Member] = [
            .init(name: "time", value: .string(ConsoleText.time(time))),
            .init(name: "level", value: .string(level.rawValue)), .init(name: "event", value: .string(event)),
            .init(name: "message", value: .string(message)),
        ]
        members += details.sorted { $0.key < $1.key }.map { key, value in
            JSONValue.Member(name: reserved.contains(key) ? "_" + key : key, value: JSONValue(value))
        }
        return JSONValue.object(members).text
    }
}

extension JSONValue {
    /// A detail of the log.
    fileprivate init(_ value: Logger.MetadataValue) {
        switch value {
        case .string(let text): self = .string(text)
        case .stringConvertible(let value): self = .string("\(value)")
        case .array(let values): self = .array(values.map { JSONValue($0) })
        case .dictionary(let members):
            self = .object(members.sorted { $0.key < $1.key }.map { Member(name: $0.key, value: JSONValue($0.value)) })
        }
    }
}
