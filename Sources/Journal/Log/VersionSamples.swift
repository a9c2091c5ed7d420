import GRDB

/// A version of an origin with a digest of its change. Samples distinguish one history of an origin from
/// another.
///
/// Two histories that have the same change with the same stamp at one version are equal up to that version.
public struct VersionSample: Hashable, Sendable {
    /// 1 or more.
    public let version: Int64
    /// The `ChangeDigest` of the change.
    public let digest: UInt64

    /// - Parameters:
    ///   - version: 1 or more.
    ///   - digest: The `ChangeDigest` of that version.
    public init(version: Int64, digest: UInt64) {
        self.version = version
        self.digest = digest
    }
}

extension JournalReader {
    /// Returns the stamp of one version; nil when the journal does not have it.
    ///
    /// - Throws: ``JournalError/Code/corrupt`` for a malformed entry or run; errors of SQLite.
    package func stamp(of origin: OriginID, version: Int64) throws -> Stamp? {
        try cursor(of: origin, version: version, reading: .keys)?.stamp
    }

    /// Returns when the first version of `origin` after `version` that the journal still has was written, in
    /// milliseconds since 1970 by the clock of its machine; nil when the journal has none.
    ///
    /// - Throws: Errors of SQLite.
    package func milliseconds(of origin: OriginID, after version: Int64) throws -> Int64? {
        guard let run = try runs.run(of: origin, holding: max(version + 1, 1)) ?? runs.run(of: origin, holding: .max)
        else { return nil }
        let statement = try RawStatement(db, "SELECT stamp FROM _journal WHERE seq >= ? ORDER BY seq LIMIT 1")
        try statement.bind(max(run.seq(of: version + 1), run.firstSeq), at: 1)
        guard try statement.step() else { return nil }
        // A local row has the time of its write until its stamp is stored.
        switch statement.column(0) {
        case .integer(let stamp): return Stamp(rawValue: stamp).milliseconds
        case .real(let day): return Stamp(julianDay: day).milliseconds
        default: return nil
        }
    }

    /// Returns the digest of one version; nil when the journal does not have it, or only covers it.
    ///
    /// - Throws: ``JournalError/Code/corrupt`` for a malformed entry or run; errors of SQLite.
    public func digest(of origin: OriginID, version: Int64) throws -> UInt64? {
        try digest(of: origin, version: version) { _ in true }
    }

    private func digest(of origin: OriginID, version: Int64, inTable: (String) -> Bool) throws -> UInt64? {
        guard let cursor = try cursor(of: origin, version: version), !cursor.entry.shape.isHidden,
            inTable(cursor.entry.wireName)
        else { return nil }
        var values: [Value] = []
        let mask = try cursor.mask()
        cursor.appendValues(of: mask, to: &values)
        try written?.restore(
            &values, count: values.count, at: cursor.seq, keyCount: cursor.entry.shape.keyCount, mask: mask)
        return ChangeDigest.of(
            table: cursor.entry.wireName, operation: cursor.operation, stamp: cursor.stamp, values: values)
    }

    /// Returns where a version is; nil when the journal does not have it.
    ///
    /// - Throws: ``JournalError/Code/corrupt`` for a malformed run; errors of SQLite.
    package func witness(of origin: OriginID, version: Int64) throws -> EntryWitness? {
        guard let run = try runs.run(of: origin, holding: version) else { return nil }
        let seq = run.seq(of: version)
        return try EntryWitness.stamp(at: seq, db).map { EntryWitness(seq: seq, stamp: $0) }
    }

    /// Returns samples of the history of `origin` that this file has, newest first: the newest version up to
    /// `limit`, then versions at distances that double, and version 1. At most 64.
    ///
    /// With `scope`, samples are only of changes of its tables.
    ///
    /// - Throws: ``JournalError/Code/corrupt`` for a malformed entry or run; errors of SQLite.
    public func samples(
        of origin: OriginID, upTo limit: Int64, in scope: TableScope? = nil
    ) throws -> [VersionSample] {
        let covers = scope?.test(registry.names)
        let newest = min(vector()[origin], limit)
        guard newest > 0 else { return [] }
        var versions: [Int64] = []
        var distance: Int64 = 0
        while distance < newest {
            versions.append(newest - distance)
            distance = distance * 2 + 1
        }
        if versions.last != 1 { versions.append(1) }
        return try versions.compactMap { version in
            try digest(of: origin, version: version) { covers?($0) ?? true }
                .map { VersionSample(version: version, digest: $0) }
        }
    }

