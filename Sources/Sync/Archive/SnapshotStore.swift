import Journal

/// The snapshots of an archive.
struct SnapshotStore: Sendable {
    let store: any ObjectStore
    let limits: Limits

    /// All snapshots, the oldest first. A damaged manifest is left out.
    ///
    /// - Throws: ``SyncError`` of the store.
    func all() async throws -> [ArchivedSnapshot] {
        var snapshots: [ListedSnapshot] = []
        for object in try await store.listAll(ArchiveKeys.manifests) {
            if let bytes = try await store.get(object.key),
                let snapshot: ArchivedSnapshot = try? ArchiveJSON.decode(bytes, "A manifest")
            {
                snapshots.append(ListedSnapshot(snapshot: snapshot, stored: object.milliseconds))
            }
        }
        return SnapshotOrder.sorted(snapshots).map(\.snapshot)
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
        let size = manifest.size(ofPart: index)
        let part = try? PayloadEncoding.zstd.decompress(bytes, limit: size, limits: limits, expected: size)
        guard let part, SHA256.areEqual(SHA256.digest(of: part), manifest.parts[index].bytes) else {
            throw ArchiveJSON.damaged("Part \(index) of the snapshot \(manifest.id)")
        }
        return part
    }
}
