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

    /// When the content was last compared with that peer, in milliseconds since 1970; nil for never.
    static func lastComparison(with name: String, _ db: Database) throws -> Int64? {
        try all(db).first { $0.name == name }?.comparedMilliseconds
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

    /// The origin that last answered at the address `name`.
    static func origin(of name: String, _ db: Database) throws -> OriginID? {
        try Data.fetchOne(db, sql: "SELECT origin FROM _journal_peers WHERE url = ?", arguments: [name])
            .flatMap { OriginID(bytes: $0) }
    }

    /// True when the file does not say yet what `status` says. A contact without other news is recorded only
    /// once in `interval`, because a command or a daemon without news commits nothing into the file.
    static func lacks(_ status: PeerStatus, intervalMilliseconds interval: Int64, _ db: Database) throws -> Bool {
        guard let record = try all(db).first(where: { $0.name == status.name }), record.lastError == nil,
            status.lastError == nil, record.origin == status.origin, record.confirmed == status.vector,
            let last = record.lastContactMilliseconds, let now = status.lastContactMilliseconds
        else { return true }
        // The clock may have been set back.
        return !(0..<interval).contains(now - last)
    }

    /// Records `status`. The peer's latest answer replaces what it confirmed before, because a peer that was
    /// created again or restored holds less. After a failure without an answer, the recorded vector stays.
    static func record(_ status: PeerStatus, _ db: Database) throws {
        try db.execute(
            sql: """
                INSERT INTO _journal_peers (url, origin, confirmed, last_contact, last_error) VALUES (?, ?, ?, ?, ?)
                ON CONFLICT (url) DO UPDATE SET
                  origin = coalesce(excluded.origin, origin),
                  confirmed = CASE WHEN excluded.last_error IS NOT NULL AND excluded.confirmed = x'' THEN confirmed
                    ELSE excluded.confirmed END,
                  last_contact = coalesce(excluded.last_contact, last_contact),
                  last_error = excluded.last_error
                """,
            arguments: [
                status.name, status.origin.map { Data($0.bytes) }, encode(status.vector),
                status.lastContactMilliseconds.map { Double($0) / 1_000 }, status.lastError?.message,
            ])
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
