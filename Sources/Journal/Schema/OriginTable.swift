import Foundation
import GRDB

/// The origins that a file knows, with the small numbers by which its journal refers to them.
package struct OriginTable: Sendable {
    /// The numbers of the origins; 0 is the file's first origin.
    package private(set) var numbers: [OriginID: Int64] = [:]
    /// The origins by their numbers.
    package private(set) var origins: [Int64: OriginID] = [:]
    /// The highest version known of each remote origin.
    package private(set) var versions: [Int64: Int64] = [:]
    /// The numbers of this file's earlier origins. Some of their changes were captured here, others may have
    /// been received.
    private(set) var retired: Set<Int64> = []

    /// Reads what the snapshot of `db` holds.
    ///
    /// - Throws: ``JournalError/Code/corrupt`` for an id that is not valid; errors of SQLite.
    package init(_ db: Database) throws {
        let rows = try Row.fetchCursor(db.cachedStatement(sql: "SELECT * FROM _journal_origins"))
        while let row = try rows.next() {
            let bytes: Data = row["origin"]
            guard let origin = OriginID(bytes: bytes) else {
                throw JournalError(.corrupt, "An origin id in _journal_origins is not valid")
            }
            add(origin, number: row["id"], version: row["version"])
            if row["retired"] as Double? != nil { retired.insert(row["id"]) }
        }
    }

    /// Returns the number of `origin`, and adds the origin to the file when it is new.
    ///
    /// - Throws: Errors of SQLite; nothing is added then.
    package mutating func number(of origin: OriginID, in db: Database) throws -> Int64 {
        if let number = numbers[origin] { return number }
        let number = (origins.keys.max() ?? -1) + 1
        try db.execute(
            sql: "INSERT INTO _journal_origins (id, origin) VALUES (?, ?)", arguments: [number, Data(origin.bytes)])
        add(origin, number: number, version: 0)
        return number
    }

    /// Records that all changes of an origin up to `version` are known; a lower version changes nothing.
    ///
    /// - Throws: Errors of SQLite; this value is then unchanged.
    package mutating func advance(_ number: Int64, to version: Int64, in db: Database) throws {
        guard version > versions[number, default: 0] else { return }
        try db.execute(sql: "UPDATE _journal_origins SET version = ? WHERE id = ?", arguments: [version, number])
        versions[number] = version
    }

    private mutating func add(_ origin: OriginID, number: Int64, version: Int64) {
        numbers[origin] = number
        origins[number] = origin
        versions[number] = version
    }

    /// The vector of all origins except `own`: what a replica has merged from others.
    package func merged(except own: OriginID) -> VersionVector {
        VersionVector(
            versions.compactMap { number, version in
                origins[number].flatMap { $0 == own ? nil : VersionVector.Entry(origin: $0, version: version) }
            })
    }

    /// True when this file has all that `known` contains.
    ///
    /// - Parameter others: Origins that are not compared.
    func cover(_ known: VersionVector, except others: [OriginID]) -> Bool {
        known.entries.allSatisfy { entry in
            others.contains(entry.origin)
                || numbers[entry.origin].map { versions[$0, default: 0] >= entry.version } ?? false
        }
    }

    // MARK: - Vectors in `_journal_runs.known`

    /// Encodes a vector as pairs of origin number and version, as LEB128 varints, sorted by number. It takes
    /// a few bytes for a small cluster.
    func encode(_ vector: VersionVector) -> Data {
        let pairs = vector.entries.compactMap { entry in numbers[entry.origin].map { ($0, entry.version) } }
        var data = Data()
        for (number, version) in pairs.sorted(by: { $0.0 < $1.0 }) {
            LEB128.append(UInt64(bitPattern: number), to: &data)
            LEB128.append(UInt64(bitPattern: version), to: &data)
        }
        return data
    }

    func decode(_ data: Data) throws -> VersionVector {
        var numbers: [Int64] = []
        var index = data.startIndex
        while index < data.endIndex {
            guard let number = Int64(exactly: (try? LEB128.read(data, at: &index)) ?? .max) else {
                throw OriginTable.corruptVector
            }
            numbers.append(number)
        }
        guard numbers.count.isMultiple(of: 2) else { throw OriginTable.corruptVector }
        return VersionVector(
            try stride(from: 0, to: numbers.count, by: 2).map { index in
                guard let origin = origins[numbers[index]] else { throw OriginTable.corruptVector }
                return VersionVector.Entry(origin: origin, version: numbers[index + 1])
            })
    }

    private static let corruptVector = JournalError(.corrupt, "A causal context in _journal_runs is not valid")
}
