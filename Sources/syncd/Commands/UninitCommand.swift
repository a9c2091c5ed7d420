import ArgumentParser
import Foundation
import Journal

struct UninitCommand: ParsableCommand, DatabaseCommand {
    static let configuration = CommandConfiguration(
        commandName: "uninit",
        abstract: "Take Tandem out of a file, which then is the program's own database again.",
        discussion: """
            Drops the journal and its triggers, and removes the files beside the database. The program's tables keep the rows \
            that they show. The file leaves WAL mode when `syncd init` has set it, unless another program has the file open. Other \
            replicas do not notice; `syncd init` would make a new replica of the file. The daemon of the file must be stopped.

            Exit status: 0 success, 1 failure with nothing changed, 64 wrong use.
            """)

    @OptionGroup var database: DatabaseArgument

    @Flag(help: "Discard open conflicts and held rows, which only the journal has.")
    var force = false

    @Flag(help: "One JSON object.")
    var json = false

    func run() throws {
        // The lock file would be left beside a file that is no replica.
        guard try hasJournal() else {
            throw Failure("The database has no change journal", hint: "There is nothing to take out of it")
        }
        let lock = try FileLock(database: database.path, for: .maintenance)
        let removal = try Replica.remove(from: database.path, discarding: force)
        let file = SystemFiles().resolved(database.path)
        for suffix in ["-identity", "-checkpoint", "-peers", "-acks", "-archives", "-ends", "-syncd"] {
            _ = unlink(file + suffix)
        }
        withExtendedLifetime(lock) {}
        guard !json else { return Console.line(removal.json.text) }
        Console.line(
            "\(ConsoleText.printable(database.path)) is no replica any more: "
                + "\(ConsoleText.count(Int(removal.changes), "change")) and "
                + "\(ConsoleText.count(removal.triggers, "trigger")) removed.")
        if removal.discarded > 0 {
            Console.line(
                "\(ConsoleText.count(Int(removal.discarded), "conflict or held row", "conflicts and held rows")) discarded."
            )
        }
        Console.line(
            removal.journalMode == removal.formerJournalMode
                ? "Its journal mode is \(removal.journalMode), as before `syncd init`; VACUUM gives the journal's space back."
                : "Another program has the file open, so it stays in WAL mode: PRAGMA journal_mode = DELETE ends it."
        )
    }

    /// True for a replica, and for a file in which a tool that drops unknown tables has left the triggers.
    /// The file is closed again: the last connection ends WAL.
    private func hasJournal() throws -> Bool {
        let replica = try Replica.reading(database.path)
        do {
            _ = try replica.identity()
            return true
        } catch let error as JournalError where error.code == .notAReplica {
            return try replica.read { try !JournalLeftovers($0).isEmpty }
        }
    }
}

extension JournalRemoval {
    var json: JSONValue {
        .object([
            "triggers": .integer(Int64(triggers)),
            "tables": .integer(Int64(tables)),
            "changes": .integer(changes),
            "discarded": .integer(discarded),
            "journal_mode": .string(journalMode),
        ])
    }
}
