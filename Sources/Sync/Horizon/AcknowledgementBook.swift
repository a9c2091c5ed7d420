import Foundation
import GRDB
import Journal
import Synchronization

/// Hears what other replicas have merged, and tells it on. There is one for a file and process.
///
/// Each hello carries the sender's own acknowledgement and those that it has of others, so that replicas
/// which never meet know of one another.
package final class AcknowledgementBook: Sendable {
    private struct State {
        /// The identity for which the rest holds; nil before the first use.
        var own: OriginID?
        var known = Acknowledgements()
        var shown = ShownKnowledge()
        /// True when the file lacks something of ``known``.
        var isChanged = false
        /// When the file was last written, in milliseconds since 1970.
        var written: Int64 = 0
        /// The clocks of other replicas at their last hellos.
        var clocks: [OriginID: Clock] = [:]
    }

    /// The clock of another replica, as one hello showed it.
    private struct Clock {
        /// How far it was ahead of the one here, in milliseconds.
        var offset: Int64
        /// When that was, by the clock here, in milliseconds since 1970.
        var noted: Int64
    }

    private let replica: Replica
    private let limits: Limits
    private let wallClock: @Sendable () -> Stamp
    private let file: AcknowledgementFile
    private let state = Mutex(State())

    init(replica: Replica, limits: Limits, wallClock: @escaping @Sendable () -> Stamp) {
        self.replica = replica
        self.limits = limits
        self.wallClock = wallClock
        file = AcknowledgementFile(of: replica)
    }

    /// What to tell a peer: the acknowledgement of this replica, then those of the replicas that were met
    /// last, as many as fit.
    ///
    /// - Parameter db: The snapshot that the hello describes.
    package func all(_ db: Database) throws -> [Acknowledgement] {
        let own = try Identity(db).origin
        let now = wallClock().milliseconds
        return try state.withLock { state in
            load(own, &state)
            let mine = Acknowledgement(
                origin: own, vector: try state.shown.read(db), milliseconds: now, witness: own)
            let oldest = now - limits.leaseMilliseconds
            if state.known.judge(now: now) { state.isChanged = true }
            let others = state.known.records.values.map(\.told).filter { $0.milliseconds >= oldest }
                .sorted { ($0.milliseconds, $0.origin) > ($1.milliseconds, $1.origin) }
            // Nobody else speaks for them.
            let finished = try FinishedOrigins.all(db).map {
                Acknowledgement(origin: $0, vector: mine.vector, milliseconds: now, witness: own)
            }
            let ours = [mine] + finished.prefix(limits.acknowledgementsPerHello / 2)
            return ours + others.prefix(max(0, limits.acknowledgementsPerHello - ours.count))
        }
    }

    /// Takes what a peer told.
    ///
    /// - Parameter sender: The peer, which was met now.
    /// - Throws: Errors of the file; ``SyncError/Code/storage`` when the notes cannot be written.
    package func take(_ acknowledgements: [Acknowledgement], from sender: OriginID) throws {
        let now = wallClock().milliseconds
        let (own, ours) = try replica.read { db in
            let reader = try JournalReader(db)
            return (reader.identity.origin, reader.vector())
        }
        try state.withLock { state in
            load(own, &state)
            if state.known.judge(now: now) { state.isChanged = true }
            for var acknowledgement in acknowledgements where acknowledgement.origin != own {
                if acknowledgement.origin == sender {
                    acknowledgement.milliseconds = now
                    acknowledgement.witness = own
                } else {
                    // A clock that is ahead must not keep a replica alive for ever.
                    acknowledgement.milliseconds = min(acknowledgement.milliseconds, now)
                }
                if state.known.take(acknowledgement, ours: ours) { state.isChanged = true }
            }
            // Not with each of many hellos in a row.
            guard state.isChanged, !(0..<limits.peerRecordMilliseconds).contains(now - state.written) else { return }
            try write(own, now, &state)
        }
    }

    /// Writes what the file lacks. Call it before the process ends.
    ///
    /// - Throws: ``SyncError/Code/storage`` when the notes cannot be written.
    func flush() throws {
        let now = wallClock().milliseconds
        try state.withLock { state in
            guard state.isChanged, let own = state.own else { return }
            try write(own, now, &state)
        }
    }

    /// Notes what time a replica believes it is.
    func note(wallMilliseconds theirs: Int64, of origin: OriginID) {
        let now = wallClock().milliseconds
        let (offset, overflow) = theirs.subtractingReportingOverflow(now)
        state.withLock { $0.clocks[origin] = Clock(offset: overflow ? .max : offset, noted: now) }
    }

    /// True when the clock of some replica that still says hello differs from this one by more than they accept from
    /// one another. Leases cannot be judged then: a clock that is a year ahead would end them all.
    ///
    /// A replica that is gone does not say any more that its clock was set right.
    var hasDoubtfulClock: Bool {
        let now = wallClock().milliseconds
        // Two hellos: the last one may be on its way.
        let longest = UInt64(2 * limits.aliveMilliseconds)
        return state.withLock { state in
            state.clocks.values.contains { clock in
                clock.offset.magnitude > UInt64(limits.clockSkewMilliseconds)
                    && clock.noted.subtractingReportingOverflow(now).partialValue.magnitude <= longest
            }
        }
    }

    /// What is stable in the snapshot of `db`.
    ///
    /// Another process may have heard more, so its notes are read too.
    func stableHorizon(_ db: Database, lease: Int64) throws -> StableHorizon {
        let reader = try JournalReader(db)
        let own = reader.identity.origin
        let vector = reader.vector()
        let now = wallClock().milliseconds
        let (ours, known) = try state.withLock { state in
            load(own, &state)
            if state.known.judge(now: now) { state.isChanged = true }
            state.known.merge(file.read(of: own), ours: vector, now: now)
            state.known.refresh(ours: vector)
            return (try state.shown.read(db), state.known)
        }
        return StableHorizon(
            ours: ours, own: own, candidates: try StableHorizon.candidates(reader, db), acknowledgements: known,
            now: now, lease: lease)
    }

    /// What is stable in the snapshot of `db`, by what the replica's processes have noted.
    ///
    /// - Parameters:
    ///   - now: The time in milliseconds since 1970.
    ///   - lease: How long a replica counts after it was last seen, in milliseconds.
    /// - Throws: Errors of the file.
    package static func stableHorizon(
        of replica: Replica, _ db: Database, now: Int64, lease: Int64
    ) throws -> StableHorizon {
        try AcknowledgementBook(
            replica: replica, limits: .standard, wallClock: { Stamp(milliseconds: now) }
        ).stableHorizon(db, lease: lease)
    }

    // MARK: - Pieces

    private func load(_ own: OriginID, _ state: inout State) {
        guard state.own != own else { return }
        (state.own, state.known, state.shown, state.isChanged) = (own, file.read(of: own), ShownKnowledge(), false)
    }

    private func write(_ own: OriginID, _ now: Int64, _ state: inout State) throws {
        state.written = now
        try file.write(state.known, of: own)
        state.isChanged = false
    }
}

