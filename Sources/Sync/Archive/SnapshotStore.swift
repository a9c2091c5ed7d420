import Journal

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

    /// Reads a part.
    ///
    /// - Throws: ``SyncError``: `notFound`; `invalid`; those of the store.
    func part(_ index: Int, of id: String, size: Int) async throws -> [UInt8] {
        guard let bytes = try await store.get(ArchiveKeys.part(index, of: id)) else {
            throw SyncError(
                .notFound, "Part \(index) of the snapshot \(id) is missing in \(store.name)",
                hint: "Another snapshot may be whole: see `syncd store status`.")
        }
        do throws(WireError) {
            return try PayloadEncoding.zstd.decompress(bytes, limit: size, limits: limits)
        } catch {
            throw ArchiveJSON.damaged("Part \(index) of the snapshot \(id)")
        }
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

    /// The newest snapshot.
    ///
    /// - Throws: ``SyncError``: `notFound` when there is none; those of the store.
    public func snapshot() async throws -> SnapshotAnswer { .ready(try await newest().manifest) }

    /// As ``SnapshotSource/part(_:of:size:)``.
    public func part(_ index: Int, of id: String, size: Int) async throws -> [UInt8] {
        try await snapshots.part(index, of: id, size: size)
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
        let all = try await snapshots.all().filter { $0.milliseconds <= until }
        guard let newest = takesOldest ? all.first : all.last else {
            throw SyncError(
                .notFound, "The archive \(name) holds no snapshot\(until == .max ? "" : " that is old enough")",
                hint: until == .max
                    ? "`syncd store snapshot DB \(name)` on a replica makes one; `syncd run` does so once a day."
                    : "`syncd store status \(name)` lists the times that it reaches.")
        }
        return newest
    }
}
