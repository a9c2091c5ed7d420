import ArgumentParser
import Foundation
import Journal
import Sync

struct RestoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Make a replica from a backup, or show all tables as they were at a time.",
        discussion: """
            The new replica has an identity of its own, so nothing that was written after the backup is overwritten or lost: \
            peers bring it. With --at the new file is no replica: it has the tables as they were at that time, for reading \
            and for taking rows back. From an archive, such as file:///mnt/shop, --at reaches back to its first snapshot; \
            without --at use `syncd clone`.

            Exit status: 0 success, 1 failure with no new file, 64 wrong use.
            """)

    @Argument(
        help: ArgumentHelp("A backup, the file of a replica, or the address of an archive.", valueName: "backup"),
        completion: .file())
    var source: String

    @Argument(help: ArgumentHelp("The new SQLite file, which must not exist.", valueName: "db"), completion: .file())
    var database: String

    @Option(
        help: ArgumentHelp("A time such as 2026-11-21 or 2026-11-21T08:40:19Z.", valueName: "time"))
    var at: TimeArgument?

    @Flag(help: "One JSON object.")
    var json = false

    func run() async throws {
        if source.contains("://") { return try await restoreFromArchive() }
        let time = Date().timeIntervalSince1970
        let meter = CopyMeter()
        let outcome = try await ProgressLine.during(
            "Restoring \(database)", detail: { meter.text },
            work: { [source, database, at] in
                try await blocking {
                    try Restoring(source: source, path: database, at: at?.stamp).run(time: time) { meter.note($0) }
                }
            })
        if json { Console.line(outcome.json(path: database).text) } else { Console.line(outcome.line(path: database)) }
    }

    private func restoreFromArchive() async throws {
        let store = PatientStore(try StoreArgument.open(PeerConfiguration(source)))
        guard let at else {
            throw Failure(
                "A restore from an archive needs a time",
                hint: "Give --at; `syncd clone` makes a replica of its present.")
        }
        let meter = CloneMeter()
        let restore = ArchiveRestore(store, path: database, at: at.stamp)
        let outcome = try await ProgressLine.during(
            "Restoring \(database)", detail: { meter.text }, work: { try await restore.run { meter.note($0) } })
        if json { Console.line(outcome.json(path: database).text) } else { Console.line(outcome.line(path: database)) }
    }
}
