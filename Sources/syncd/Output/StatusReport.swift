import Foundation
import GRDB
import Journal
import Sync

/// What `syncd status`, `GET /v1/status`, `/metrics` and the dashboard show of a replica: one snapshot of its
/// file.
struct StatusReport: Sendable {
    struct Table: Sendable {
        let name: String
        /// nil when the rows were not counted.
        let rows: Int?
    }

    struct Peer: Sendable {
        let url: String
        /// nil until the first contact.
        let origin: OriginID?
        /// How far it is behind what is known here; nil until it has confirmed any change.
        var lag: PeerLag?
        let lastContact: Date?
        let lastError: String?
        /// What to do about it; known to a running daemon only, as what follows.
        var hint: String?
        /// Changes that were received from it, and sent to it, since the daemon started.
        var pulled: Int?
        var pushed: Int?
        /// Milliseconds by which its clock was ahead at the last hello; known to a running daemon only.
        var clockOffset: Int64?
        /// Which changes are exchanged with it; known to a running daemon only.
        var direction: SyncDirection?
        /// What it was sent as an object store since the daemon started; nil for a peer that is none.
        var storeRequests: StoreRequests?
        /// When the content was last compared while both knew the same changes; nil for never.
        var compared: Date?
        /// Where the content differed in that comparison.
        var mismatches: [ContentMismatch] = []
    }

    let path: String
    let origin: OriginID
    let cluster: String
    let formatVersion: Int64
    let foreignKeys: ForeignKeyRule
    /// The tables that a leaf has; nil for a replica that has all.
    let leaf: TableScope?
    let vector: VersionVector
    let tables: [Table]
    /// The other tables and views of the file, with the reasons.
    let untracked: [CaptureReport.Untracked]
    let journalRows: Int64
    /// Held rows, by reason.
    let heldByReason: [(reason: String, rows: Int)]
    /// Open entries of the ledger.
    let conflicts: Int
    /// All entries that the ledger has dropped because of their age, or because a row had too many.
    let droppedConflicts: Int
    let clocks: ClockReport
    var peers: [Peer]
    let sqliteVersion: String
    /// Bytes of the database and of its write-ahead log.
    let fileBytes: Int64
    let walBytes: Int64
    /// Up to where the journal is compacted.
    let horizon: Horizon
    /// The other replicas, and what they have acknowledged.
    let replicas: StableHorizon
    /// Bytes of the file's free pages.
    let freeBytes: Int64
    /// Why the last reload has changed nothing; nil when it succeeded. Only a running daemon knows it.
    var configurationRefused: String?
    /// The replicas whose pulls wait here for news. Only a running daemon knows them.
    var followers: [OriginID] = []

    /// The token for what this replica has written itself so far.
    var token: WriteToken { WriteToken(origin: origin, version: vector[origin]) }

    /// The time from which on the history is whole; nil when all of it is.
    private var horizonTime: String? {
        horizon.isEmpty
            ? nil : ConsoleText.time(Date(timeIntervalSince1970: Double(horizon.stamp.milliseconds) / 1_000))
    }

    var held: Int { heldByReason.reduce(0) { $0 + $1.rows } }

    /// - Parameters:
    ///   - countingRows: False for pages that are fetched every few seconds: counting reads each table from
    ///     end to end.
    ///   - live: What a running daemon knows of the peers that it follows. It is more recent than what the
    ///     file holds.
    ///   - lease: How long a replica that is not heard of counts, in milliseconds.
    ///   - isSample: True leaves out the clock of this replica, for the charts: its latest changes must be read
    ///     for it, and a program that writes without a pause would get a long log.
    init(
        _ replica: Replica, countingRows: Bool = true, live: ReplicatorStatus? = nil,
        lease: Int64 = Limits.standard.leaseMilliseconds, isSample: Bool = false
    ) throws {
        let sizes = FileSizes(path: replica.path, files: replica.options.files)
        self = try replica.read {
            try StatusReport(
                $0, of: replica, sizes, countingRows: countingRows, live: live, lease: lease, isSample: isSample)
        }
    }

