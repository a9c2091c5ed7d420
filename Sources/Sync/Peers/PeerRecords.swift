import GRDB
import Journal
import Synchronization

/// Records contacts with peers, what they confirm, and how comparisons with them end.
///
/// While peers are followed, nothing of it commits to the database by itself (decision 0020): records are
/// kept in memory and in ``PeerNotes``, and the table gets them
///
/// 1. with a transaction that applies changes of a peer,
/// 2. when following ends,
/// 3. at the latest when a peer has confirmed ``Limits/unrecordedChanges`` more of this replica's changes, or
///    an hour after it has confirmed any: a backup of the file knows by it what need not be sent again.
///
/// A single exchange writes to the table at once.
package final class PeerRecords: Sendable {
    private struct State {
        /// nil while records are written at once.
        var records: [String: PeerRecord]?
        /// True when the table lacks something of ``records``.
        var isChanged = false
        /// What the table says that each peer has confirmed of this replica's own changes.
        var written: [String: Int64] = [:]
        /// When the table was last written, in milliseconds since 1970.
        var writtenTime: Int64 = 0
    }

    private let replica: Replica
    private let notes: PeerNotes
    private let limits: Limits
    private let wallClock: @Sendable () -> Stamp
    private let state = Mutex(State())
    /// Held while notes are written, so that the last ones stay.
    private let writing = Mutex(())

    init(replica: Replica, limits: Limits, wallClock: @escaping @Sendable () -> Stamp) {
        self.replica = replica
        notes = PeerNotes(of: replica)
        self.limits = limits
        self.wallClock = wallClock
    }

    /// All peers of earlier exchanges, in the order of their addresses, as this process and the file know
    /// them.
    ///
    /// - Throws: Errors of the file.
    package func all() throws -> [PeerRecord] {
        try replica.read { db in
            guard let records = state.withLock({ $0.records }) else { return try PeerRecords.all(in: replica, db) }
            return records.values.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
        }
    }

    /// All peers of earlier exchanges, in the order of their addresses: those of the table, and instead of
    /// them those that a running daemon has noted since.
    ///
    /// - Parameter db: A connection to the replica's file.
    /// - Throws: Errors of the file.
    package static func all(in replica: Replica, _ db: Database) throws -> [PeerRecord] {
        var records = Dictionary(
            try PeerTable.all(db).map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        for record in PeerNotes(of: replica).records(of: try Identity(db).origin) { records[record.name] = record }
        return records.values.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    }

    /// The origin that last answered at the address `name`.
    func origin(of name: String) throws -> OriginID? { try record(of: name)?.origin }

    /// When the content was last compared with that peer, in milliseconds since 1970; nil for never.
    func lastComparison(with name: String) throws -> Int64? { try record(of: name)?.comparedMilliseconds }

    private func record(of name: String) throws -> PeerRecord? {
        if let records = state.withLock({ $0.records }) { return records[name] }
        return try replica.read { try PeerTable.all($0) }.first { $0.name == name }
    }

    // MARK: - Recording

    /// Records `status`; see ``PeerRecord/take(_:)``. A single exchange without news commits nothing.
    ///
    /// - Throws: Errors of the file; ``SyncError/Code/storage`` when the notes cannot be written.
    func record(_ status: PeerStatus) throws {
        if state.withLock({ $0.records == nil }) {
            let interval = limits.contactRecordMilliseconds
            guard try replica.read({ try PeerTable.lacks(status, intervalMilliseconds: interval, $0) }) else { return }
        }
        try change(status.name, isConfirmation: true) {
            $0.take(status)
        } orAtOnce: {
            try PeerTable.record(status, $0)
        }
    }

    /// Records the result of a comparison of the content.
    ///
    /// - Throws: As ``record(_:)``.
    func record(comparisonWith name: String, _ mismatches: [ContentMismatch], milliseconds: Int64) throws {
        try change(name, isConfirmation: false) { record in
            record.comparedMilliseconds = milliseconds
            record.mismatches = mismatches
        } orAtOnce: { db in
            try PeerTable.record(comparisonWith: name, mismatches, milliseconds: milliseconds, db)
        }
    }

    private func change(
        _ name: String, isConfirmation: Bool, _ body: (inout PeerRecord) -> Void,
        orAtOnce write: (Database) throws -> Void
    ) throws {
        let own = try replica.identity().origin
        let now = wallClock().milliseconds
        let step = state.withLock { state -> Step in
            guard var records = state.records else { return .atOnce }
            var record = records[name] ?? PeerRecord(name: name, confirmed: VersionVector())
            body(&record)
            records[name] = record
            state.records = records
            state.isChanged = true
            let unrecorded = record.confirmed[own] - (state.written[name] ?? 0)
            // A clock that was set back must not extend the time.
            let isOld = !(0..<limits.sweepMilliseconds).contains(now - state.writtenTime)
            let isDue = unrecorded >= limits.unrecordedChanges || unrecorded > 0 && isOld
            return isConfirmation && isDue ? .noteAndWrite : .note
        }
        switch step {
        case .atOnce: try replica.write(write)
        case .note: try note(of: own)
        case .noteAndWrite:
            try note(of: own)
            try replica.write(write(to:))
        }
    }

    private enum Step { case atOnce, note, noteAndWrite }

    private func note(of own: OriginID) throws {
        try writing.withLock { _ in
            guard let records = state.withLock({ $0.records }) else { return }
            // The notes of a file that was moved away would replace those of the file that came instead.
            try replica.checkPlace()
            try notes.write(Array(records.values), of: own)
        }
    }

    /// Writes the records to the table, as a part of a transaction that changes the file anyway.
    ///
    /// - Throws: Errors of SQLite. The transaction must then be rolled back.
    func write(to db: Database) throws {
        guard let records = state.withLock({ $0.records }), !records.isEmpty else { return }
        let own = try Identity(db).origin
        // In an order that does not depend on hashing, because it shows in the file.
        for (_, record) in records.sorted(by: { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }) {
            try PeerTable.write(record, db)
        }
        let now = wallClock().milliseconds
        state.withLock { state in
            state.writtenTime = now
            state.written = records.mapValues { $0.confirmed[own] }
            state.isChanged = state.records != records
        }
    }

    /// Writes the records along with applied changes, but not with each of many commits in a row.
    func writeAlong(_ db: Database) throws {
        let now = wallClock().milliseconds
        let isDue = state.withLock { state in
            state.isChanged && !(0..<limits.peerRecordMilliseconds).contains(now - state.writtenTime)
        }
        if isDue { try write(to: db) }
    }

    // MARK: - Following

    /// Keeps records out of the database from now on. Begins with what an earlier daemon has left.
    ///
    /// - Throws: Errors of the file; records are then written at once.
    func beginFollowing() throws {
        let (own, table, records) = try replica.read { db in
            (try Identity(db).origin, try PeerTable.all(db), try PeerRecords.all(in: replica, db))
        }
        let now = wallClock().milliseconds
        state.withLock { state in
            state.records = Dictionary(records.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
            state.isChanged = records != table
            state.written = Dictionary(
                table.map { ($0.name, $0.confirmed[own]) }, uniquingKeysWith: { first, _ in first })
            state.writtenTime = now
        }
    }

    /// Writes the records to the table, and each later one at once.
    ///
    /// - Parameter statuses: How following the peers ended.
    /// - Throws: Errors of the file; ``PeerNotes`` keep the records then.
    func endFollowing(with statuses: [PeerStatus]) throws {
        defer { state.withLock { $0.records = nil } }
        state.withLock { state in
            for status in statuses where status.lastContactMilliseconds != nil || status.lastError != nil {
                var record = state.records?[status.name] ?? PeerRecord(name: status.name, confirmed: VersionVector())
                let before = record
                record.take(status)
                state.records?[status.name] = record
                if record != before { state.isChanged = true }
            }
        }
        if state.withLock({ $0.isChanged }) { try replica.write(write(to:)) }
        try writing.withLock { _ in try notes.clear(of: try replica.identity().origin) }
    }
}
