import Journal

/// Reads heads and packs of an archive, and refuses those that are not what their keys say.
struct PackReader: Sendable {
    let store: any ObjectStore
    let meta: ArchiveMeta
    let limits: Limits

    /// An object, or what is wrong with it. Other failures are thrown.
    typealias Found<Object> = Result<Object?, SyncError>

    /// Reads the heads of streams, some at a time.
    ///
    /// - Returns: For each stream, nil when the store has no head of it.
    /// - Throws: ``SyncError`` of the store.
    func heads(of ids: [StreamID]) async throws -> [(StreamID, Found<StreamHead>)] {
        try await some(ids) { id in
            guard let bytes = try await store.get(ArchiveKeys.head(id)) else { return nil }
            let head: StreamHead = try ArchiveJSON.decode(bytes, "The head of stream \(id)")
            guard head.stream.id == id else { throw ArchiveJSON.damaged("The head of stream \(id)") }
            return head
        }
    }

    /// Reads packs of a stream, some at a time.
    ///
    /// - Returns: For each place, nil when there is no pack.
    /// - Throws: ``SyncError`` of the store.
    func packs(_ sequences: [Int64], of id: StreamID) async throws -> [(Int64, Found<Pack>)] {
        try await some(sequences) { sequence in
            guard let bytes = try await store.get(ArchiveKeys.pack(id, sequence)) else { return nil }
            return try pack(bytes, sequence, of: id)
        }
    }

    /// The places of the packs that are there, behind one.
    ///
    /// - Throws: ``SyncError`` of the store.
    func sequences(of id: StreamID, after sequence: Int64) async throws -> [Int64] {
        let prefix = ArchiveKeys.packs(of: id)
        return try await store.listAll(prefix, after: sequence > 0 ? ArchiveKeys.pack(id, sequence) : nil)
            .compactMap { Int64($0.key.dropFirst(prefix.utf8.count)) }
            .filter { SequenceBounds.range.contains($0) && $0 > sequence }
    }

    /// Decodes the object of a pack.
    ///
    /// - Throws: ``SyncError``: `invalid` for a damaged one, and for one of another place; `otherCluster`.
    func pack(_ bytes: [UInt8], _ sequence: Int64, of id: StreamID) throws -> Pack {
        let object = "Pack \(sequence) of stream \(id)"
        let pack = try Pack(bytes, object, limits: limits)
        guard pack.header.stream.id == id, pack.header.sequence == sequence else { throw ArchiveJSON.damaged(object) }
        guard pack.header.cluster.utf8.elementsEqual(meta.cluster.utf8) else {
            throw SyncError(
                .otherCluster, "\(object) holds changes of the cluster \(pack.header.cluster)",
                hint: "Two archives were mixed in one place; each needs a prefix of its own.")
        }
        return pack
    }

    /// Runs `body` for all keys, ``ArchiveLimits/readsAtOnce`` at a time.
    private func some<Key: Sendable, Object: Sendable>(
        _ keys: [Key], _ body: @escaping @Sendable (Key) async throws -> Object?
    ) async throws -> [(Key, Found<Object>)] {
        try await withThrowingTaskGroup(of: (Key, Found<Object>).self) { group in
            var rest = keys[...]
            func begin() {
                guard let key = rest.popFirst() else { return }
                group.addTask { (key, try await PackReader.found { try await body(key) }) }
            }
            for _ in 0..<max(1, limits.archive.readsAtOnce) { begin() }
            var found: [(Key, Found<Object>)] = []
            while let next = try await group.next() {
                found.append(next)
                begin()
            }
            return found
        }
    }

    /// Runs `body`. What it throws about a damaged object becomes a result; other failures are thrown.
    static func found<Object>(_ body: () async throws -> Object?) async throws -> Found<Object> {
        do {
            return .success(try await body())
        } catch let error as SyncError where isDamage(error) {
            return .failure(error)
        }
    }

    /// True for an error about an object, not about the store.
    static func isDamage(_ error: SyncError) -> Bool {
        [.invalid, .otherCluster, .unsupportedVersion, .tooLarge].contains(error.code)
    }
}
