import Journal
import Synchronization

/// The snapshots of an archive, as a clone asks a peer for them.
package struct ArchiveSnapshots: SnapshotSource {
    /// The archive's address, without secrets.
    package var name: String { snapshots.store.name }

    private let snapshots: SnapshotStore
    /// Only snapshots that were made before, in milliseconds since 1970.
    private let until: Int64
    private let takesOldest: Bool
    private let taken = Taken()

    /// What was taken so far.
    private final class Taken: Sendable {
        let manifests = Mutex<[String: SnapshotManifest]>([:])
        /// Snapshots of which a part could not be read. The archive cannot be told by a reader without that right.
        let rejected = Mutex<Set<String>>([])
    }

    /// - Parameters:
    ///   - until: Only snapshots that were made before, in milliseconds since 1970.
    ///   - takesOldest: True for the oldest of them instead of the newest.
    package init(
        _ store: any ObjectStore, until: Int64 = .max, limits: Limits = .standard, takesOldest: Bool = false
    ) {
        snapshots = SnapshotStore(store: store, limits: limits)
        self.until = until
        self.takesOldest = takesOldest
    }

    /// The error for a place without an archive.
    static func noArchive(_ name: String) -> SyncError {
        SyncError(
            .notFound, "There is no archive at \(name)",
            hint: "Check the address. `syncd sync DB \(name)` on a replica makes one.")
    }

    /// The newest snapshot of which nothing is known to be missing or damaged.
    ///
    /// - Throws: ``SyncError``: `notFound` when there is none; those of the store.
    public func snapshot() async throws -> SnapshotAnswer {
        let manifest = try await newest().manifest
        taken.manifests.withLock { $0[manifest.id] = manifest }
        return .ready(manifest)
    }

    /// As ``SnapshotSource/part(_:of:size:)``. A part that is missing or damaged is `notFound`, and its snapshot is not
    /// given again.
    public func part(_ index: Int, of id: String, size: Int) async throws -> [UInt8] {
        guard let manifest = taken.manifests.withLock({ $0[id] }), manifest.parts.indices.contains(index) else {
            throw SyncError(.notFound, "The archive \(name) was not asked for a snapshot \(id)")
        }
        do {
            return try await snapshots.part(index, of: manifest)
        } catch let error as SyncError where error.code == .notFound {
            _ = taken.rejected.withLock { $0.insert(id) }
            throw error
        }
    }

    /// Notes beside a file that was made from a snapshot which packs it need not read.
    ///
    /// - Throws: ``SyncError``: those of the store and of the disk.
    package func noteCursors(of path: String, snapshot id: String) async throws {
        guard let meta = try await ArchiveMeta.read(snapshots.store),
            let snapshot = try await snapshots.all().first(where: { $0.manifest.id == id })
        else { return }
        let notes = ArchiveNotes(path: path)
        try await blocking {
            let reading = ArchiveNotes.Reading(
                cursors: snapshot.cursors, brought: StoredVector(snapshot.manifest.vector))
            try notes.write(ArchiveNotes.Position(reading: reading), of: meta.archive.origin)
        }
    }

    func newest() async throws -> ArchivedSnapshot {
        guard try await ArchiveMeta.read(snapshots.store) != nil else { throw ArchiveSnapshots.noArchive(name) }
        let rejected = taken.rejected.withLock { $0 }
        let whole = try await snapshots.whole().filter {
            $0.milliseconds <= until && !rejected.contains($0.manifest.id)
        }
        guard let newest = takesOldest ? whole.first : whole.last else {
            let kind = try await snapshots.all().isEmpty ? "" : "whole "
            throw SyncError(
                .notFound, "The archive \(name) holds no \(kind)snapshot\(until == .max ? "" : " that is old enough")",
                hint: until == .max
                    ? "`syncd store snapshot DB \(name)` on a replica makes one; `syncd run` does so once a day."
                    : "`syncd store status \(name)` lists the times that it reaches.")
        }
        return newest
    }
}
