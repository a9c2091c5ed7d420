import Journal

/// What an archive is. It is written once, by the first replica that meets the store.
struct ArchiveMeta: Sendable, Hashable, Codable {
    /// The version of the layout that this program reads and writes.
    static let layout = 1

    /// The layout of the objects.
    var layout: Int
    /// The archive's name among replicas: it acknowledges changes as a replica does, and never writes any.
    var archive: StoredOrigin
    /// The cluster of all replicas that use it.
    var cluster: String
    /// True when the store refuses to create a key twice.
    var createsOnce: Bool

    private enum CodingKeys: String, CodingKey {
        case layout, archive, cluster
        case createsOnce = "creates_once"
    }

    /// Reads what the store holds; nil for a store without an archive.
    ///
    /// - Throws: ``SyncError``: those of the store; `unsupportedVersion`, `invalid`.
    static func read(_ store: any ObjectStore) async throws -> ArchiveMeta? {
        guard let bytes = try await store.get(ArchiveKeys.meta) else { return nil }
        let meta: ArchiveMeta = try ArchiveJSON.decode(bytes, "The description")
        guard meta.layout == layout else {
            throw SyncError(
                .unsupportedVersion,
                "The archive \(store.name) has the layout \(meta.layout), and this program knows \(layout)",
                hint: "Install a release of Tandem that knows it.")
        }
        return meta
    }

    /// Reads what the store holds, and makes an archive of a store without one.
    ///
    /// - Parameter entropy: 64 random bits at each call.
    /// - Throws: ``SyncError``, as ``read(_:)``.
    static func open(_ store: any ObjectStore, cluster: String, entropy: () -> UInt64) async throws -> ArchiveMeta {
        if let meta = try await read(store) { return meta }
        let abilities = try await StoreAbilities.probe(store, key: ArchiveKeys.probe(entropy()))
        let archive = abilities.createsOnce ? OriginID(high: entropy(), low: entropy()) : name(in: cluster)
        let meta = ArchiveMeta(
            layout: layout, archive: StoredOrigin(archive), cluster: cluster, createsOnce: abilities.createsOnce)
        _ = try await store.create(ArchiveKeys.meta, ArchiveJSON.encode(meta))
        // Another replica may have been first.
        guard let meta = try await read(store) else {
            throw SyncError(.failed, "\(store.name) does not give back what was written to it")
        }
        return meta
    }

    /// The name of an archive in a store that replaces objects. Of two replicas that make the archive at once, the later
    /// one replaces the description by its own; so both write the same.
    private static func name(in cluster: String) -> OriginID {
        let digest = SHA256.digest(of: Array("tandem archive \(cluster)".utf8)).prefix(16)
        // A digest of all zeros or all ones is no name, and is not to be met with.
        return OriginID(bytes: digest) ?? OriginID(high: 1, low: 1)
    }
}
