import Journal

// What the archive holds: heads, manifests and marks of collections, as far as they are new.

extension StreamReader {
    /// Reads the manifests that are new.
    ///
    /// - Parameter isThorough: True to look for the parts of all snapshots, not only when one is new.
    /// - Throws: ``SyncError`` of the store.
    func lookAtSnapshots(isThorough: Bool = false) async throws {
        var found: [String: ListedSnapshot?] = [:]
        for object in try await store.listAll(ArchiveKeys.manifests) {
            if let known = manifests[object.key] {
                found.updateValue(known, forKey: object.key)
            } else if let bytes = try await store.get(object.key) {
                let snapshot: ArchivedSnapshot? = note(
                    try await PackReader.found { try ArchiveJSON.decode(bytes, "The manifest \(object.key)") },
                    object.key)
                found.updateValue(
                    snapshot.map { ListedSnapshot(snapshot: $0, stored: object.milliseconds) }, forKey: object.key)
            }
        }
        let hasNew = found.keys.contains { manifests[$0] == nil }
        // The parts come before their manifest, so those of a new one are listed.
        if isThorough && !found.isEmpty || hasNew {
            parts.counts = try await SnapshotStore(store: store, limits: limits).partCounts()
        }
        manifests = found
        try await lookAtMarks()
    }

    /// Reads the marks of collections that are new.
    ///
    /// - Throws: ``SyncError`` of the store.
    func lookAtMarks() async throws {
        var found: [String: CollectionMark] = [:]
        for object in try await store.listAll(ArchiveKeys.marks) {
            if let known = marks[object.key] {
                found[object.key] = known
            } else if let bytes = try await store.get(object.key) {
                found[object.key] = note(
                    try await PackReader.found { try ArchiveJSON.decode(bytes, "The mark \(object.key)") }, object.key)
            }
        }
        marks = found
        countSnapshots()
        count()
    }

    /// Works out what is in snapshots that are whole.
    func countSnapshots() {
        let listed = manifests.values.compactMap { $0 }.filter { parts.isWhole($0.snapshot.manifest) }
        let whole = listed.map(\.snapshot)
        base = whole.reduce(into: VersionVector()) { $0.merge($1.horizon.vector) }
        newestSnapshot = SnapshotOrder.newest(listed)
        let newest = newestSnapshot?.vector ?? VersionVector()
        baseOfNewest = base.common(with: newest)
        collected = Collected(marks.values, snapshots: whole.map(\.manifest.vector))
        collectedOfNewest = collected.vector.common(with: newest)
    }

    /// Reads the heads that have changed.
    ///
    /// - Parameter own: What this replica's stream holds.
    /// - Throws: ``SyncError`` of the store.
    func look(own: Holdings) async throws {
        let listed = try await store.listAll(ArchiveKeys.heads)
        let now = clock.steadyMilliseconds()
        var tags: [StreamID: String] = [:]
        for object in listed {
            guard let id = StreamID(hex: String(object.key.dropFirst(ArchiveKeys.heads.utf8.count))) else { continue }
            tags[id] = object.tag
        }
        for id in Array(streams.keys) where tags[id] == nil {
            streams[id] = nil
            waiting[id] = nil
        }
        let changed = tags.filter { id, tag in
            guard let stream = streams[id], stream.tag == tag, stream.head != nil else { return true }
            // Who looks at the heads only does not find what nobody has announced for so long: it is written again.
            return !stream.ahead.ranges.isEmpty && now - stream.news >= limits.archive.activeMilliseconds
        }.map(\.key)
        for (id, found) in try await packs.heads(of: changed.sorted()) {
            let head = note(found, ArchiveKeys.head(id))
            var stream = streams[id] ?? Stream(next: confirmed[id] ?? 1, news: now)
            if stream.head == nil, let head, limits.archive.bridgeMilliseconds > 0 {
                // Packs that an earlier process has read behind the head are read again, to know what they hold. Who
                // waits for no writer writes their changes again instead.
                stream.next = min(stream.next - 1, head.last) + 1
            }
            if let head, head.last >= stream.next {
                stream.news = now
                lastNews = now
            }
            stream.announce(head)
            stream.tag = tags[id] ?? ""
            streams[id] = stream
        }
        self.own = own
        count()
    }

    /// Works out what the archive holds, from the beginning: a store that was restored holds less than before.
    func count() {
        var holds = own
        holds.merge(collected.holds)
        var heads = holds
        for stream in streams.values {
            holds.merge(stream.holds)
            heads.merge(stream.head?.holds ?? Holdings())
            heads.merge(stream.ahead)
        }
        (all, vector) = holds.reachable(from: base)
        wholeAfterNewestSnapshot = holds.reachable(from: baseOfNewest).whole
        for stream in streams.values { holds.merge(stream.unannounced) }
        seen = holds.reachable(from: base).all
        announced = heads.reachable(from: base).all
    }
}