extension StableHorizon {
    /// The other replicas that the file knows: those that wrote changes, and the peers of exchanges, which may never
    /// have written any. An earlier identity of this replica is none, unless it is a peer's: a copy of a file, as a clone
    /// is, has taken another name than the one that it was copied from. What this replica has finished is none either.
    static func candidates(_ reader: JournalReader, _ db: Database) throws -> [Candidate] {
        let vector = reader.vector()
        let peers = try PeerTable.all(db)
        let contacts = Dictionary(
            peers.compactMap { peer in peer.origin.map { ($0, peer.lastContactMilliseconds ?? 0) } },
            uniquingKeysWith: max)
        var candidates: [Candidate] = []
        var known = Set(try FinishedOrigins.all(db) + [reader.identity.origin])
        for row in try Row.fetchAll(db, sql: "SELECT * FROM _journal_origins") {
            guard let origin = OriginID(bytes: row["origin"] as Data), row["retired"] as Double? == nil,
                known.insert(origin).inserted
            else { continue }
            let written = try reader.stamp(of: origin, version: vector[origin])?.milliseconds
            candidates.append(
                Candidate(
                    origin: origin, lastSeen: [written, contacts[origin]].compactMap(\.self).max(),
                    forgotten: (row["forgotten"] as Double?).map { Int64($0 * 1_000) }))
        }
        for (origin, contact) in contacts where !known.contains(origin) {
            candidates.append(Candidate(origin: origin, lastSeen: contact))
        }
        return candidates
    }
}
