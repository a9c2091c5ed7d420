import Foundation
import GRDB
import Journal

/// Reads the changes that a peer lacks from the local journal, as frames, in bounded portions.
struct FrameSource: Sendable {
    let replica: Replica
    let limits: Limits
    let encoding: PayloadEncoding
    /// Keeps the publication record; nil when nothing leaves the process.
    var keeper: IdentityKeeper?
    /// Where snapshots have ended.
    let ends: SeenEnds
    /// Takes note of what cannot be sent; nil when nobody asks.
    var unsendable: UnsendableChanges?
    /// The tables that the peer has; nil for all. Changes of others are hidden.
    var scope: TableScope?

    /// The state of the file that followers watch: the end of the journal, the replica's origin and the
    /// version of the schema. When the first two are equal, there is nothing new to send. A new schema may
    /// show more of what the journal already holds.
    struct Position: Sendable, Hashable {
        var seq: Int64 = 0
        var origin = Data()
        /// SQLite's `PRAGMA schema_version`.
        var schema: Int64 = 0

        init() {}

        init(_ db: Database) throws {
            seq = try JournalReader.lastSeq(db)
            origin =
                try Data.fetchOne(db.cachedStatement(sql: "SELECT origin FROM _journal_replica")) ?? Data()
            schema = try Int64.fetchOne(db.cachedStatement(sql: "PRAGMA schema_version")) ?? 0
        }
    }

    /// The frames from one snapshot.
    struct Portion: Sendable {
        var frames: [Frame] = []

        /// What the peer has once it has these frames.
        var have: VersionVector

        /// What this replica knows in the snapshot.
        var vector = VersionVector()
        var changes = 0

        /// The journal's end in the snapshot.
        var position = Position()

        /// Bytes of the frames' payloads.
        var bytes = 0

        /// The memory of a large frame among them.
        var reservation: MemoryBudget.Reservation?

        /// The error for a change of ``refused``; nil when nothing is refused.
        var refusal: SyncError?

        /// What cannot be sent: changes that are too large, and what their origins wrote after them.
        var refused = VersionVector()

        /// What is not sent: changes of replicas whose changes are not wanted.
        var spared = VersionVector()

        /// What need not be read.
        var passed: VersionVector { have.merged(with: refused).merged(with: spared) }

        /// True when the snapshot holds more changes to send than the frames.
        var more: Bool { !passed.covers(vector) }
    }

    /// Reads the current position. It is cheaper than a portion, for a check after a signal that may mean
    /// nothing.
    func position() async throws -> Position {
        try await blocking {
            try replica.refreshDerivedState()
            return try replica.read { db in
                let position = try Position(db)
                try ends.note(position, db)
                return position
            }
        }
    }

    /// Reads the next portion of what the peer lacks, and records it as published before it is returned.
    ///
    /// A large change comes alone, when there is memory for it.
    ///
    /// - Parameters:
    ///   - have: What the peer has.
    ///   - wanted: The replicas whose changes are sent; nil for all.
    ///   - bytes: The size of the portion in bytes of frames, approximately; at least one frame if the peer
    ///     lacks anything.
    func portion(after have: VersionVector, of wanted: Set<OriginID>? = nil, bytes: Int) async throws -> Portion {
        var reservation: MemoryBudget.Reservation?
        while true {
            let isReserved = reservation != nil
            let read = try await portion(after: have, of: wanted, bytes: bytes, isReserved: isReserved)
            guard let lacking = read.lacking, read.portion.frames.isEmpty else {
                var portion = read.portion
                portion.reservation = reservation
                return portion
            }
            reservation = try await MemoryBudget.sending.reserve(lacking)
        }
    }

