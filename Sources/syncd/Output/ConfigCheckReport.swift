import Foundation
import Journal

/// The output of `syncd config check`.
struct ConfigCheckReport: Sendable {
    let file: String
    /// nil when the file names none: it is then an argument of `syncd run`.
    let database: String?
    let mistakes: [ConfigurationMistake]
    /// Paths of credentials, which are there only when systemd starts the daemon.
    let unchecked: [String]

    /// - Throws: ``Failure`` when the file cannot be read.
    init(file: String, credentials: Credentials) throws {
        self.file = file
        let check = try SettingsCheck(ConfigurationSource(flags: Configuration(), file: file), credentials)
        var found = check.mistakes
        if let database = check.configuration.database, access(database, F_OK) != 0 {
            found.append(
                ConfigurationMistake(
                    "there is no file \(database)", hint: "Create the database, then `syncd init \(database)`",
                    key: ConfigurationKey.database.rawValue, at: check.configuration.places[.database]))
        }
        database = check.configuration.database
        mistakes = ConfigurationMistakes(found, in: file)?.all ?? []
        unchecked = check.unchecked
    }

    var text: String {
        var lines = mistakes.flatMap { mistake in
            let place = mistake.place.map { ":\($0.line):\($0.column)" } ?? ""
            return ["\(file)\(place): \(mistake.message)", "  Hint: \(mistake.hint)"]
        }
        lines += unchecked.map { "\(file): \($0) is not checked, because systemd makes it when it starts the daemon" }
        if mistakes.isEmpty, database == nil {
            lines.append("\(file): no database is named, so it must be an argument of `syncd run`")
        }
        lines.append(mistakes.isEmpty ? "No mistakes." : ConsoleText.count(mistakes.count, "mistake") + ".")
        return lines.map { ConsoleText.printable($0) }.joined(separator: "\n")
    }

    var json: JSONValue {
        .object([
            "file": .string(file),
            "database": .optional(database) { .string($0) },
            "mistakes": .array(mistakes.map(\.json)),
            "not_checked": .array(unchecked.map { .string($0) }),
        ])
    }
}

extension ConfigurationMistake {
    fileprivate var json: JSONValue {
        .object([
            "line": .optional(place) { .integer(Int64($0.line)) },
            "column": .optional(place) { .integer(Int64($0.column)) },
            "key": .optional(key) { .string($0) },
            "message": .string(message),
            "hint": .string(hint),
        ])
    }
}
