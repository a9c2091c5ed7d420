import Foundation
import Journal

#if canImport(Glibc)
    import Glibc
#endif

/// A copy of a replica's file at one moment, without a name: a crash leaves nothing behind.
struct SnapshotCopy: Sendable {
    let file: PartFile
    let manifest: SnapshotManifest
    /// Up to where the journal in it is compacted.
    let horizon: VersionVector

    /// What the name of each unfinished copy begins with. A process that dies leaves one behind.
    private static func prefix(of replica: Replica) -> String {
        replica.options.files.resolved(replica.path) + "-snapshot-"
    }

    /// Removes the unfinished copies of processes that died. For the one daemon of a file, before it serves.
    static func removeLeftovers(of replica: Replica) {
        let prefix = prefix(of: replica)
        let directory = (prefix as NSString).deletingLastPathComponent
        for name in (try? FileManager.default.contentsOfDirectory(atPath: directory.isEmpty ? "." : directory)) ?? [] {
            let path = directory.isEmpty ? name : (directory as NSString).appendingPathComponent(name)
            if path.hasPrefix(prefix) { unlink(path) }
        }
    }

    /// Copies the file while programs write to it.
    ///
    /// - Parameter onProgress: Called with the pages that are copied, and all of them.
    /// - Throws: Errors of the file and of the disk; ``JournalError/Code/notAReplica``.
    static func make(
        of replica: Replica, limits: Limits, onProgress: (_ completed: Int, _ total: Int) -> Void
    ) throws -> SnapshotCopy {
        let path = prefix(of: replica) + OriginID.random().description
        defer { DatabaseCopy.remove(path) }
        // Otherwise each receiver would derive what is derived here once.
        repeat { try replica.refreshDerivedState() } while try replica.hasLongTail()
        let content = try DatabaseCopy(to: path).run(of: replica) { progress in
            onProgress(progress.completedPages, progress.totalPages)
        }
        _ = try LocalTables.empty(path, unlock: replica.options.unlock)
        guard let identity = content.identity else {
            throw JournalError(.notAReplica, "The database has no change journal")
        }
        let file = try PartFile.reading(path)
        let bytes = try file.size()
        let size = limits.snapshotPartBytes
        var hash = SHA256()
        var parts: [SnapshotManifest.Digest] = []
        for start in stride(from: 0, to: bytes, by: size) {
            hash.update(try file.read(Int(min(Int64(size), bytes - start)), at: start))
            parts.append(.init(hash.finish()))
        }
        return SnapshotCopy(
            file: file,
            manifest: SnapshotManifest(
                id: OriginID.random().description, cluster: identity.cluster, origin: identity.origin,
                vector: content.vector, bytes: bytes, partBytes: size, parts: parts),
            horizon: content.horizon)
    }
}