    private init(
        _ db: Database, of replica: Replica, _ sizes: FileSizes, countingRows: Bool, live: ReplicatorStatus?,
        lease: Int64, isSample: Bool
    ) throws {
        let reader = try JournalReader(db)
        path = replica.path
        vector = reader.vector()
        origin = reader.identity.origin
        cluster = reader.identity.cluster
        formatVersion = reader.identity.format
        foreignKeys = try ForeignKeyRule.of(db)
        leaf = reader.identity.leaf?.scope
        let coverage = try TableCoverage(db)
        untracked = coverage.untracked
        tables = try coverage.tracked.map { name in
            let quoted = SQLText.quote(identifier: name)
            let rows = countingRows ? try Int.fetchOne(db, sql: "SELECT count(*) FROM \(quoted)") : nil
            return Table(name: name, rows: rows)
        }
        horizon = try Horizon(db)
        // Positions have no other gaps than those of compaction, so this is the number of rows without reading
        // the journal.
        journalRows = reader.lastSeq - horizon.removed
        let now = ClockCommand.now.milliseconds
        replicas = try AcknowledgementBook.stableHorizon(of: replica, db, now: now, lease: lease)
        freeBytes =
            try Int64.fetchOne(
                db, sql: "SELECT freelist_count * page_size FROM pragma_freelist_count, pragma_page_size")
            ?? 0
        heldByReason = try HeldEntries.counts(db)
        conflicts = try ConflictLedger.counts(db)[.open] ?? 0
        droppedConflicts = try ConflictLedger.dropped(db).total
        clocks = try ClockReport(db, now: ClockCommand.now, measuresOwn: !isSample)
        peers = try Peer.all(of: live, PeerRecords.all(in: replica, db), in: reader, now: now)
        sqliteVersion = try String.fetchOne(db, sql: "SELECT sqlite_version()") ?? ""
        fileBytes = sizes.file
        walBytes = sizes.log
    }
}

extension StatusReport {
    var json: JSONValue {
        .object([
            "origin": .string(origin.description),
            "cluster": .string(cluster),
            "token": .string(token.description),
            "leaf": .optional(leaf) { .array($0.tables.map { .string($0) }) },
            "vector": .vector(vector),
            "tables": .array(
                tables.map { .object(["name": .string($0.name), "rows": .optional($0.rows) { .integer(Int64($0)) }]) }),
            "untracked": .array(untracked.map(\.json)),
            "foreign_keys": .string(foreignKeys.rawValue),
            "journal_rows": .integer(journalRows),
            "journal_removed": .integer(horizon.removed),
            "horizon": .optional(horizonTime) { .string($0) },
            "replicas": .array(replicas.members.map(\.json)),
            "free_bytes": .integer(freeBytes),
            "held": .integer(Int64(held)),
            "held_by_reason": .object(
                heldByReason.map { JSONValue.Member(name: $0.reason, value: .integer(Int64($0.rows))) }),
            "conflicts": .integer(Int64(conflicts)),
            "conflicts_dropped": .integer(Int64(droppedConflicts)),
            "clock_ahead_ms": .integer(clocks.ownAheadMilliseconds),
            "held_back": .array(clocks.origins.filter { $0.hold != nil }.map(\.json)),
            "peers": .array(peers.map(\.json)),
            "file_bytes": .integer(fileBytes),
            "wal_bytes": .integer(walBytes),
            "configuration_refused": .optional(configurationRefused) { .string($0) },
            "format_version": .integer(formatVersion),
            "sqlite_version": .string(sqliteVersion),
            "version": .string(Version.current),
        ])
    }
}

extension StatusReport.Peer {
    /// The peers that a daemon follows, or those of the records without one.
    fileprivate static func all(
        of live: ReplicatorStatus?, _ records: [PeerRecord], in reader: JournalReader, now: Int64
    ) throws -> [StatusReport.Peer] {
        let remembered = try records.map { try StatusReport.Peer($0, in: reader, now: now) }
        guard let live else { return remembered }
        return try live.peers.map { status in
            var peer = try StatusReport.Peer(status, in: reader, now: now)
            // Comparisons are remembered for longer than a daemon runs.
            let record = remembered.first { $0.url == peer.url }
            peer.compared = record?.compared
            peer.mismatches = record?.mismatches ?? []
            return peer
        }
    }