    /// - Parameter isReserved: True to take one large change.
    /// - Returns: The portion up to a large change, and that change's size.
    private func portion(
        after have: VersionVector, of wanted: Set<OriginID>?, bytes: Int, isReserved: Bool
    ) async throws -> (portion: Portion, lacking: Int?) {
        try await blocking {
            try replica.refreshDerivedState()
            var head: (entry: PublicationRecord.Entry, witness: EntryWitness?)?
            let read = try replica.read { db -> (portion: Portion, lacking: Int?) in
                var portion = Portion(have: have)
                var lacking: Int?
                let reader = try JournalReader(db)
                let own = reader.identity.origin
                portion.vector = reader.vector()
                portion.position = try Position(db)
                if let wanted {
                    portion.spared = VersionVector(portion.vector.entries.filter { !wanted.contains($0.origin) })
                }
                guard portion.more else { return (portion, lacking) }
                try FrameSource.checkHorizon(have.merged(with: portion.spared), db)
                let seen = ends.positions(upTo: portion.position)
                let covers = scope?.test(reader.registry.names)
                try ends.note(portion.position, db)
                var isRefused: Bool
                repeat {
                    isRefused = false
                    try Outbox.forEachBatch(in: db, after: portion.passed, limits: limits, seen: seen) { whole in
                        let batch = covers.map { covers in whole.hiding { !covers($0) } } ?? whole
                        let weight = batch.largeWeight(limits)
                        // What comes before it is sent first.
                        if weight > 0, !isReserved || !portion.frames.isEmpty {
                            lacking = weight
                            return false
                        }
                        let frame = try Frame(batch, encoding: encoding)
                        if let refusal = refusal(of: frame, batch) {
                            isRefused = true
                            portion.refusal = portion.refusal ?? refusal
                            if let run = batch.runs.first {
                                unsendable?.note(run.firstVersion, of: run.origin, refusal)
                            }
                            for run in batch.runs {
                                portion.refused.advance(run.origin, to: portion.vector[run.origin])
                            }
                            return false
                        }
                        for run in batch.runs { portion.have.advance(run.origin, to: run.lastVersion) }
                        portion.changes += batch.changes.count
                        portion.bytes += frame.payload.count
                        portion.frames.append(frame)
                        return portion.bytes < bytes && weight == 0
                    }
                } while isRefused
                if portion.have[own] > have[own] { head = try unpublishedHead(reader) }
                return (portion, lacking)
            }
            if let head { try keeper?.willPublish(head.entry, at: head.witness) }
            return read
        }
    }

    /// - Throws: ``SyncError/Code/behindHorizon`` when entries that the peer lacks may be gone.
    static func checkHorizon(_ have: VersionVector, _ db: Database) throws {
        let horizon = try Horizon(db).vector
        guard !have.covers(horizon) else { return }
        let lacking = horizon.entries.reduce(Int64(0)) { $0 + max(0, $1.version - have[$1.origin]) }
        throw SyncError(
            .behindHorizon,
            "The receiver lacks \(lacking) changes that are compacted at the sender: it was away for longer than its "
                + "lease, or is new",
            hint: "`syncd return` gives the receiver's file the content of its peer, and writes again what only it has "
                + "written; a daemon does so by itself. A new file is made by `syncd clone`.")
    }

    /// The error for a frame that is too large for every peer; nil for others. Only a single change can be
    /// that large, and its table and version are known here.
    private func refusal(of frame: Frame, _ batch: ChangeBatch) -> SyncError? {
        guard case .batch(_, _, let size) = frame.body, size > limits.rawBatchBytes, let run = batch.runs.first,
            let change = batch.changes.first
        else { return nil }
        return SyncError(
            .tooLarge,
            "A change of table \(batch.shapes[change.shape].table), version \(run.firstVersion) of \(run.origin.short), has "
                + "\(size) bytes, and peers take at most \(limits.rawBatchBytes)",
            hint:
                "What that machine wrote later waits behind it. Keep such values in files, and the names of the files in "
                + "the database."
        )
    }

    /// The newest change of this replica, if the publication record does not cover it yet.
    private func unpublishedHead(
        _ reader: JournalReader
    ) throws -> (entry: PublicationRecord.Entry, witness: EntryWitness?)? {
        let own = reader.identity.origin
        let version = reader.vector()[own]
        guard let keeper, !keeper.hasPublished(own, through: version),
            let digest = try reader.digest(of: own, version: version)
        else { return nil }
        return try (
            PublicationRecord.Entry(origin: own, version: version, digest: digest),
            reader.witness(of: own, version: version)
        )
    }
}

extension ChangeBatch {
    /// The bytes of the values of a batch that is large; 0 for others.
    fileprivate func largeWeight(_ limits: Limits) -> Int {
        let weight = values.reduce(0) { $0 + $1.weight }
        return weight > limits.largeFrameBytes ? weight : 0
    }
}
