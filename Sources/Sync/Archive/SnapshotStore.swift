import Journal
import Synchronization

/// The snapshots of an archive.
struct SnapshotStore: Sendable {
    let store: any ObjectStore
    let limits: Limits

    /// All snapshots, the oldest first. A damaged manifest is left out.
    ///
    /// - Throws: ``SyncError`` of the store.
    func all() async throws -> [ArchivedSnapshot] {
        var snapshots: [ArchivedSnapshot] = []
        for object in try await store.listAll(ArchiveKeys.manifests) {
            if let bytes = try await store.get(object.key),
                let snapshot: ArchivedSnapshot = try? ArchiveJSON.decode(bytes, "A manifest")
            {
                snapshots.append(snapshot)
            }
        }
        return snapshots.sorted { ($0.milliseconds, $0.manifest.id) < ($1.milliseconds, $1.manifest.id) }
    }

    /// The snapshots of which no part is known to be missing or damaged, the oldest first.
    ///
    /// - Throws: ``SyncError`` of the store.
    func whole() async throws -> [ArchivedSnapshot] {
        let snapshots = try await all()
        guard !snapshots.isEmpty else { return [] }
        let parts = SnapshotParts(counts: try await partCounts(), damaged: try await damaged())
        return snapshots.filter { parts.isWhole($0.manifest) }
    }

    /// The number of parts that are there, by snapshot.
    ///
    /// - Throws: ``SyncError`` of the store.
    func partCounts() async throws -> [String: Int] {
        try await store.listAll(ArchiveKeys.parts).reduce(into: [:]) {
            $0[ArchiveKeys.snapshot(ofPart: $1.key), default: 0] += 1
        }
    }

    /// The snapshots that readers found damaged.
    ///
    /// - Throws: ``SyncError`` of the store.
    func damaged() async throws -> Set<String> {
        Set(try await store.listAll(ArchiveKeys.damagedSnapshots).compactMap { ArchiveKeys.damagedSnapshot($0.key) })
    }

    /// Writes the file of a snapshot, then its manifest.
    ///
    /// - Parameter onProgress: Called with the bytes of the file that are written, and all of them.
    /// - Throws: ``SyncError`` of the store and of the file. Parts that were written stay, without a manifest.
    func write(
        _ snapshot: ArchivedSnapshot, _ file: PartFile, onProgress: @Sendable (Int64, Int64) -> Void = { _, _ in }
    ) async throws {
        let manifest = snapshot.manifest
        for index in manifest.parts.indices {
            let bytes = try await blocking {
                try PayloadEncoding.zstd.compress(
                    file.read(manifest.size(ofPart: index), at: Int64(index) * Int64(manifest.partBytes)))
            }
            _ = try await store.create(ArchiveKeys.part(index, of: manifest.id), bytes)
            onProgress(min(Int64(index + 1) * Int64(manifest.partBytes), manifest.bytes), manifest.bytes)
        }
        _ = try await store.create(ArchiveKeys.manifest(manifest.id), ArchiveJSON.encode(snapshot))
    }

    /// Reads a part and checks it. One that is damaged is read once more.
    ///
    /// - Throws: ``SyncError``: `notFound` for a part that is missing or damaged; the archive then says so to all
    ///   readers, as far as this one may write to it. Those of the store.
    func part(_ index: Int, of manifest: SnapshotManifest) async throws -> [UInt8] {
        for _ in 0..<2 {
            guard let bytes = try await store.get(ArchiveKeys.part(index, of: manifest.id)) else { break }
            if let part = try? await blocking({ try check(bytes, index, of: manifest) }) { return part }
        }
        // A snapshot that a collection removes loses its manifest first.
        if try await store.get(ArchiveKeys.manifest(manifest.id)) != nil {
            _ = try? await store.create(ArchiveKeys.damage(ofSnapshot: manifest.id), [])
        }
        throw SyncError(
            .notFound, "Part \(index) of the snapshot \(manifest.id) is missing or damaged in \(store.name)",
            hint: "Another snapshot may be whole: see `syncd store status`.")
    }

    /// The content of a part.
    ///
    /// - Throws: ``SyncError``: `invalid`, when it is not the one that the manifest names.
    func check(_ bytes: [UInt8], _ index: Int, of manifest: SnapshotManifest) throws -> [UInt8] {
        let part = try? PayloadEncoding.zstd.decompress(bytes, limit: manifest.size(ofPart: index), limits: limits)
        guard let part, SHA256.areEqual(SHA256.digest(of: part), manifest.parts[index].bytes) else {
            throw ArchiveJSON.damaged("Part \(index) of the snapshot \(manifest.id)")
        }
        return part
    }
}

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
            try notes.write(ArchiveNotes.Position(cursors: snapshot.cursors), of: meta.archive.origin)
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
