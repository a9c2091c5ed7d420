import ArgumentParser
import Foundation
import Journal
import Logging
import Sync
import Synchronization

struct CompactCommand: AsyncParsableCommand, DatabaseCommand {
    static let configuration = CommandConfiguration(
        commandName: "compact",
        abstract: "Remove from the journal what no replica needs any more.",
        discussion: """
            An entry goes when all other replicas have it and later changes have overwritten everything that it wrote, or \
            have deleted its row. The rows do not change, and programs may write meanwhile. Rows with open conflicts keep \
            their history. `syncd run` does the same by itself.

            The pages that become free are used again; a file with PRAGMA auto_vacuum = INCREMENTAL gives them back to the \
            disk, and so does --vacuum, which locks the file while it copies it.

            A replica that has none of the others left on record, and is compacted all the same, can only be followed by \
            replicas that are cloned from it.

            Exit status: 0 success, also when nothing could go; 1 failure, after which what was removed stays removed; 64 \
            wrong use.
            """)

    @OptionGroup var database: DatabaseArgument

    @Option(help: ArgumentHelp("How much history stays at least (default: 7d).", valueName: "time"))
    var keep: TimeSpan?

    @Option(
        help: ArgumentHelp(
            "How long a replica that is not heard of holds compaction back (default: 30d).", valueName: "time"))
    var lease: TimeSpan?

    @Flag(name: [.customShort("n"), .customLong("dry-run")], help: "Only say what would go, and what holds it back.")
    var dryRun = false

    @Flag(help: "Copy the file afterwards, which gives all free pages back to the disk.")
    var vacuum = false

    @Flag(help: "One JSON object.")
    var json = false

    func validate() throws {
        if dryRun, vacuum { throw ValidationError("--dry-run changes nothing; leave out --vacuum.") }
    }

    func run() async throws {
        let replica = try Replica.openOnce(at: database.path)
        let before = FileSizes(path: database.path, files: replica.options.files).file
        let replicator = try Replicator(replica: replica, logger: Logger.standardError(level: .warning))
        let meter = CompactionMeter()
        let began = ContinuousClock.now
        let report = try await ProgressLine.during(
            "Compacting \(database.path)", detail: { meter.text },
            work: { [keep, lease, dryRun] in
                try await replicator.compact(
                    keep: keep?.milliseconds, lease: lease?.milliseconds, isDryRun: dryRun
                ) { meter.note($0, of: $1) }
            })
        if vacuum {
            try await ProgressLine.during(
                "Copying \(database.path)", detail: { "" },
                work: { try await blocking { try replicator.inbox.vacuum() } })
        }
        try replicator.inbox.close()
        if !dryRun { _ = try replica.checkpoint(.truncate) }
        try replica.close()
        let after = FileSizes(path: database.path, files: replica.options.files).file
        let line = CompactionLine(
            report: report, isDryRun: dryRun, bytesBefore: before, bytesAfter: after, hasVacuumed: vacuum,
            milliseconds: Int64((ContinuousClock.now - began) / .milliseconds(1)))
        if json { Console.line(line.json.text) } else { for text in line.text { Console.line(text) } }
    }
}

/// How far a compaction has come.
final class CompactionMeter: Sendable {
    private let counts = Mutex((done: 0, of: 0))

    func note(_ done: Int, of total: Int) { counts.withLock { $0 = (done, total) } }

    var text: String {
        let counts = counts.withLock { $0 }
        guard counts.of > 0 else { return "reading the journal" }
        return "\(ConsoleText.number(Int64(counts.done))) of \(ConsoleText.count(Int64(counts.of), "entry", "entries"))"
    }
}
