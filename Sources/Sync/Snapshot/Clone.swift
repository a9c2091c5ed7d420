import Journal

/// Makes a new replica from a peer's snapshot.
///
/// The parts are collected in `<path>-partial`. Each is checked against the SHA-256 that the peer announced,
/// so a clone that was killed goes on with the parts that it has: they are found by their digests, also when
/// the peer has made another snapshot since. The file gets its name when it is complete, has an identity of
/// its own, and is on the disk.
package struct Clone: Sendable {
    /// How far a clone has come.
    package enum Progress: Sendable, Hashable {
        /// The peer copies its file, 0 to 1.
        case preparing(Double)
        /// Parts arrive; numbers of bytes. `present` were here before.
        case fetching(fetched: Int64, present: Int64, total: Int64)
        /// Everything is here; the file gets its identity and its name.
        case finishing
    }

    /// What a clone did.
    package struct Report: Sendable, Hashable {
        /// The new replica's identity, and the peer's.
        package let identity: NewIdentity.Outcome
        /// The cluster that the replica belongs to.
        package let cluster: String
        /// The changes that the replica has.
        package let vector: VersionVector
        /// The snapshot that it was made from.
        package let snapshot: String
        /// The size of the file in bytes.
        package let bytes: Int64
        /// Of these, what was fetched by this run.
        package let fetchedBytes: Int64
        /// The time that it took, in milliseconds.
        package let milliseconds: Int64
    }

    /// The peer.
    package let source: any SnapshotSource
    /// The new file.
    package let path: String
    /// The cluster that the peer must belong to; nil for any.
    package var cluster: String?
    /// Looks at each manifest before anything is fetched, and throws for one that is of no use.
    package var accept: @Sendable (SnapshotManifest) throws -> Void = { _ in }
    package var limits = Limits.standard
    package var clock: any SyncClock = SystemClock()
    /// Where the new file lies.
    package var files: any FileSystem = SystemFiles()
    /// 64 random bits at each call, for the jitter of retries.
    package var entropy: @Sendable () -> UInt64 = { UInt64.random(in: .min ... .max) }

    package init(from source: any SnapshotSource, to path: String) {
        self.source = source
        self.path = path
    }

    private var partial: String { path + "-partial" }

    /// Makes the replica.
    ///
    /// - Parameter progress: Called as the clone goes on, from any thread.
    /// - Throws: ``SyncError``: `configuration` when the new file or a log of its name exists; `otherCluster`;
    ///   `storage` without room on the disk; `notAPeer` when the peer sends something else than it announced;
    ///   failures of the connection; what ``accept`` throws. The new file does not exist then. What has arrived stays beside it, and
    ///   the next clone goes on from there.
    package func run(progress: @escaping @Sendable (Progress) -> Void = { _ in }) async throws -> Report {
        let began = clock.steadyMilliseconds()
        try checkTarget()
        var fetched: Int64 = 0
        for _ in 0..<Clone.mostSnapshots {
            let manifest = try await manifest(progress)
            if let cluster, !cluster.utf8.elementsEqual(manifest.cluster.utf8) {
                throw SyncError(
                    .otherCluster, "\(source.name) belongs to the cluster \(manifest.cluster), not to \(cluster)")
            }
            try accept(manifest)
            let file = try PartFile.writing(partial, files)
            // A thread may still hold the file for a moment when a cancelled request has ended here.
            defer { file.unlock() }
            // A clone that was killed while it took its identity. SQLite would roll back pages of that file in
            // this one; the digests find those that it had changed.
            DatabaseCopy.removeLogs(of: partial, files)
            do {
                fetched += try await fetch(manifest, into: file, progress)
            } catch let error as SyncError where error.code == .notFound {
                // The peer has dropped the snapshot, or was restarted. Equal parts of the next one are kept.
                continue
            }
            progress(.finishing)
            let outcome = try await finish(manifest, file)
            return Report(
                identity: outcome, cluster: manifest.cluster, vector: manifest.vector, snapshot: manifest.id,
                bytes: manifest.bytes,
                fetchedBytes: fetched, milliseconds: clock.steadyMilliseconds() - began)
        }
        throw SyncError(
            .busy, "\(source.name) has dropped its snapshot \(Clone.mostSnapshots) times before all of it had arrived",
            hint: "Run the command again; it goes on with what has arrived.")
    }

    /// Snapshots of one peer that a clone begins with.
    private static let mostSnapshots = 10

    private func checkTarget() throws {
        do {
            try DatabaseCopy.checkFree(path, files)
        } catch let error as JournalError {
            throw SyncError(.configuration, error.message, hint: error.hint)
        }
    }

    // MARK: - The snapshot

    /// Waits until the peer has a snapshot.
    private func manifest(_ progress: @Sendable (Progress) -> Void) async throws -> SnapshotManifest {
        var pause: Int64 = 50
        while true {
            let answer = try await retrying(isPart: false) { try await source.snapshot() }
            switch answer {
            case .ready(let manifest): return manifest
            case .preparing(let completed, let total):
                progress(.preparing(total > 0 ? min(1, Double(completed) / Double(total)) : 0))
            }
            try await clock.sleep(milliseconds: pause)
            pause = min(pause * 2, 1_000)
        }
    }

    // MARK: - The parts

    /// Brings the file to what the manifest says.
    ///
    /// - Returns: The bytes that were fetched.
    private func fetch(
        _ manifest: SnapshotManifest, into file: PartFile, _ progress: @escaping @Sendable (Progress) -> Void
    ) async throws -> Int64 {
        let missing = try await blocking { try Clone.missing(of: manifest, in: file) }
        let wanted = missing.reduce(Int64(0)) { $0 + Int64(manifest.size(ofPart: $1)) }
        let present = manifest.bytes - wanted
        try checkRoom(for: wanted)
        try file.resize(to: manifest.bytes)
        var fetched: Int64 = 0
        progress(.fetching(fetched: 0, present: present, total: manifest.bytes))
        try await withThrowingTaskGroup(of: Int.self) { group in
            let atOnce = max(
                1, min(limits.snapshotPartsAtOnce, limits.snapshotBytesAtOnce / max(manifest.partBytes, 1)))
            var rest = missing[...]
            for index in rest.prefix(atOnce) {
                group.addTask { try await fetch(index, of: manifest, into: file) }
            }
            rest = rest.dropFirst(atOnce)
            while let size = try await group.next() {
                fetched += Int64(size)
                progress(.fetching(fetched: fetched, present: present, total: manifest.bytes))
                guard let index = rest.popFirst() else { continue }
                group.addTask { try await fetch(index, of: manifest, into: file) }
            }
        }
        return fetched
    }

    /// The parts that the file does not have yet.
    private static func missing(of manifest: SnapshotManifest, in file: PartFile) throws -> [Int] {
        let size = try file.size()
        var hash = SHA256()
        return try manifest.parts.indices.filter { index in
            let start = Int64(index) * Int64(manifest.partBytes)
            guard start < size else { return true }
            let bytes = try file.read(manifest.size(ofPart: index), at: start)
            hash.update(bytes)
            return hash.finish() != manifest.parts[index].bytes
        }
    }

    private func checkRoom(for bytes: Int64) throws {
        guard let room = files.room(beside: path), room < bytes else { return }
        throw SyncError(
            .storage, "The disk has room for \(room) bytes, and \(bytes) are needed at \(path)",
            hint: "Free some space, or name a file on another disk.")
    }

    /// Fetches, checks and writes one part.
    ///
    /// - Returns: Its size.
    private func fetch(_ index: Int, of manifest: SnapshotManifest, into file: PartFile) async throws -> Int {
        try await retrying(isPart: true) {
            let bytes = try await source.part(index, of: manifest.id, size: manifest.size(ofPart: index))
            try await blocking {
                guard SHA256.areEqual(SHA256.digest(of: bytes), manifest.parts[index].bytes) else {
                    throw SyncError(
                        .truncated, "Part \(index) of the snapshot of \(source.name) is not the one that was announced",
                        hint: "Run the command again; if it fails again, look at the peer's disk and at the network.")
                }
                try file.write(bytes, at: Int64(index) * Int64(manifest.partBytes))
            }
            return bytes.count
        }
    }

    /// Sends a request again that the peer asks to send later, and, for a part, after other passing failures.
    private func retrying<T>(isPart: Bool, _ send: () async throws -> T) async throws -> T {
        let end = clock.steadyMilliseconds() + limits.patienceMilliseconds
        var failures = 0
        var refusals = 0
        while true {
            do {
                return try await send()
            } catch let error as SyncError where Clone.passes(error) {
                let isRefusal = error.code == .tooManyRequests
                if isRefusal { refusals += 1 } else { failures += 1 }
                guard isRefusal || (isPart && failures < limits.snapshotPartFailures) else { throw error }
                let asked = isRefusal ? max(error.retryAfterSeconds ?? 1, 1) * 1_000 : 0
                let delay = Backoff.delay(
                    failures: max(failures, refusals), entropy: entropy(), minimumMilliseconds: asked, limits: limits)
                guard clock.steadyMilliseconds() + delay <= end else { throw error }
                try await clock.sleep(milliseconds: delay)
            }
        }
    }

    /// True for a failure that may be gone the next time. A disk does not get larger by waiting.
    private static func passes(_ error: SyncError) -> Bool {
        error.isRetryable && error.code != .cancelled && error.code != .storage
    }

    // MARK: - The end

    private func finish(_ manifest: SnapshotManifest, _ file: PartFile) async throws -> NewIdentity.Outcome {
        let now = clock.wallMilliseconds()
        // Compaction in the new file waits for it, although nothing else there tells of it.
        var peer = PeerRecord(name: source.name, origin: manifest.origin, confirmed: manifest.vector)
        peer.lastContactMilliseconds = now
        return try await blocking { [peer] in
            do {
                // The descriptor keeps other clones away, and is closed after SQLite's: closing it earlier
                // would drop SQLite's locks.
                defer { withExtendedLifetime(file) {} }
                let content = try DatabaseCopy.content(at: partial)
                guard let identity = content.identity, identity.origin == manifest.origin,
                    identity.cluster.utf8.elementsEqual(manifest.cluster.utf8), content.vector == manifest.vector
                else {
                    throw SyncError(
                        .notAPeer, "The file that \(source.name) sent is not the replica that it announced",
                        hint: "Look at that peer: `syncd status` on its file, and its log.")
                }
                guard
                    let outcome = try ReplicaFromCopy.publish(
                        partial, as: path, reason: .created, time: Double(now) / 1_000, files: files,
                        complete: { try PeerTable.write(peer, $0) })
                else { throw JournalError(.notAReplica, "The file that \(source.name) sent has no change journal") }
                return outcome
            } catch {
                throw SyncError(wrapping: error)
            }
        }
    }
}
