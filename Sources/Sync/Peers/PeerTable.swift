import Foundation
import GRDB
import Journal

/// What the file records about one peer, for `syncd status` and for other processes.
package struct PeerRecord: Sendable, Hashable {
    /// The peer's address, without secrets.
    package var name: String
    /// The origin that last answered at the address; nil when no replica ever answered.
    package var origin: OriginID?

    /// What the peer confirmed to hold durably.
    package var confirmed: VersionVector

    /// Milliseconds since 1970 of the last successful exchange.
    package var lastContactMilliseconds: Int64?

    /// The last failure, until the next success.
    package var lastError: String?

    /// Milliseconds since 1970 of the last comparison of the whole content that had a result.
    package var comparedMilliseconds: Int64?

    /// The tables that differed in that comparison.
    package var mismatches: [ContentMismatch] = []

    /// Takes over what the last exchange showed. The peer's latest answer replaces what it confirmed before,
    /// because a peer that was created again or restored holds less. After a failure without an answer, the
    /// recorded vector stays.
    mutating func take(_ status: PeerStatus) {
        origin = status.origin ?? origin
        if status.lastError == nil || !status.vector.isEmpty { confirmed = status.vector }
        lastContactMilliseconds = status.lastContactMilliseconds ?? lastContactMilliseconds
        lastError = status.lastError?.message
    }
}

/// The table `_journal_peers`.
///
/// `confirmed` holds 24 bytes for each origin: 16 of its id and 8 of the version, big-endian, ascending by
/// origin.
package enum PeerTable {
    private static let entryBytes = 24

    /// All peers of earlier exchanges, in the order of their addresses.
    package static func all(_ db: Database) throws -> [PeerRecord] {
        try Row.fetchAll(
            db, sql: "SELECT * FROM _journal_peers ORDER BY url"
        ).map { row in
            let origin: Data? = row["origin"]
            let contact: Double? = row["last_contact"]
            return PeerRecord(
                name: row["url"], origin: origin.flatMap { OriginID(bytes: $0) }, confirmed: decode(row["confirmed"]),
                lastContactMilliseconds: contact.flatMap { Int64(exactly: ($0 * 1_000).rounded()) },
                lastError: row["last_error"],
                comparedMilliseconds: (row["compared"] as Double?).flatMap { Int64(exactly: ($0 * 1_000).rounded()) },
                mismatches: (row["mismatch"] as String?).map(ContentMismatch.decode) ?? [])
        }
    }

    /// Records the result of a comparison of the content.
    static func record(
        comparisonWith name: String, _ mismatches: [ContentMismatch], milliseconds: Int64, _ db: Database
    ) throws {
        try db.execute(
            sql: "UPDATE _journal_peers SET compared = ?, mismatch = ? WHERE url = ?",
            arguments: [
                Double(milliseconds) / 1_000, mismatches.isEmpty ? nil : try ContentMismatch.encode(mismatches), name,
            ])
    }

    /// True when the table does not say yet what `status` says. A contact without other news counts once in
    /// `interval`.
    static func lacks(_ status: PeerStatus, intervalMilliseconds interval: Int64, _ db: Database) throws -> Bool {
        guard let before = try all(db).first(where: { $0.name == status.name }) else { return true }
        var record = before
        record.take(status)
        guard let last = before.lastContactMilliseconds, let now = record.lastContactMilliseconds else {
            return record != before
        }
        record.lastContactMilliseconds = last
        // The clock may have been set back.
        return record != before || !(0..<interval).contains(now - last)
    }

    /// Records `status`; see ``PeerRecord/take(_:)``.
    static func record(_ status: PeerStatus, _ db: Database) throws {
        var record =
            try all(db).first { $0.name == status.name }
            ?? PeerRecord(name: status.name, confirmed: VersionVector())
        record.take(status)
        try write(record, db)
    }

    /// Replaces what is recorded of one peer.
    static func write(_ record: PeerRecord, _ db: Database) throws {
        try db.execute(
            sql: """
                INSERT OR REPLACE INTO _journal_peers
                  (url, origin, confirmed, last_contact, last_error, compared, mismatch) VALUES (?, ?, ?, ?, ?, ?, ?)
                """,
            arguments: [
                record.name, record.origin.map { Data($0.bytes) }, encode(record.confirmed),
                record.lastContactMilliseconds.map { Double($0) / 1_000 }, record.lastError,
                record.comparedMilliseconds.map { Double($0) / 1_000 },
                record.mismatches.isEmpty ? nil : try ContentMismatch.encode(record.mismatches),
            ])
    }

    /// Takes what a file knew of its peers into another content of it, where that one does not know them.
    static func adopt(_ records: [PeerRecord], _ db: Database) throws {
        let known = Set(try all(db).map(\.name))
        for var record in records where !known.contains(record.name) {
            // It was another content that was compared.
            (record.comparedMilliseconds, record.mismatches) = (nil, [])
            try write(record, db)
        }
    }

    static func encode(_ vector: VersionVector) -> Data {
        var data = Data()
        for entry in vector.entries {
            data.append(contentsOf: entry.origin.bytes)
            withUnsafeBytes(of: entry.version.bigEndian) { data.append(contentsOf: $0) }
        }
        return data
    }

    /// Leaves out entries that are not valid: the next exchange writes them again.
    static func decode(_ data: Data) -> VersionVector {
        let bytes = [UInt8](data)
        return VersionVector(
            stride(from: 0, to: bytes.count - bytes.count % entryBytes, by: entryBytes).compactMap { start in
                guard let origin = OriginID(bytes: bytes[start..<(start + 16)]) else { return nil }
                let version = bytes[(start + 16)..<(start + entryBytes)].reduce(Int64(0)) { $0 << 8 | Int64($1) }
                return VersionVector.Entry(origin: origin, version: version)
            })
    }
}
