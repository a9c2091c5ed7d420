import Journal

/// Reads the streams of an archive, in an order in which their frames can be taken.
///
/// A frame is passed on when what comes before its changes is here, and what their writers had merged. Where a
/// stream stands (`next`) only saves requests: what a pack brings is compared with what the replica has.
actor StreamReader {
    /// What one call passed on.
    struct Passed: Sendable, Hashable {
        var frames = 0
        var bytes = 0
        /// True when there is more than was passed on.
        var isCut = false
    }

    /// A frame that is passed on, or a run of one, with the pack that holds it.
    struct Part: Sendable {
        var entry: Pack.Entry
        var stream: StreamID
        var sequence: Int64
    }

    let store: any ObjectStore
    let packs: PackReader
    let limits: Limits
    let clock: any SyncClock
    /// Later packs count as missing, in milliseconds since 1970 by their writers' clocks.
    private let until: Int64

    /// The manifests, by their keys; nil for a damaged one.
    var manifests: [String: ListedSnapshot?] = [:]
    var parts = SnapshotParts()
    /// What the archive holds besides packs, in whole snapshots: what was compacted before they were made.
    var base = VersionVector()
    /// What of ``base`` the newest whole snapshot has: all that a replica must have. Replicas that have compacted apart
    /// from each other made one snapshot each, and lack what is in the other's. Those that lack something of the newest
    /// one return by it, and write again what was in theirs.
    var baseOfNewest = VersionVector()
    /// What the other snapshots lack, in sentences.
    var lacking: [String] { manifests.values.compactMap { $0 }.compactMap { parts.lack(of: $0.snapshot.manifest) } }
    /// The newest whole snapshot: what a replica gets that returns by the archive.
    var newestSnapshot: ListedSnapshot?
    /// The packs that a collection removed, or may remove.
    var collected = Collected()
    /// What of them the newest whole snapshot has. The rest nobody can get any more who comes now: what needs it waits.
    var collectedOfNewest = VersionVector()
    var marks: [String: CollectionMark] = [:]
    /// True when such a pack was not there.
    var missesCollected = false
    var streams: [StreamID: Stream] = [:]
    /// Packs that were read and wait for others.
    var waiting: [StreamID: Pack] = [:]
    /// Whole transactions in the packs that were read or written by this process, with those of the heads.
    var vector = VersionVector()
    var all = VersionVector()
    /// What a replica has that has ``baseOfNewest`` and all packs that follow it.
    var wholeAfterNewestSnapshot = VersionVector()
    /// As ``all``, with the packs behind heads that were read and that nobody has announced for long.
    var seen = VersionVector()
    /// As ``all``, if all packs that the heads announce were there.
    var announced = VersionVector()
    /// What this replica's stream holds.
    var own = Holdings()
    /// What the packs have brought that were passed.
    var passed: VersionVector
    /// How far the streams were passed, and what that had brought, when the replica was last seen to have it.
    var confirmed: [StreamID: Int64]
    var brought: VersionVector
    /// When blocked streams made all be read from the beginning, in steady milliseconds; nil for never.
    var lastReset: Int64?
    private var rounds: LookRounds
    var lastNews: Int64
    /// The objects that could not be read, by their keys. They stop no other stream.
    var problems: [String: SyncError] = [:]
    /// The keys by which some reader tells that packs are missing or damaged.
    var reported: Set<String> = []

    init(
        store: any ObjectStore, meta: ArchiveMeta, position: ArchiveNotes.Position, limits: Limits,
        clock: any SyncClock, until: Int64 = .max
    ) {
        self.store = store
        packs = PackReader(store: store, meta: meta, limits: limits)
        self.limits = limits
        self.clock = clock
        self.until = until
        passed = position.reading.brought.vector
        brought = passed
        confirmed = Dictionary(
            position.reading.cursors.map { ($0.stream.id, max(1, $0.next)) }, uniquingKeysWith: { first, _ in first })
        rounds = LookRounds(interval: limits.archive.pollMilliseconds)
        lastNews = clock.steadyMilliseconds()
    }

    // MARK: - What the archive holds

    /// The whole transactions that the archive holds, as far as it was looked at.
    var known: VersionVector { vector }

    /// As ``known``, without one origin.
    func known(except origin: OriginID) -> VersionVector {
        VersionVector(vector.entries.filter { $0.origin != origin })
    }

    /// As ``known``, with the beginnings of transactions.
    var durable: VersionVector { all }

    /// As ``durable``, with packs that were read and whose writer has died before it announced them. Who looks at the
    /// heads only does not find them until they are written again; everybody else can build on them at once.
    var readable: VersionVector { seen }

    /// The streams with packs that were read, that no head has told of for so many milliseconds, and whose changes nothing
    /// else holds; with the last pack that is announced.
    func leftUnannounced(for milliseconds: Int64) -> [StreamID: Int64] {
        let now = clock.steadyMilliseconds()
        return streams.filter { now - $0.value.news >= milliseconds && !$0.value.unannounced.isCovered(by: all) }
            .mapValues { $0.head?.last ?? 0 }
    }

    /// The heads in the last listing.
    var heads: [StreamHead] { streams.values.compactMap(\.head).sorted { $0.stream.id < $1.stream.id } }

    /// Notes what this replica's stream holds now.
    func wrote(_ own: Holdings) {
        self.own = own
        count()
    }

    /// The time until streams are looked at behind their heads again, in milliseconds.
    var untilRound: Int64 { rounds.left(clock.steadyMilliseconds()) }

    /// True when nothing was new for a while.
    var isIdle: Bool { clock.steadyMilliseconds() - lastNews > 5 * limits.archive.activeMilliseconds }

    // MARK: - Reading packs

    /// Passes on what `have` lacks, until nothing more can be taken, or about `bytes` were passed on.
    ///
    /// - Parameters:
    ///   - have: What the replica has, and what it need not be sent.
    ///   - own: The stream that this replica writes; it is not read.
    ///   - isComplete: True to look behind the heads of all streams that may have more, not only of the latest ones. So it
    ///     does for whom the newest snapshot has what it lacks.
    /// - Throws: ``SyncError``: those of the store; `behindHorizon` when packs are missing that `have` lacks; what
    ///   `onFrame` throws.
    func read(
        after have: VersionVector, own: StreamID?, bytes: Int, isComplete: Bool,
        onFrame: @Sendable (Frame) async throws -> Void
    ) async throws -> Passed {
        try await read(after: have, own: own, bytes: bytes, isComplete: isComplete) { (part: Part) in
            try await onFrame(part.entry.frame)
        }
    }

    /// As ``read(after:own:bytes:isComplete:onFrame:)``, and tells where each frame is.
    func read(
        after have: VersionVector, own: StreamID?, bytes: Int, isComplete: Bool,
        onPart: @Sendable (Part) async throws -> Void
    ) async throws -> Passed {
        confirm(have)
        rounds.begin(clock.steadyMilliseconds())
        // What no pack here holds may be in no pack at all: only a complete reading tells.
        let isComplete = isComplete || !have.covers(baseOfNewest)
        var have = have
        var result = Passed()
        var isBlocked = false
        while true {
            var isProgress = false
            var lacksBeginning = false
            for id in due(own: own, isComplete: isComplete) {
                switch try await read(id, &have, &result, bytes: bytes, isComplete: isComplete, onPart) {
                case .moved: isProgress = true
                case .cut:
                    result.isCut = true
                    return result
                case .lacksBeginning: lacksBeginning = true
                case .nothing: break
                }
            }
            if isProgress { continue }
            if try await readAhead(own: own, &have, &result, onPart) { continue }
            try checkCollected(have)
            guard lacksBeginning else {
                // All packs are read, so what is missing is in none.
                if isComplete, problems.isEmpty { try checkBase(have) }
                return result
            }
            if !isBlocked, startOver(own: own) {
                isBlocked = true
                continue
            }
            try checkBase(have)
            return result
        }
    }

    private enum Step { case moved, cut, lacksBeginning, nothing }

    /// The streams that may have something new.
    private func due(own: StreamID?, isComplete: Bool) -> [StreamID] {
        let announced = streams.filter { $0.key != own && $0.value.next <= $0.value.head?.last ?? 0 }.keys
        let active = streams.filter { id, stream in
            guard id != own, stream.next > stream.head?.last ?? 0 else { return false }
            // Until a look in vain comes so long after the last news. Who could not look meanwhile looks once more.
            return stream.looked.map { $0 - stream.news < limits.archive.activeMilliseconds } ?? true
        }
        let latest = active.sorted { ($0.value.news, $0.key) > ($1.value.news, $1.key) }
        return announced.sorted()
            + latest.prefix(isComplete ? .max : limits.archive.activeStreams).map(\.key)
    }

    /// True when the next pack of a stream is here or announced, or is not looked for yet in this round.
    private func mayLook(at id: StreamID) -> Bool {
        if waiting[id] != nil { return true }
        if let stream = streams[id], let head = stream.head, head.last >= stream.next { return true }
        return rounds.mayLook(at: id)
    }

    /// Reads on in one stream, as far as its frames can be taken.
    private func read(
        _ id: StreamID, _ have: inout VersionVector, _ result: inout Passed, bytes: Int, isComplete: Bool,
        _ onPart: @Sendable (Part) async throws -> Void
    ) async throws -> Step {
        var step = Step.nothing
        while true {
            guard result.bytes < bytes else { return .cut }
            guard isComplete || mayLook(at: id) else { return step }
            let packs = try await next(of: id)
            guard !packs.isEmpty else {
                guard try await passMissing(id) else {
                    rounds.missed(id)
                    return step
                }
                step = .moved
                continue
            }
            for pack in packs {
                for entry in pack.entries {
                    let before = result.frames
                    let isTaken: Bool
                    do {
                        isTaken = try await take(entry, of: pack, &have, &result, onPart)
                    } catch let error as SyncError where PackReader.isDamage(error) {
                        // Changes that nobody can take end this stream here, and no other one.
                        problems[ArchiveKeys.pack(id, pack.header.sequence)] = error
                        return step
                    }
                    if result.frames > before { step = .moved }
                    guard !isTaken else { continue }
                    waiting[id] = pack
                    guard step == .nothing else { return step }
                    return entry.frame.begins(after: have) ? .nothing : .lacksBeginning
                }
                pass(pack, of: id)
                step = .moved
            }
        }
    }

    /// Passes on a frame, or as many of its runs as can be taken.
    ///
    /// - Returns: False when something has to wait.
    private func take(
        _ entry: Pack.Entry, of pack: Pack, _ have: inout VersionVector, _ result: inout Passed,
        _ onPart: @Sendable (Part) async throws -> Void
    ) async throws -> Bool {
        guard !entry.frame.isKnown(to: have) else { return true }
        let parts: [Pack.Entry]
        do throws(WireError) {
            parts = entry.follows(have) ? [entry] : try entry.runs(limits: limits)
        } catch {
            throw SyncError(error)
        }
        for part in parts where !part.frame.isKnown(to: have) {
            guard part.follows(have) else { return false }
            try await onPart(Part(entry: part, stream: pack.header.stream.id, sequence: pack.header.sequence))
            have.merge(part.frame.coveredVersions)
            result.frames += 1
            result.bytes += part.frame.payload.count
        }
        return true
    }

    /// Looks for what blocked packs need in later packs of the same streams: changes that the archive had lost were
    /// written again there.
    ///
    /// - Returns: True when anything was passed on.
    private func readAhead(
        own: StreamID?, _ have: inout VersionVector, _ result: inout Passed,
        _ onPart: @Sendable (Part) async throws -> Void
    ) async throws -> Bool {
        let before = result.frames
        for (id, pack) in waiting.sorted(by: { $0.key < $1.key }) where id != own {
            // Otherwise the needs are not in the archive yet, and there is nothing to look for.
            let isHere = pack.entries.allSatisfy { $0.follows(announced) }
            guard isHere, let last = streams[id]?.head?.last, last > pack.header.sequence else { continue }
            for sequence in try await packs.sequences(of: id, after: pack.header.sequence) where sequence <= last {
                // A damaged one is met again when its turn comes.
                guard case .success(let later?) = try await packs.packs([sequence], of: id).first?.1 else { continue }
                for entry in later.entries { _ = try await take(entry, of: later, &have, &result, onPart) }
            }
        }
        return result.frames > before
    }

    /// The next packs of a stream that exist, a few at a time.
    private func next(of id: StreamID) async throws -> [Pack] {
        guard let stream = streams[id] else { return [] }
        if let pack = waiting.removeValue(forKey: id), pack.header.sequence == stream.next { return [pack] }
        let announced = Int(clamping: (stream.head?.last ?? 0) - stream.next + 1)
        let count = max(1, min(announced, limits.archive.readsAtOnce))
        let found = try await packs.packs((0..<Int64(count)).map { stream.next + $0 }, of: id)
        let packs = found.compactMap { note($1, ArchiveKeys.pack(id, $0)) }
            .sorted { $0.header.sequence < $1.header.sequence }
        if packs.contains(where: { $0.header.milliseconds > until }) {
            // The end of the stream for this reader.
            streams[id]?.head?.last = stream.next - 1 + Int64(packs.prefix { $0.header.milliseconds <= until }.count)
            return Array(packs.prefix { $0.header.milliseconds <= until })
        }
        // Only those without a gap: a pack may arrive late.
        return packs.enumerated().prefix { $0.element.header.sequence == stream.next + Int64($0.offset) }.map(\.element)
    }

    private func pass(_ pack: Pack, of id: StreamID) {
        streams[id]?.next = pack.header.sequence + 1
        streams[id]?.news = clock.steadyMilliseconds()
        rounds.passed(id, written: pack.header.milliseconds, at: clock.steadyMilliseconds())
        lastNews = clock.steadyMilliseconds()
        let holds = pack.holds
        passed.merge(Pack.covers(of: pack.frames))
        streams[id]?.lost.remove(pack.header.sequence)
        guard let stream = streams[id] else { return }
        if pack.header.sequence > stream.head?.last ?? 0 {
            // The head does not tell of it yet.
            streams[id]?.ahead.merge(holds)
            streams[id]?.unannounced.merge(holds)
        } else if stream.remains != nil {
            streams[id]?.remains?.merge(holds)
        } else {
            return
        }
        count()
    }

    // MARK: - What is gone

    /// - Throws: ``SyncError/Code/behindHorizon`` when packs that `have` lacks are gone, and the newest snapshot has them.
    private func checkCollected(_ have: VersionVector) throws {
        if missesCollected, !have.covers(collectedOfNewest) { throw onlyInSnapshots }
    }

    /// - Throws: ``SyncError/Code/behindHorizon`` when the archive holds changes only in snapshots that `have` lacks.
    private func checkBase(_ have: VersionVector) throws {
        if !have.covers(baseOfNewest) { throw onlyInSnapshots }
    }

    private var onlyInSnapshots: SyncError {
        SyncError(
            .behindHorizon,
            "The archive \(store.name) holds changes that this replica lacks only in snapshots: older packs were removed, or never written",
            hint:
                "Another replica may still have them; otherwise `syncd return` gives the file the content of a snapshot; a daemon "
                + "does so by itself.")
    }
}
