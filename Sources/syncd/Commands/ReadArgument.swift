import ArgumentParser
import Foundation
import Journal
import Sync

/// What a command reads: a file, or what an archive holds.
struct ReadArgument: ParsableArguments {
    @Argument(
        help: ArgumentHelp("The SQLite file, or the address of an archive.", valueName: "db"), completion: .file())
    var path: String

    var isArchive: Bool { path.contains("://") }

    /// Opens the file for reading. Of an archive, makes a copy in the directory for temporary files, which is removed
    /// afterwards.
    ///
    /// - Parameters:
    ///   - at: The time up to which an archive is read; nil for all.
    ///   - beginning: From which of its snapshots.
    func read<T>(
        at: Stamp?, _ beginning: ArchiveCopy.Beginning, _ body: (Replica) async throws -> T
    ) async throws -> T {
        guard isArchive else {
            let replica = try Replica.openReader(at: path)
            let result = try await body(replica)
            try replica.closeReader()
            return result
        }
        let store = PatientStore(try StoreArgument.open(PeerConfiguration(path)))
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("syncd-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: directory, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        defer { try? FileManager.default.removeItem(at: directory) }
        let copy = ArchiveCopy(
            store, path: directory.appendingPathComponent("copy.sqlite").path, at: at, beginning: beginning)
        let meter = CloneMeter()
        try await ProgressLine.during(
            "Reading \(path)", detail: { meter.text }, work: { try await copy.make { meter.note($0) } })
        let replica = try Replica.openReader(at: copy.path)
        let result = try await body(replica)
        try replica.closeReader()
        return result
    }
}
