import ArgumentParser
import Foundation
import Journal
import Logging
import Sync

struct ReturnCommand: AsyncParsableCommand, DatabaseCommand {
    static let configuration = CommandConfiguration(
        commandName: "return",
        abstract: "Bring a replica back that was away for longer than its lease.",
        discussion: """
            Its peers have compacted what it lacks, and refuse it with `behind_horizon`. The file gets the content of a peer \
            while programs have it open; writers wait while the content takes its place. What this replica wrote meanwhile is \
            written again: where others changed the same, the later version wins, and the ledger has the other one. Tables that do \
            not replicate keep their rows. The file as it was stays beside it, as DB-before-return-TIME.

            A daemon does this by itself, so it must be stopped here.

            Exit status: 0 success, 1 failure with an unchanged file, 64 wrong use.
            """)

    @OptionGroup var database: DatabaseArgument

    @Argument(
        help: ArgumentHelp(
            "A daemon's URL, the path of another replica's file, or an archive such as file:///mnt/shop.",
            valueName: "peer"))
    var peer: String

    @OptionGroup var connection: ConnectionOptions

    @Flag(help: "One JSON object.")
    var json = false

    func run() async throws {
        let peer = try connection.peer(peer)
        let replica = try Replica.open(at: database.path)
        let lock = try FileLock(database: database.path, for: .maintenance)
        let inbox = try Inbox(replica: replica, logger: Logger.standardError(level: .error)) {
            Stamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1_000))
        }
        do {
            let back = Return(inbox, from: try CloneCommand.source(peer))
            let meter = ReturnMeter()
            let report = try await ProgressLine.during(
                "Coming back by \(peer.name)", detail: { meter.text }, work: { try await back.run { meter.note($0) } })
            try inbox.close()
            try replica.close()
            withExtendedLifetime(lock) {}
            if json {
                Console.line(report.json.text)
            } else {
                for line in report.lines(path: database.path) { Console.line(line) }
            }
        } catch let error as SyncError {
            throw error.failure(with: peer)
        }
    }
}

extension Return.Report {
    func lines(path: String) -> [String] {
        var lines = [
            "\(ConsoleText.printable(path)) has the content of its peer, \(ConsoleText.count(bytes, "byte")), and is replica "
                + "\(identity.new) from now on; it was \(identity.old).",
            "The others had not seen \(ConsoleText.count(unseen, "change")) of it: "
                + "\(ConsoleText.count(written, "change")) were written again.",
        ]
        if contested > 0 {
            lines.append(
                "Others had changed \(ConsoleText.count(contested, "row")) of these as well: `syncd conflicts` shows both versions."
            )
        }
        if rekeyed > 0 {
            lines.append("\(ConsoleText.count(rekeyed, "row")) got another key, because others have given theirs.")
        }
        lines.append(
            "Writers waited \(ConsoleText.number(waitedMilliseconds)) ms. The file as it was: \(ConsoleText.printable(kept))"
        )
        return lines
    }

    var json: JSONValue {
        .object([
            "origin": .string(identity.new.description),
            "former_origin": .string(identity.old.description),
            "unseen": .integer(Int64(unseen)),
            "written": .integer(Int64(written)),
            "contested": .integer(Int64(contested)),
            "rekeyed": .integer(Int64(rekeyed)),
            "kept": .string(kept),
            "bytes": .integer(bytes),
            "waited_milliseconds": .integer(waitedMilliseconds),
        ])
    }
}
