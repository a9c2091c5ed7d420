import ArgumentParser
import Foundation
import Journal
import Sync

struct BackupCommand: AsyncParsableCommand, DatabaseCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Copy a replica to a file, while programs write to it.",
        discussion: """
            The copy shows one moment. It is a single file that any SQLite opens, it is read through before it gets its name, \
            and it is on the disk then. `syncd restore` makes a replica of it again, and peers bring what came since.

            Exit status: 0 success, 1 failure with no new file, 64 wrong use.
            """)

    @OptionGroup var database: DatabaseArgument

    @Argument(help: ArgumentHelp("The file to write.", valueName: "dest"), completion: .file())
    var destination: String

    @Flag(help: "Replace an existing file.")
    var replace = false

    @Flag(help: "One JSON object.")
    var json = false

    func run() async throws {
        let replica = try Replica.openOnce(at: database.path)
        try replica.refreshDerivedState()
        let meter = CopyMeter()
        let began = ContinuousClock.now
        let content = try await ProgressLine.during(
            "Backing up \(database.path)", detail: { meter.text },
            work: { [destination, replace] in
                try await blocking {
                    try BackupFile.write(replica, to: destination, replacing: replace) { meter.note($0) }
                }
            })
        try replica.close()
        let milliseconds = Int64((ContinuousClock.now - began) / .milliseconds(1))
        guard !json else {
            Console.line(
                JSONValue.object([
                    "path": .string(destination),
                    "origin": .optional(content.identity) { .string($0.origin.description) },
                    "vector": .vector(content.vector),
                    "bytes": .integer(content.bytes),
                    "milliseconds": .integer(milliseconds),
                ]).text)
            return
        }
        Console.line(
            "\(ConsoleText.printable(destination)) has all of \(ConsoleText.printable(database.path)): "
                + "\(ConsoleText.count(content.bytes, "byte")), read through, in \(ConsoleText.number(milliseconds)) ms."
        )
    }
}
