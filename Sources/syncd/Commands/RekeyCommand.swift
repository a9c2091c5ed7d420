import ArgumentParser
import Foundation
import Journal
import Logging
import Sync

struct RekeyCommand: AsyncParsableCommand, DatabaseCommand {
    static let configuration = CommandConfiguration(
        commandName: "rekey",
        abstract: "Give a replica a new identity, because its file was copied or restored.",
        discussion: """
            Replicas notice by themselves that they are copies or were restored, and do this then. Changes that a peer may hold \
            keep the old identity; the others are sent under the new one. Nothing is lost. The daemon of the file must be stopped.

            Exit status: 0 success, 1 failure with nothing changed, 64 wrong use.
            """,
        // SQLCipher's PRAGMA rekey changes an encryption key: a second name that means one thing only.
        aliases: ["reidentify"])

    @OptionGroup var database: DatabaseArgument

    @Flag(help: "One JSON object.")
    var json = false

    func run() async throws {
        let replica = try Replica.open(at: database.path)
        let lock = try FileLock(database: database.path, for: .maintenance)
        let inbox = try Inbox(replica: replica, logger: Logger.standardError(level: .warning)) {
            Stamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1_000))
        }
        // A copied or restored file has its new identity already, by being opened.
        let outcome = try inbox.lastRekey ?? inbox.rekey()
        let identity = try replica.identity()
        try inbox.close()
        try replica.close()
        withExtendedLifetime(lock) {}
        guard let outcome else {
            throw Failure(
                "Another program has just given the replica a new identity",
                hint: "`syncd status \(database.path)` shows it; run rekey again for one more")
        }
        guard !json else {
            Console.line(outcome.json.text)
            return
        }
        Console.line(
            "\(ConsoleText.printable(database.path)) is replica \(outcome.new) of cluster "
                + "\(ConsoleText.printable(identity.cluster)) from now on; it was \(outcome.old).")
        Console.line(
            "\(ConsoleText.count(outcome.kept, "change")) kept the old identity, "
                + "\(ConsoleText.count(outcome.reissued, "change")) got the new one.")
    }
}

extension NewIdentity.Outcome {
    var json: JSONValue {
        .object([
            "origin": .string(new.description),
            "former_origin": .string(old.description),
            "kept": .integer(kept),
            "reissued": .integer(reissued),
            "reason": .string(reason.rawValue),
        ])
    }
}
