import Journal

/// The changes that one write adds to a stream. On the store, numbers are big-endian:
///
///     4 bytes   "TDP1"
///     4 bytes   size of the header
///     header    JSON: ``Header``
///     frames    as on the wire (``Frame``), one after the other
///     32 bytes  SHA-256 of all of the above
struct Pack: Sendable, Hashable {
    /// What the pack says of itself.
    struct Header: Sendable, Hashable, Codable {
        /// The cluster whose changes it holds.
        var cluster: String
        var stream: StoredStream
        /// Its place in the stream, from 1.
        @StoredSequence var sequence: Int64
        /// The digest of the pack before; nil for the first one. So nobody can replace a pack unseen.
        var previous: SnapshotManifest.Digest?
        /// The replica that wrote it.
        var writer: StoredOrigin
        /// When it was written, in milliseconds since 1970 by the writer's clock.
        @StoredTime var milliseconds: Int64
        var frames: [FrameNotes]
    }

    /// What a reader has to know of a frame before it decodes it.
    struct FrameNotes: Sendable, Hashable, Codable {
        /// What a replica has to have before it takes the frame: what the writers of its changes had merged, without
        /// what is in the frame itself.
        var needs: StoredVector
        /// For each origin whose last change in the frame does not end a transaction: the last version that does.
        /// 0 when none does.
        var ends: [End]?

        struct End: Sendable, Hashable, Codable {
            var origin: StoredOrigin
            var version: Int64
        }
    }

    /// A frame with its notes.
    struct Entry: Sendable, Hashable {
        var frame: Frame
        var notes: FrameNotes
    }

    var header: Header
    var frames: [Frame]

    var entries: [Entry] { zip(frames, header.frames).map { Entry(frame: $0, notes: $1) } }

    var holds: Holdings { Holdings(entries) }

    /// The version up to which each origin's changes in the frames reach.
    static func covers(of frames: [Frame]) -> VersionVector {
        var covers = VersionVector()
        for frame in frames { covers.merge(frame.coveredVersions) }
        return covers
    }

    // MARK: - Bytes

    static let magic = Array("TDP1".utf8)
    private static let prefixBytes = 8
    /// Far more than the header of a pack of the largest vectors.
    private static let headerBytes = 64 << 20

    /// - Returns: The bytes, and their digest.
    func encoded() throws -> (bytes: [UInt8], digest: [UInt8]) {
        let json = try ArchiveJSON.encode(header)
        var bytes = Pack.magic
        for shift in [24, 16, 8, 0] { bytes.append(UInt8(truncatingIfNeeded: json.count >> shift)) }
        bytes += json
        for frame in frames { bytes += try frame.encoded() }
        let digest = SHA256.digest(of: bytes)
        return (bytes + digest, digest)
    }

    /// Reads untrusted bytes.
    ///
    /// - Parameters:
    ///   - object: What it is, for the error.
    /// - Throws: ``SyncError/Code/invalid`` for bytes that are not a whole pack.
    init(_ bytes: [UInt8], _ object: String, limits: Limits) throws {
        let content = Array(bytes.dropLast(SHA256.byteCount))
        guard bytes.count > Pack.prefixBytes + SHA256.byteCount, bytes.starts(with: Pack.magic),
            SHA256.areEqual(SHA256.digest(of: content), Array(bytes.suffix(SHA256.byteCount)))
        else { throw ArchiveJSON.damaged(object) }
        let size = Int(UInt32(bigEndian: content.dropFirst(4).prefix(4)))
        guard size <= Pack.headerBytes, size <= content.count - Pack.prefixBytes else {
            throw ArchiveJSON.damaged(object)
        }
        header = try ArchiveJSON.decode(content.dropFirst(Pack.prefixBytes).prefix(size), object)
        var parser = FrameParser(limits: limits)
        parser.append(content.dropFirst(Pack.prefixBytes + size))
        frames = []
        do {
            while let frame = try parser.next() { frames.append(frame) }
        } catch {
            throw ArchiveJSON.damaged(object)
        }
        let isBatch = frames.allSatisfy { if case .batch = $0.body { true } else { false } }
        guard isBatch, frames.count == header.frames.count else { throw ArchiveJSON.damaged(object) }
    }

    init(header: Header, frames: [Frame]) {
        self.header = header
        self.frames = frames
    }
}

extension Pack.Entry {
    /// - Throws: ``WireError`` for a frame whose changes cannot be decoded.
    init(_ frame: Frame, limits: Limits) throws(WireError) {
        let batch = try frame.batch(limits: limits)
        let covers = frame.coveredVersions
        var needs = VersionVector()
        var ends: [OriginID: Int64] = [:]
        for run in batch.runs {
            for known in run.known.entries where known.version > covers[known.origin] {
                needs.advance(known.origin, to: known.version)
            }
            let end = run.changes.last { batch.changes[$0].endsTransaction }
            ends[run.origin] = max(
                ends[run.origin] ?? 0, end.map { run.firstVersion + Int64($0 - run.changes.lowerBound) } ?? 0)
        }
        let open = ends.filter { $0.value < covers[$0.key] }.sorted { $0.key < $1.key }
            .map { Pack.FrameNotes.End(origin: StoredOrigin($0.key), version: $0.value) }
        self.init(
            frame: frame,
            notes: Pack.FrameNotes(needs: StoredVector(needs), ends: open.isEmpty ? nil : open))
    }

    /// The runs of the frame, each as a frame of its own. The whole may wait for what one of its runs can go without.
    ///
    /// - Throws: ``WireError`` for a frame whose changes cannot be decoded.
    func runs(limits: Limits) throws(WireError) -> [Pack.Entry] {
        let batch = try frame.batch(limits: limits)
        guard batch.runs.count > 1 else { return [self] }
        return try batch.runs.map { run throws(WireError) in
            try Pack.Entry(Frame(batch.part(of: run, changes: run.changes), encoding: .zstd), limits: limits)
        }
    }

    /// True when a replica that has `have` can take the frame.
    func follows(_ have: VersionVector) -> Bool { frame.begins(after: have) && have.covers(notes.needs.vector) }

    /// The version up to which each origin's whole transactions in the frame reach.
    var wholeCovers: VersionVector {
        let ends = Dictionary(
            (notes.ends ?? []).map { ($0.origin.origin, $0.version) }, uniquingKeysWith: { first, _ in first })
        var whole = VersionVector()
        for entry in frame.coveredVersions.entries {
            let version = ends[entry.origin] ?? entry.version
            if version > 0 { whole.advance(entry.origin, to: min(version, entry.version)) }
        }
        return whole
    }
}

extension Frame {
    /// The version up to which each origin's changes in the frame reach.
    var coveredVersions: VersionVector {
        var vector = VersionVector()
        if case .batch(let covers, _, _) = body {
            for cover in covers { vector.advance(cover.origin, to: cover.last) }
        }
        return vector
    }

    /// True when `have` holds everything before the frame's changes.
    func begins(after have: VersionVector) -> Bool {
        guard case .batch(let covers, _, _) = body else { return false }
        var have = have
        return covers.allSatisfy { cover in
            guard cover.first <= have[cover.origin] + 1 else { return false }
            have.advance(cover.origin, to: cover.last)
            return true
        }
    }
}
