import Journal

// Packs that are missing or damaged: told to others, passed over, and told no more once their changes are there.

extension StreamReader {
    /// Throws the first of the objects that could not be read since the last call, and of the packs that are lost.
    func checkProblems() throws(SyncError) {
        var found = problems
        problems = [:]
        // What a damaged pack held may be in another one by now.
        for (id, stream) in streams where stream.head?.holds.isCovered(by: all) == true {
            for sequence in stream.lost { found[ArchiveKeys.pack(id, sequence)] = nil }
        }
        for (id, sequence) in lostPacks where found[ArchiveKeys.pack(id, sequence)] == nil {
            found[ArchiveKeys.pack(id, sequence)] = SyncError(
                .truncated, "Pack \(sequence) of stream \(id) is missing in the archive \(store.name)",
                hint: "A replica that has its changes writes them again by itself. `syncd store verify` tells more.")
        }
        if let first = found.min(by: { $0.key < $1.key }) { throw first.value }
    }

    /// Tells others of the packs that were found missing or damaged, and removes what is told of packs whose changes
    /// are in the archive again.
    ///
    /// - Throws: ``SyncError`` of the store; the next call goes on.
    func reportDamages() async throws {
        let lost = Set(lostPacks.map { ArchiveKeys.damage($0, $1) })
        for key in lost.subtracting(reported).sorted() {
            _ = try await store.create(key, [])
            reported.insert(key)
        }
        for key in reported.subtracting(lost).sorted() {
            guard isSettled(key) else { continue }
            try await store.delete(key)
            reported.remove(key)
        }
    }

    /// True when what is told of an object holds no more: the pack's changes are in others, or the snapshot is gone.
    private func isSettled(_ key: String) -> Bool {
        if let id = ArchiveKeys.damagedSnapshot(key) { return manifests[ArchiveKeys.manifest(id)] == nil }
        guard let id = ArchiveKeys.damagedStream(key), let stream = streams[id] else { return false }
        return stream.remains != nil && stream.next > stream.head?.last ?? 0
    }

    /// Takes what readers told of missing and damaged objects: the streams of packs are read again, and snapshots
    /// count no more.
    ///
    /// - Returns: Those streams.
    /// - Throws: ``SyncError`` of the store.
    func lookAtDamages() async throws -> Set<StreamID> {
        reported = Set(try await store.listAll(ArchiveKeys.damages).map(\.key))
        let damaged = Set(reported.compactMap { ArchiveKeys.damagedStream($0) })
        for id in damaged where streams[id]?.remains == nil {
            streams[id]?.readAnew()
        }
        parts.damaged = Set(reported.compactMap { ArchiveKeys.damagedSnapshot($0) })
        countSnapshots()
        count()
        return damaged
    }

    /// The packs that are missing or damaged, and whose changes are nowhere else in the archive.
    private var lostPacks: [(StreamID, Int64)] {
        streams.filter { $0.value.head?.holds.isCovered(by: all) == false }.sorted { $0.key < $1.key }
            .flatMap { id, stream in stream.lost.sorted().map { (id, $0) } }
    }

    /// Goes on behind a pack that is missing or damaged although the head announces it. What it held comes from any
    /// replica that has it: such a replica learns here that the archive lacks it.
    ///
    /// - Returns: False when the stream simply ends.
    /// - Throws: ``SyncError`` of the store.
    func passMissing(_ id: StreamID) async throws -> Bool {
        guard var stream = streams[id], let head = stream.head, head.last >= stream.next else {
            streams[id]?.looked = clock.steadyMilliseconds()
            return false
        }
        if stream.next > collected.through[id] ?? 0 {
            // Perhaps it was removed since the last look.
            try await lookAtMarks()
        }
        if let through = collected.through[id], stream.next <= through {
            missesCollected = true
            // Behind `through`, a pack that is missing is lost.
            stream.next = min(try await packs.sequences(of: id, after: stream.next).first ?? .max, through + 1)
        } else if stream.remains == nil {
            // Read from the beginning, to know what the other packs hold.
            stream.readAnew()
        } else {
            stream.lost.insert(stream.next)
            // To the next one that is there: a head may announce any number.
            stream.next = try await packs.sequences(of: id, after: stream.next).first ?? head.last + 1
        }
        streams[id] = stream
        count()
        return true
    }

    /// Returns what was read; nil for a damaged object, which is remembered.
    func note<Object>(_ found: PackReader.Found<Object>, _ key: String) -> Object? {
        switch found {
        case .success(let object): return object
        case .failure(let error):
            problems[key] = error
            return nil
        }
    }
}
