import Journal

/// Removes what an archive needs no more. Any number may run at the same time, and each may stop anywhere.
///
/// Two steps, a day apart: objects are marked (``CollectionMark``), and removed when they are still needless by then.
package struct ArchiveCollector: Sendable {
    private let store: any ObjectStore
    private let settings: CollectionSettings
    private let limits: Limits
    private let entropy: @Sendable () -> UInt64

    /// - Parameter entropy: 64 random bits at each call.
    package init(
        _ store: any ObjectStore, settings: CollectionSettings = CollectionSettings(), limits: Limits = .standard,
        entropy: @escaping @Sendable () -> UInt64
    ) {
        self.store = store
        self.settings = settings
        self.limits = limits
        self.entropy = entropy
    }

    /// A mark with its object.
    private struct Marked {
        var key: String
        var mark: CollectionMark
        var milliseconds: Int64
    }

    /// What the small objects say.
    private struct Found {
        var plan: CollectionPlan
        var heads: [StreamHead]
        var marks: [Marked]
        /// By snapshot, with those that have no manifest.
        var parts: [String: [StoredObject]]
        var manifests: Set<String>
        /// Milliseconds since 1970 by the store's clock.
        var now: Int64
    }

    /// Looks for what can go; marks it, and removes what was marked long enough ago.
    ///
    /// - Parameters:
    ///   - isDryRun: True writes nothing but one object to learn the store's time, which is removed at once.
    ///   - onProgress: Called with the result so far.
    /// - Throws: ``SyncError``: `notFound` when there is no archive; those of the store. What was marked stays marked,
    ///   and what was removed stays removed; the next call goes on.
    package func run(isDryRun: Bool, onProgress: @Sendable (Report) -> Void = { _ in }) async throws -> Report {
        guard let meta = try await ArchiveMeta.read(store) else { throw ArchiveSnapshots.noArchive(store.name) }
        let reader = PackReader(store: store, meta: meta, limits: limits)
        let found = try await look(meta)
        var report = Report(obstacles: found.plan.obstacles)
        let done = try await sweep(found, reader, isDryRun, &report, onProgress)
        try await removeUnfinished(found, isDryRun, &report)
        try await mark(found, done: done, reader, isDryRun, &report, onProgress)
        return report
    }

    // MARK: - Looking

    private func look(_ meta: ArchiveMeta) async throws -> Found {
        // The time first: nothing that is listed then is older than it seems. A snapshot of which a part has arrived
        // meanwhile is still being written.
        let now = try await time()
        // Acknowledgements before snapshots, heads and packs: what is told later only adds to them.
        var members: [CollectionPlan.Member] = []
        for object in try await store.listAll(ArchiveKeys.acknowledgements) {
            guard let bytes = try await store.get(object.key),
                let stored: ArchivedAcknowledgement = try? ArchiveJSON.decode(bytes, object.key)
            else { continue }
            members.append(
                .init(
                    origin: stored.own.origin.origin, vector: stored.own.vector.vector,
                    milliseconds: object.milliseconds))
        }
        var heads: [StreamHead] = []
        var writers: [CollectionPlan.Writer] = []
        for object in try await store.listAll(ArchiveKeys.heads) {
            guard let bytes = try await store.get(object.key),
                let head: StreamHead = try? ArchiveJSON.decode(bytes, object.key)
            else { continue }
            heads.append(head)
            // A hub writes in the archive's name: it is no replica, and lacks nothing.
            guard head.writer != meta.archive else { continue }
            writers.append(.init(origin: head.writer.origin, milliseconds: object.milliseconds))
        }
        var parts: [String: [StoredObject]] = [:]
        for object in try await store.listAll(ArchiveKeys.parts) {
            parts[ArchiveKeys.snapshot(ofPart: object.key), default: []].append(object)
        }
        let whole = SnapshotParts(
            counts: parts.mapValues(\.count), damaged: try await SnapshotStore(store: store, limits: limits).damaged())
        var snapshots: [CollectionPlan.Snapshot] = []
        var manifests: Set<String> = []
        for object in try await store.listAll(ArchiveKeys.manifests) {
            manifests.insert(String(object.key.dropFirst(ArchiveKeys.manifests.utf8.count)))
            guard let bytes = try await store.get(object.key),
                let snapshot: ArchivedSnapshot = try? ArchiveJSON.decode(bytes, object.key)
            else { continue }
            snapshots.append(
                .init(
                    id: snapshot.manifest.id, vector: snapshot.manifest.vector, milliseconds: object.milliseconds,
                    isWhole: whole.isWhole(snapshot.manifest)))
        }
        let marks = try await CollectionMarks(store: store).all().map {
            Marked(key: $0.object.key, mark: $0.mark, milliseconds: $0.object.milliseconds)
        }
        return Found(
            plan: CollectionPlan(snapshots: snapshots, members: members, writers: writers, now: now, settings),
            heads: heads, marks: marks, parts: parts, manifests: manifests, now: now)
    }

    /// The store's time: that of an object which is written now.
    private func time() async throws -> Int64 {
        let key = ArchiveKeys.probe(entropy())
        try await store.replace(key, [])
        let written = try await store.listAll(key).first
        try await store.delete(key)
        guard let written else {
            throw SyncError(
                .failed, "\(store.name) does not list what was just written to it",
                hint: "A store whose listings lag cannot be collected; try again later.")
        }
        return written.milliseconds
    }

    // MARK: - Removing

    /// Removes what was marked long enough ago, and is needless still.
    ///
    /// - Returns: The marks of which nothing is left.
    private func sweep(
        _ found: Found, _ reader: PackReader, _ isDryRun: Bool, _ report: inout Report,
        _ onProgress: @Sendable (Report) -> Void
    ) async throws -> [Marked] {
        var done: [Marked] = []
        // Collectors that ran at the same time may have marked the same objects: each of those counts once.
        var removed: Set<String> = []
        var waiting: [String: Int64] = [:]
        var needed: Set<String> = []
        for marked in found.marks {
            let due = marked.milliseconds + settings.graceMilliseconds
            let packs = try await packs(of: marked.mark).filter { !removed.contains($0.0.key) }
            let snapshots = marked.mark.snapshots.filter { found.manifests.contains($0) && !removed.contains($0) }
            guard !packs.isEmpty || !snapshots.isEmpty else {
                if due <= found.now { done.append(marked) }
                continue
            }
            guard due <= found.now else {
                for name in packs.map(\.0.key) + snapshots { waiting[name] = min(waiting[name] ?? .max, due) }
                continue
            }
            var stays = 0
            for (pack, place) in packs {
                guard try await isNeedless(pack, place, marked.mark, found, reader) else {
                    stays += 1
                    needed.insert(pack.key)
                    continue
                }
                if !isDryRun { try await store.delete(pack.key) }
                removed.insert(pack.key)
                report.removedPacks += 1
                report.removedBytes += Int64(pack.size)
                onProgress(report)
            }
            for id in snapshots where found.plan.surplus.contains(id) {
                // The manifest first: nobody begins to read it any more.
                if !isDryRun { try await store.delete(ArchiveKeys.manifest(id)) }
                removed.insert(id)
                report.removedSnapshots += 1
                try await remove(found.parts[id] ?? [], isDryRun, &report)
                onProgress(report)
            }
            if !isDryRun, stays == 0 { done.append(marked) }
        }
        let waits = waiting.filter { !removed.contains($0.key) }
        report.waitingMarks = waits.count
        report.nextMilliseconds = waits.values.min()
        needed.subtract(removed)
        if !needed.isEmpty, found.plan.obstacles.isEmpty {
            report.obstacles.append(
                "\(needed.count) packs that were marked are needed again: a replica or a snapshot lacks their changes")
        }
        return done
    }

    /// True when all changes of a marked pack are where they need be. The pack itself is asked: a mark says how long
    /// ago, not what.
    private func isNeedless(
        _ pack: StoredObject, _ place: (stream: StreamID, sequence: Int64), _ mark: CollectionMark, _ found: Found,
        _ reader: PackReader
    ) async throws -> Bool {
        guard let bytes = try await store.get(pack.key),
            let holds = try? reader.pack(bytes, place.sequence, of: place.stream).holds
        else { return false }
        return holds.isCovered(by: found.plan.dispensable) && mark.holds.contains(holds)
    }

    /// The packs of a mark that are there.
    private func packs(
        of mark: CollectionMark
    ) async throws -> [(StoredObject, (stream: StreamID, sequence: Int64))] {
        var packs: [(StoredObject, (stream: StreamID, sequence: Int64))] = []
        for cut in mark.cuts {
            let prefix = ArchiveKeys.packs(of: cut.stream.id)
            for object in try await store.listAll(prefix) {
                guard let sequence = Int64(object.key.dropFirst(prefix.utf8.count)), sequence <= cut.through else {
                    break
                }
                packs.append((object, (cut.stream.id, sequence)))
            }
        }
        return packs
    }

    /// Removes parts of snapshots that have no manifest and are old: their making, or their removal, was cut off.
    private func removeUnfinished(_ found: Found, _ isDryRun: Bool, _ report: inout Report) async throws {
        for (id, parts) in found.parts.sorted(by: { $0.key < $1.key }) where !found.manifests.contains(id) {
            guard let newest = parts.map(\.milliseconds).max(), newest + settings.graceMilliseconds <= found.now else {
                continue
            }
            try await remove(parts, isDryRun, &report)
        }
    }

    private func remove(_ parts: [StoredObject], _ isDryRun: Bool, _ report: inout Report) async throws {
        for part in parts {
            if !isDryRun { try await store.delete(part.key) }
            report.removedBytes += Int64(part.size)
        }
    }

    // MARK: - Marking

    /// Marks what is needless now, in one object with the marks that are done.
    private func mark(
        _ found: Found, done: [Marked], _ reader: PackReader, _ isDryRun: Bool, _ report: inout Report,
        _ onProgress: @Sendable (Report) -> Void
    ) async throws {
        var mark = CollectionMark()
        for head in found.heads {
            try await markBeginning(of: head, found, reader, &mark, &report)
            onProgress(report)
        }
        let marked = Set(found.marks.flatMap(\.mark.snapshots))
        for id in found.plan.surplus where !marked.contains(id) {
            mark.snapshots.append(id)
            report.markedSnapshots += 1
            report.markedBytes += (found.parts[id] ?? []).reduce(0) { $0 + Int64($1.size) }
        }
        guard !isDryRun, !mark.isEmpty || done.count > 1 else { return }
        for old in done {
            for cut in old.mark.cuts { mark.cut(cut.stream.id, through: cut.through, holds: old.mark.holds) }
        }
        let key = ArchiveKeys.mark(entropy())
        guard try await store.create(key, ArchiveJSON.encode(mark)) else {
            throw SyncError(.failed, "The name \(key) is taken in \(store.name)", hint: "Try again.")
        }
        for old in done { try await store.delete(old.key) }
    }

    /// Marks the first packs of a stream, up to one that is needed, young or damaged.
    private func markBeginning(
        of head: StreamHead, _ found: Found, _ reader: PackReader, _ mark: inout CollectionMark, _ report: inout Report
    ) async throws {
        let stream = head.stream.id
        let begin = found.marks.flatMap(\.mark.cuts).filter { $0.stream.id == stream }.map(\.through).max() ?? 0
        let after = begin > 0 ? ArchiveKeys.pack(stream, begin) : nil
        var expected = begin + 1
        for object in try await store.listAll(ArchiveKeys.packs(of: stream), after: after) {
            let isOld = object.milliseconds + settings.keepMilliseconds <= found.now
            // Behind a pack that is missing, the stream is needed to tell what is lost.
            guard isOld, expected <= head.last, object.key == ArchiveKeys.pack(stream, expected),
                let bytes = try await store.get(object.key)
            else { return }
            guard let pack = try? reader.pack(bytes, expected, of: stream) else {
                report.obstacles.append("\(object.key) is damaged: what comes behind it stays")
                return
            }
            guard pack.holds.isCovered(by: found.plan.dispensable) else { return }
            mark.cut(stream, through: expected, holds: pack.holds)
            report.markedPacks += 1
            report.markedBytes += Int64(object.size)
            expected += 1
        }
    }
}
