import ArgumentParser
import Foundation
import Journal
import Logging
import Sync

/// What people do with an archive.
struct StoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "store",
        abstract: "Look at an archive, check it, put a snapshot into it, or remove what is old.",
        discussion: """
            An archive is a peer that is no machine: a directory, such as file:///mnt/shop, or a part of a bucket, such as \
            s3://bucket/shop. `syncd sync DB ADDRESS` and \
            `syncd run DB --peer ADDRESS` fill it and read it. See docs/ARCHIVE.md.

            Exit status: 0 success, 1 failure, 64 wrong use.
            """,
        subcommands: [
            StoreStatusCommand.self, StoreVerifyCommand.self, StoreSnapshotCommand.self, StoreCollectCommand.self,
        ])
}

/// The address of an archive on the command line.
struct StoreArgument: ParsableArguments {
    @Argument(help: ArgumentHelp("The archive: file:///directory or s3://bucket/prefix.", valueName: "archive"))
    var address: String

    @Option(
        name: .customLong("tls-ca"),
        help: ArgumentHelp(
            "A PEM file of the authorities to trust for the server of a bucket, instead of the system's.",
            valueName: "file"),
        completion: .file())
    var tlsAuthority: String?

    /// The archive as a peer.
    var peer: PeerConfiguration {
        get throws {
            if let tlsAuthority { try TrustedAuthorities.check(tlsAuthority) }
            return try PeerConfiguration(address, tls: TLSFiles(authorities: tlsAuthority))
        }
    }

    /// The store for this command.
    func open() throws -> any ObjectStore { PatientStore(try StoreArgument.open(peer)) }

    /// - Throws: ``Failure`` for the address of something else.
    static func open(_ peer: PeerConfiguration) throws -> any ObjectStore {
        guard case .archive(let store) = peer.address else {
            throw Failure(
                "\(peer.name) is not the address of an archive",
                hint: "It looks like file:///mnt/shop or s3://bucket/shop.")
        }
        return try store.open(tls: peer.tls)
    }
}

struct StoreStatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show what an archive holds: streams, snapshots, and the times that it reaches.",
        discussion: """
            Exit status: 0 success, 1 failure, 64 wrong use.
            """)

    @OptionGroup var archive: StoreArgument

    @Flag(help: "One JSON object.")
    var json = false

    func run() async throws {
        let summary = try await ArchiveSurvey(archive.open()).summary()
        if json { Console.line(summary.json.text) } else { for line in summary.lines { Console.line(line) } }
    }
}

struct StoreVerifyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Read all of an archive, and name what is damaged or missing.",
        discussion: """
            Checks the digest of every pack and snapshot, that no pack was replaced, and that no change is missing between \
            two others. Writes nothing. What is missing is written again by any replica that has it, at its next exchange.

            Exit status: 0 all is whole, 1 something is not, or failure, 64 wrong use.
            """)

    @OptionGroup var archive: StoreArgument

    @Flag(help: "One JSON object.")
    var json = false

    func run() async throws {
        let survey = ArchiveSurvey(try archive.open())
        let meter = SurveyMeter()
        let found = try await ProgressLine.during(
            "Reading \(archive.address)", detail: { meter.text }, work: { try await survey.verify { meter.note($0) } })
        if json { Console.line(found.json.text) } else { for line in found.lines { Console.line(line) } }
        if !found.problems.isEmpty { throw ExitCode(1) }
    }
}

struct StoreSnapshotCommand: AsyncParsableCommand, DatabaseCommand {
    static let configuration = CommandConfiguration(
        commandName: "snapshot",
        abstract: "Put a copy of a replica into an archive, for new replicas and for restores.",
        discussion: """
            `syncd run` does so by itself once a day. The copy is made while programs write to the file.

            Exit status: 0 success, 1 failure, 64 wrong use.
            """)

    @OptionGroup var database: DatabaseArgument
    @OptionGroup var archive: StoreArgument

    @Flag(help: "One JSON object.")
    var json = false

    func run() async throws {
        let replica = try Replica.openOnce(at: database.path)
        let peer = try archive.peer
        _ = try archive.open()
        let replicator = try Replicator(replica: replica, logger: Logger.standardError(level: .warning))
        let meter = UploadMeter()
        let made = try await ProgressLine.during(
            "Writing a snapshot", detail: { meter.text },
            work: { try await replicator.archive(in: peer) { meter.note($0, $1) } })
        try replicator.inbox.close()
        try replica.close()
        guard !json else { return Console.line(made.json.text) }
        Console.line(
            "\(ConsoleText.printable(peer.name)) has a snapshot of \(ConsoleText.printable(database.path)): "
                + "\(ConsoleText.count(made.bytes, "byte")), all changes up to now.")
    }
}

struct StoreCollectCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "collect",
        abstract: "Remove old packs and snapshots that an archive needs no more.",
        discussion: """
            A pack goes when it is old, all its changes are in every snapshot, and every replica that was heard of lately \
            has merged them. The newest two snapshots stay, and one of each week.

            It takes two steps, a day apart: objects are marked, and the next run removes those that were marked a day \
            before and are needless still. So run it once a day, for example by cron. Without --apply, nothing is marked \
            and nothing is removed. Replicas may exchange meanwhile, and several collections may run.

            Exit status: 0 success, also when nothing could go; 1 failure, after which the next run goes on; 64 wrong use.
            """)

    @OptionGroup var archive: StoreArgument

    @Flag(help: "Mark and remove. Without it, only say what would go.")
    var apply = false

    @Option(
        help: ArgumentHelp(
            "Packs younger than this stay: the times that `restore --at` reaches (default: 90d).", valueName: "time"))
    var keep: TimeSpan?

    @Option(
        help: ArgumentHelp(
            "A replica that is not heard of for so long holds nothing back, and has to be cloned (default: 30d).",
            valueName: "time"))
    var lease: TimeSpan?

    @Option(
        help: ArgumentHelp(
            "The time between marking and removing. Longer than any clone takes (default: 1d).", valueName: "time"))
    var grace: TimeSpan?

    @Flag(help: "One JSON object.")
    var json = false

    func run() async throws {
        var settings = CollectionSettings()
        if let keep { settings.keepMilliseconds = keep.milliseconds }
        if let lease { settings.leaseMilliseconds = lease.milliseconds }
        if let grace { settings.graceMilliseconds = grace.milliseconds }
        let collector = ArchiveCollector(
            try archive.open(), settings: settings, entropy: { UInt64.random(in: .min ... .max) })
        let meter = CollectionMeter()
        let report = try await ProgressLine.during(
            "Reading \(archive.address)", detail: { meter.text },
            work: { [apply] in try await collector.run(isDryRun: !apply) { meter.note($0) } })
        if json {
            Console.line(report.json(isDryRun: !apply).text)
        } else {
            for line in report.lines(isDryRun: !apply) { Console.line(line) }
        }
    }
}
