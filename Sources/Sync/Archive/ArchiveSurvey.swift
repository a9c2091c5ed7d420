import Journal

/// What an archive holds, for people. Nothing is written to it.
package struct ArchiveSurvey: Sendable {
    /// A stream.
    package struct StreamSummary: Sendable, Hashable {
        package let name: String
        /// The replica that wrote it last.
        package let writer: OriginID
        /// The packs that its head announces, without those that a collection marked or removed.
        package let packs: Int64
        /// The changes in them.
        package let changes: Int64
        /// When its head was written, in milliseconds since 1970 by the writer's clock.
        package let milliseconds: Int64
    }

    /// A snapshot.
    package struct SnapshotSummary: Sendable, Hashable {
        package let id: String
        /// The size of the file in bytes.
        package let bytes: Int64
        /// When it was made, in milliseconds since 1970 by the maker's clock.
        package let milliseconds: Int64
        /// The changes that it has.
        package let changes: Int64
    }

    /// What the archive's small objects say.
    package struct Summary: Sendable, Hashable {
        package let name: String
        package let cluster: String
        /// The archive's name among replicas.
        package let archive: OriginID
        /// False for a store that replaces an object when it is created again.
        package let createsOnce: Bool
        /// In the order of their names.
        package let streams: [StreamSummary]
        /// The oldest first.
        package let snapshots: [SnapshotSummary]
        /// The whole transactions that a replica can take from it.
        package let vector: VersionVector
        /// What replicas have told it that they have merged.
        package let acknowledgements: [Acknowledgement]
        /// What is damaged, missing or reported so, in sentences.
        package let problems: [String]
    }

    /// What was found when everything was read.
    package struct Verification: Sendable, Hashable {
        package var packs = 0
        package var snapshots = 0
        /// Bytes of all objects that were read.
        package var bytes: Int64 = 0
        /// What is damaged or missing, in sentences.
        package var problems: [String] = []

        package init(problems: [String] = []) { self.problems = problems }
    }

    private let store: any ObjectStore
    private let limits: Limits

    package init(_ store: any ObjectStore, limits: Limits = .standard) {
        self.store = store
        self.limits = limits
    }

    /// Reads the description, the heads, the manifests and the acknowledgements.
    ///
    /// - Throws: ``SyncError``: `notFound` when there is no archive; those of the store.
    package func summary() async throws -> Summary {
        let meta = try await meta()
        let (heads, problems) = try await heads()
        let shelf = SnapshotStore(store: store, limits: limits)
        let snapshots = try await shelf.all()
        let parts = SnapshotParts(counts: try await shelf.partCounts(), damaged: try await shelf.damaged())
        let whole = snapshots.filter { parts.isWhole($0.manifest) }
        var holds = Holdings()
        for head in heads { holds.merge(head.holds) }
        let collected = try await collected(whole)
        holds.merge(collected.holds)
        let base = whole.reduce(into: VersionVector()) { $0.merge($1.horizon.vector) }
        var acknowledgements: [Acknowledgement] = []
        for object in try await store.listAll(ArchiveKeys.acknowledgements) {
            if let bytes = try await store.get(object.key),
                let stored: ArchivedAcknowledgement = try? ArchiveJSON.decode(bytes, object.key)
            {
                acknowledgements.append(stored.acknowledgement)
            }
        }
        let lacking = snapshots.compactMap { parts.lack(of: $0.manifest) }
        let damages = try await store.listAll(ArchiveKeys.damages).filter {
            ArchiveKeys.damagedSnapshot($0.key) == nil
        }.map { "a replica has found \($0.key.dropFirst(ArchiveKeys.damages.utf8.count)) missing or damaged" }
        return Summary(
            name: store.name, cluster: meta.cluster, archive: meta.archive.origin, createsOnce: meta.createsOnce,
            streams: heads.map { head in
                StreamSummary(
                    name: head.stream.id.description, writer: head.writer.origin,
                    packs: head.last - (collected.through[head.stream.id] ?? 0),
                    changes: head.holds.count,
                    milliseconds: head.milliseconds)
            },
            snapshots: snapshots.map { snapshot in
                SnapshotSummary(
                    id: snapshot.manifest.id, bytes: snapshot.manifest.bytes, milliseconds: snapshot.milliseconds,
                    changes: snapshot.manifest.vector.entries.reduce(0) { $0.addingSaturating($1.version) })
            },
            vector: holds.reachable(from: base).whole, acknowledgements: acknowledgements,
            problems: problems + lacking + damages)
    }

    /// Reads everything, and checks it: digests, the order of the packs, that no change is missing between two others,
    /// and that the changes can be decoded.
    ///
    /// - Parameter onProgress: Called with what was found so far.
    /// - Throws: As ``summary()``.
    package func verify(onProgress: @Sendable (Verification) -> Void = { _ in }) async throws -> Verification {
        let reader = PackReader(store: store, meta: try await meta(), limits: limits)
        let (heads, problems) = try await heads()
        var found = Verification(problems: problems)
        let whole = try await verifySnapshots(&found, onProgress)
        let collected = try await collected(whole)
        var holds = collected.holds
        for head in heads {
            var previous: SnapshotManifest.Digest?
            var expected: Int64 = 1
            let through = collected.through[head.stream.id] ?? 0
            for sequence in try await reader.sequences(of: head.stream.id, after: 0) {
                let key = ArchiveKeys.pack(head.stream.id, sequence)
                if sequence > expected { previous = nil }
                expected = max(expected, through + 1)
                if sequence > expected {
                    found.problems.append(
                        "the packs \(expected) to \(sequence - 1) of stream \(head.stream.id) are missing")
                }
                expected = max(expected, sequence + 1)
                guard let bytes = try await store.get(key) else { continue }
                found.packs += 1
                found.bytes += Int64(bytes.count)
                do {
                    let pack = try reader.pack(bytes, sequence, of: head.stream.id)
                    for frame in pack.frames { _ = try frame.batch(limits: limits) }
                    if let previous, pack.header.previous != previous {
                        found.problems.append("\(key) does not continue the pack before it: one of them was replaced")
                    }
                    holds.merge(pack.holds)
                    previous = SnapshotManifest.Digest(Array(bytes.suffix(SHA256.byteCount)))
                } catch {
                    found.problems.append("\(key): \(SyncError(wrapping: error).message)")
                    previous = nil
                }
                onProgress(found)
            }
            expected = max(expected, through + 1)
            if head.last >= expected {
                found.problems.append("the packs \(expected) to \(head.last) of stream \(head.stream.id) are missing")
            }
        }
        let base = whole.reduce(into: VersionVector()) { $0.merge($1.horizon.vector) }
        let (reachable, _) = holds.reachable(from: base)
        for range in holds.ranges where range.last > reachable[range.origin.origin] {
            found.problems.append(
                "changes of \(range.origin.origin) are missing before version \(range.first): no replica can take those behind them"
            )
        }
        return found
    }

    /// Reads all parts of all snapshots.
    ///
    /// - Returns: The snapshots that are whole.
    private func verifySnapshots(
        _ found: inout Verification, _ onProgress: @Sendable (Verification) -> Void
    ) async throws -> [ArchivedSnapshot] {
        let shelf = SnapshotStore(store: store, limits: limits)
        var whole: [ArchivedSnapshot] = []
        for snapshot in try await shelf.all() {
            let manifest = snapshot.manifest
            found.snapshots += 1
            let before = found.problems.count
            for index in manifest.parts.indices {
                if let bytes = try await store.get(ArchiveKeys.part(index, of: manifest.id)) {
                    found.bytes += Int64(bytes.count)
                    do {
                        _ = try shelf.check(bytes, index, of: manifest)
                    } catch {
                        found.problems.append(SyncError(wrapping: error).message)
                    }
                } else {
                    found.problems.append(
                        "part \(index) of the snapshot \(manifest.id) is missing in \(store.name)")
                }
                onProgress(found)
            }
            if found.problems.count == before { whole.append(snapshot) }
        }
        return whole
    }

    /// What a new replica has that is made of each whole snapshot and takes all packs it can, by the snapshots' names.
    ///
    /// - Throws: As ``summary()``.
    package func clones() async throws -> [String: VersionVector] {
        let reader = PackReader(store: store, meta: try await meta(), limits: limits)
        var holds = Holdings()
        for head in try await heads().0 {
            for sequence in try await reader.sequences(of: head.stream.id, after: 0) {
                guard case .success(let pack?) = try await reader.packs([sequence], of: head.stream.id).first?.1 else {
                    continue
                }
                holds.merge(pack.holds)
            }
        }
        var clones: [String: VersionVector] = [:]
        for snapshot in try await SnapshotStore(store: store, limits: limits).whole() {
            clones[snapshot.manifest.id] = holds.reachable(from: snapshot.manifest.vector).all
        }
        return clones
    }

    private func meta() async throws -> ArchiveMeta {
        guard let meta = try await ArchiveMeta.read(store) else { throw ArchiveSnapshots.noArchive(store.name) }
        return meta
    }

    private func collected(_ snapshots: [ArchivedSnapshot]) async throws -> Collected {
        Collected(
            try await CollectionMarks(store: store).all().map(\.mark), snapshots: snapshots.map(\.manifest.vector))
    }

    private func heads() async throws -> ([StreamHead], [String]) {
        var heads: [StreamHead] = []
        var problems: [String] = []
        for object in try await store.listAll(ArchiveKeys.heads) {
            guard let bytes = try await store.get(object.key) else { continue }
            if let head: StreamHead = try? ArchiveJSON.decode(bytes, object.key) {
                heads.append(head)
            } else {
                problems.append("\(object.key) cannot be read")
            }
        }
        return (heads, problems)
    }
}
