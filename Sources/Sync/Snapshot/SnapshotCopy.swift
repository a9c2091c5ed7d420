import Journal

/// A copy of a replica's file at one moment, without a name: a crash leaves nothing behind.
package struct SnapshotCopy: Sendable {
    let file: PartFile
    package let manifest: SnapshotManifest
    /// Up to where the journal in it is compacted.
    let horizon: VersionVector

    /// What the name of each unfinished copy begins with. A process that dies leaves one behind.
    private static func prefix(of replica: Replica) -> String {
        replica.options.files.resolved(replica.path) + "-snapshot-"
    }

    /// Removes the unfinished copies of processes that died. For the one daemon of a file, before it serves.
    static func removeLeftovers(of replica: Replica) {
        let files = replica.options.files
        for path in files.paths(beginningWith: prefix(of: replica)) { files.remove(path) }
    }

    /// Copies the file while programs write to it.
    ///
    /// - Parameters:
    ///   - scope: The tables of a copy that becomes a leaf; nil for a copy of everything.
    ///   - onProgress: Called with the pages that are copied, and all of them.
    /// - Throws: Errors of the file and of the disk; ``JournalError/Code/notAReplica``; ``SyncError/Code/forbidden``
    ///   for tables that a leaf cannot have without others.
    package static func make(
        of replica: Replica, limits: Limits, only scope: TableScope? = nil,
        onProgress: (_ completed: Int, _ total: Int) -> Void = { _, _ in }
    ) throws -> SnapshotCopy {
        if let scope { try LeafScope.check(scope, replica) }
        let id = try replica.read { try OriginID.random($0) }.description
        let path = prefix(of: replica) + id
        let files = replica.options.files
        defer { DatabaseCopy.remove(path, files) }
        // Otherwise each receiver would derive what is derived here once.
        repeat { try replica.refreshDerivedState() } while try replica.hasLongTail()
        let content = try DatabaseCopy(to: path).run(of: replica) { progress in
            onProgress(progress.completedPages, progress.totalPages)
        }
        _ = try LocalTables.empty(path, unlock: replica.options.unlock, files: files)
        if let scope { try LeafContent.keep(only: scope, in: path, unlock: replica.options.unlock, files: files) }
        guard let identity = content.identity else {
            throw JournalError(.notAReplica, "The database has no change journal")
        }
        let profile = try ContentProfile(at: path, unlock: replica.options.unlock)
        let file = try PartFile.reading(path, files)
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
                id: id, cluster: identity.cluster, origin: identity.origin,
                vector: content.vector, bytes: bytes, partBytes: size, parts: parts, profile: profile),
            horizon: content.horizon)
    }

    /// Returns the bytes of a part.
    ///
    /// - Throws: ``SyncError/Code/storage``.
    package func part(_ index: Int) throws(SyncError) -> [UInt8] {
        try file.read(manifest.size(ofPart: index), at: Int64(index) * Int64(manifest.partBytes))
    }
}
