import ArgumentParser
import Journal

/// `--extension` of the commands that open a database.
struct ExtensionOption: ParsableArguments {
    @Option(
        name: .customLong("extension"), parsing: .singleValue,
        help: ArgumentHelp(
            "An extension of SQLite with the functions and collations that the program adds; it is code that this command runs. May be given several times.",
            valueName: "library"),
        completion: .file())
    var paths: [String] = []
}

/// A command that opens a database, perhaps with extensions.
protocol ExtensionLoading {
    var extensions: ExtensionOption { get }
}

/// A command whose first argument is a database.
protocol DatabaseCommand: ExtensionLoading, ParsableCommand {
    var database: DatabaseArgument { get }
}

extension DatabaseCommand {
    var extensions: ExtensionOption { database.extensions }
}

extension SQLiteExtensions {
    /// Loads extensions, with a hint for what fails.
    ///
    /// - Throws: ``Failure``; none is loaded then.
    static func load(named paths: [String]) throws {
        do {
            try load(paths)
        } catch let error as JournalError {
            throw Failure(
                error.message,
                hint: "Name a shared library that is built as an extension of SQLite, with its directory: ./name.so")
        }
    }
}