    /// Returns a cursor on that version; nil when the journal does not have it.
    private func cursor(
        of origin: OriginID, version: Int64, reading columns: JournalCursor.Columns = .all
    ) throws -> JournalCursor? {
        guard version > 0, let run = try runs.run(of: origin, holding: version) else { return nil }
        let seq = run.seq(of: version)
        guard seq < run.endSeq else { return nil }
        let cursor = try cursor(over: run, from: seq, reading: columns)
        while try cursor.next() { if cursor.seq == seq { return cursor } }
        return nil
    }
}

/// FNV-1a with 64 bits over the stamp, operation, table and values of a change. It is the same in every file.
/// See docs/PROTOCOL.md, "Samples".
package enum ChangeDigest {
    /// The number of leading bytes of a text or blob that are hashed, after its length.
    static let bytesPerValue = 1_024

    /// - Parameters:
    ///   - table: The name under which the change travels (``ShapeRegistry/Entry/wireName``).
    ///   - operation: What the change does.
    ///   - stamp: When it was written.
    ///   - values: As in ``Change/values``: key columns first, then the masked others.
    package static func of(
        table: String, operation: Operation, stamp: Stamp, values: some Sequence<Value>
    ) -> UInt64 {
        var hash = Checksum.start
        append(UInt64(bitPattern: stamp.rawValue), to: &hash)
        Checksum.append(UInt8(truncatingIfNeeded: operation.rawValue), to: &hash)
        append(4, table.utf8, to: &hash)
        for value in values {
            switch value {
            case .null: Checksum.append(0, to: &hash)
            case .integer(let number):
                Checksum.append(1, to: &hash)
                append(UInt64(bitPattern: number), to: &hash)
            case .real(let number):
                Checksum.append(2, to: &hash)
                // SQLite may store -0.0 as 0.0.
                append(number == 0 ? 0 : number.bitPattern, to: &hash)
            case .text(let bytes): append(3, bytes, to: &hash)
            case .blob(let bytes): append(4, bytes, to: &hash)
            }
        }
        return hash
    }

    private static func append(_ number: UInt64, to hash: inout UInt64) {
        for shift in stride(from: 56, through: 0, by: -8) {
            Checksum.append(UInt8(truncatingIfNeeded: number >> UInt64(shift)), to: &hash)
        }
    }

    private static func append(_ tag: UInt8, _ bytes: some Collection<UInt8>, to hash: inout UInt64) {
        Checksum.append(tag, to: &hash)
        append(UInt64(bytes.count), to: &hash)
        for byte in bytes.prefix(bytesPerValue) { Checksum.append(byte, to: &hash) }
    }
}

/// An entry as one process saw it. When it is no longer there, another program has put an older state of the
/// file in its place, for example by SQLite's backup API.
package struct EntryWitness: Sendable {
    fileprivate let seq: Int64
    /// `_journal.stamp`: the time of the capture, or the stamp of a received entry.
    fileprivate let stamp: Value

    /// True while the file has the entry.
    ///
    /// - Throws: Errors of SQLite.
    package func isThere(_ db: Database) throws -> Bool {
        // Compaction removes entries, and stores stamps.
        try EntryWitness.stamp(at: seq, db) == stamp || seq <= Horizon(db).position
    }

    /// A number that tells the entry at a position from another one that may come to be there; 0 without an entry.
    ///
    /// - Throws: Errors of SQLite.
    package static func code(at seq: Int64, _ db: Database) throws -> UInt64 {
        try stamp(at: seq, db).map { Checksum.fnv1a(Key([$0]).bytes) } ?? 0
    }

    fileprivate static func stamp(at seq: Int64, _ db: Database) throws -> Value? {
        let statement = try RawStatement(db, "SELECT stamp FROM _journal WHERE seq = ?")
        try statement.bind(seq, at: 1)
        return try statement.step() ? statement.column(0) : nil
    }
}
