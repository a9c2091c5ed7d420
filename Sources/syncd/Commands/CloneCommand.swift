import ArgumentParser
import Foundation
import Journal
import Logging
import Sync

struct CloneCommand: AsyncParsableCommand, ExtensionLoading {
    static let configuration = CommandConfiguration(
        commandName: "clone",
        abstract: "Make a new replica from a peer: a copy of its file with an identity of its own.",
        discussion: """
            The peer copies its file while programs write to it, and sends the copy in parts, which are checked. A clone that \
            was interrupted goes on where it was when the command is run again. The new file appears when it is complete; \
            `syncd run` on it fetches what came since. From an archive, no other replica has to run. The rows of tables that the peer excludes are not part of it.

            Exit status: 0 success, 1 failure with no new file, 64 wrong use.
            """)

    @Argument(
        help: ArgumentHelp(
            "A daemon's URL, the path of another replica's file, or an archive such as file:///mnt/shop.",
            valueName: "peer"))
    var peer: String

    @Argument(help: ArgumentHelp("The new SQLite file, which must not exist.", valueName: "db"), completion: .file())
    var database: String

    @OptionGroup var connection: ConnectionOptions

    @OptionGroup var extensions: ExtensionOption

    @Option(help: ArgumentHelp("The cluster that the peer must belong to.", valueName: "name"))
    var cluster: String?

    @Flag(help: "One JSON object.")
    var json = false

    func run() async throws {
        let report = try await CloneCommand.clone(
            try connection.peer(peer), to: database, cluster: cluster)
        if json {
            Console.line(report.json.text)
        } else {
            for line in report.lines(path: database) { Console.line(line) }
        }
    }

    /// Makes a replica at `path` from a peer, with a line of progress.
    ///
    /// - Throws: ``Failure``, `SyncError`; the new file does not exist then.
    static func clone(_ peer: PeerConfiguration, to path: String, cluster: String?) async throws -> CloneReport {
        let source = try source(peer)
        var clone = Clone(from: source, to: path)
        clone.cluster = cluster
        let meter = CloneMeter()
        do {
            let result = try await ProgressLine.during(
                "Cloning \(peer.name)", detail: { meter.text },
                work: { [clone] in try await clone.run { meter.note($0) } })
            // Capture follows this machine's SQLite, and the file is read once before it is called ready.
            let replica = try Replica.open(at: path)
            try replica.refreshDerivedState()
            if let archive = source as? ArchiveSnapshots {
                try await archive.noteCursors(of: path, snapshot: result.snapshot)
                try await follow(peer, with: replica)
            }
            let report = try CloneReport(result, replica)
            try replica.close()
            return report
        } catch let error as SyncError {
            throw error.failure(with: peer)
        }
    }

    /// The snapshots of a peer.
    static func source(_ peer: PeerConfiguration) throws -> any SnapshotSource {
        switch peer.address {
        case .http: try CurlTransport(peer)
        case .file(let file): try LocalTransport.open(path: file, limits: .standard, clock: SystemClock())
        case .archive(let store): ArchiveSnapshots(PatientStore(try store.open(tls: peer.tls)))
        }
    }

    /// Takes the packs that were written since the snapshot of an archive was made.
    private static func follow(_ peer: PeerConfiguration, with replica: Replica) async throws {
        let replicator = try Replicator(replica: replica, logger: Logger.standardError(level: .warning))
        let arrivals = try Arrivals(replica)
        _ = try await ProgressLine.during(
            "Reading what came since", detail: { await arrivals.text() },
            work: { try await replicator.syncOnce(peer) })
        try replicator.inbox.close()
    }
}