    private init(_ record: PeerRecord, in reader: JournalReader, now: Int64) throws {
        self.init(
            url: record.name, origin: record.origin, lag: try PeerLag(of: record.confirmed, in: reader, now: now),
            lastContact: record.lastContactMilliseconds.map { Date(timeIntervalSince1970: Double($0) / 1_000) },
            lastError: record.lastError,
            compared: record.comparedMilliseconds.map { Date(timeIntervalSince1970: Double($0) / 1_000) },
            mismatches: record.mismatches)
    }

    private init(_ status: PeerStatus, in reader: JournalReader, now: Int64) throws {
        self.init(
            url: status.name, origin: status.origin, lag: try PeerLag(of: status.vector, in: reader, now: now),
            lastContact: status.lastContactMilliseconds.map { Date(timeIntervalSince1970: Double($0) / 1_000) },
            lastError: status.lastError?.message,
            hint: status.lastError.flatMap { $0.hint ?? $0.code.advice }, pulled: status.pulledChanges,
            pushed: status.pushedChanges, clockOffset: status.clockOffsetMilliseconds,
            storeRequests: status.storeRequests)
    }

    var json: JSONValue {
        .object([
            "url": .string(url),
            "origin": .optional(origin) { .string($0.description) },
            "lag": .optional(lag) { .integer($0.changes) },
            "lag_ms": .optional(lag) { .integer($0.milliseconds) },
            "last_contact": .optional(lastContact) { .string(ConsoleText.time($0)) },
            "last_error": .optional(lastError) { .string($0) },
            "clock_offset_ms": .optional(clockOffset) { .integer($0) },
            "direction": .optional(direction) { .string($0.rawValue) },
            "compared": .optional(compared) { .string(ConsoleText.time($0)) },
            "mismatches": .array(mismatches.map(\.json)),
            "requests": .optional(storeRequests) { $0.json },
        ])
    }

    var summary: String {
        PeerText(
            lag: lag?.changes, lagMilliseconds: lag?.milliseconds,
            lastContact: lastContact.map { ConsoleText.time($0) }, clockOffset: clockOffset,
            compared: compared.map { ConsoleText.time($0) }, differs: !mismatches.isEmpty,
            lastError: lastError.map { ConsoleText.printable($0) }, requests: storeRequests?.summary
        ).text
    }
}

/// The state of a peer in words: `up to date, seen 2026-…, equal at 2026-…`
struct PeerText {
    let lag: Int64?
    /// For how long it has lacked one of them; nil when the daemon is of a release that does not say.
    let lagMilliseconds: Int64?
    let lastContact: String?
    /// In milliseconds.
    let clockOffset: Int64?
    let compared: String?
    let differs: Bool
    let lastError: String?
    /// What was sent to an object store.
    let requests: String?

    var text: String {
        var parts: [String] = []
        switch lag {
        case nil: parts.append("nothing confirmed yet")
        case 0: parts.append("up to date")
        case let lag?:
            parts.append(PeerLag.text(changes: lag, milliseconds: lagMilliseconds))
        }
        if let lastContact { parts.append("seen \(lastContact)") }
        if let clockOffset, clockOffset.magnitude > UInt64(Limits.standard.clockSkewMilliseconds) {
            let time = ConsoleText.duration(Int64(clamping: clockOffset.magnitude))
            parts.append("clock \(time) \(clockOffset > 0 ? "ahead" : "behind")")
        }
        if let compared { parts.append("\(differs ? "different" : "equal") at \(compared)") }
        if let requests { parts.append(requests) }
        if let lastError { parts.append("last error: \(lastError)") }
        return parts.joined(separator: ", ")
    }
}

extension CaptureReport.Untracked {
    var json: JSONValue {
        .object(["table": .string(table), "reason": .string(reason), "cause": .string(cause.rawValue)])
    }
}

extension ContentMismatch {
    var json: JSONValue {
        func key(_ image: RowImage?) -> JSONValue {
            .optional(image) { image in
                .columns(image.columns.sorted { $0.key < $1.key }.map { (name: $0.key, value: $0.value) })
            }
        }
        return .object([
            "table": .string(table),
            "range_count": .integer(Int64(count)),
            "ranges": .array(
                ranges.map { .object(["after": key($0.after), "through": key($0.through)]) }),
        ])
    }
}
