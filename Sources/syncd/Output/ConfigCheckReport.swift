import Foundation
import Journal

/// The output of `syncd config check`.
struct ConfigCheckReport: Sendable {
    let file: String
    /// nil when the file names none, which is then an argument of `syncd run`, and when it names several.
    let database: String?
    /// The databases that the file names by names, with nil for one that has no usable path; nil for a file of one.
    let databases: [(name: String, path: String?)]?
    let mistakes: [ConfigurationMistake]
    /// Paths of credentials, which are there only when systemd starts the daemon.
    let unchecked: [String]

    /// - Throws: ``Failure`` when the file cannot be read.
    init(file: String, credentials: Credentials) throws {
        self.file = file
        let check = try ConfigurationCheck(ConfigurationSource(flags: Configuration(), file: file), credentials)
        var found = check.mistakes
        for configuration in check.databases.map(\.configuration) {
            guard let database = configuration.database, access(database, F_OK) != 0 else { continue }
            found.append(
                ConfigurationMistake(
                    "there is no file \(database)", hint: "Create the database, then `syncd init \(database)`",
                    key: ConfigurationKey.database.rawValue, at: configuration.places[.database]))
        }
        let areSeveral = check.configuration?.databases != nil
        database = areSeveral ? nil : check.databases.first?.configuration.database
        databases =
            areSeveral
            ? check.databases.map { (name: $0.name ?? "", path: $0.configuration.database) } : nil
        mistakes = ConfigurationMistakes(found, in: file)?.all ?? []
        unchecked = check.unchecked
    }

    var text: String {
        var lines = mistakes.flatMap { mistake in
            let place = mistake.place.map { ":\($0.line):\($0.column)" } ?? ""
            return ["\(file)\(place): \(mistake.message)", "  Hint: \(mistake.hint)"]
        }
        lines += unchecked.map { "\(file): \($0) is not checked, because systemd makes it when it starts the daemon" }
        if mistakes.isEmpty, database == nil, databases == nil {
            lines.append("\(file): no database is named, so it must be an argument of `syncd run`")
        }
        lines.append(mistakes.isEmpty ? "No mistakes." : ConsoleText.count(mistakes.count, "mistake") + ".")
        return lines.map { ConsoleText.printable($0) }.joined(separator: "\n")
    }

    var json: JSONValue {
        .object([
            "file": .string(file),
            "database": .optional(database) { .string($0) },
            "databases": .optional(databases) { databases in
                .array(
                    databases.map { name, path in
                        .object(["name": .string(name), "database": .optional(path) { .string($0) }])
                    })
            },
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
