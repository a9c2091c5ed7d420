import Foundation
import Journal
import MergeModel

/// The content of a machine's file, read with plain SQL.
struct FileView {
    let machine: SimulatedMachine

    var origin: OriginID? {
        get throws {
            guard case .blob(let bytes)? = try machine.rows("SELECT origin FROM _journal_replica").first?.first else {
                return nil
            }
            return OriginID(bytes: bytes)
        }
    }

    /// The vector, counted in the journal itself: where the last run of each origin ends. An earlier run whose entries
    /// are gone may take the places of other empty runs behind it, and then says nothing of versions.
    func vector() throws -> VersionVector {
        let rows = try machine.rows(
            """
            SELECT o.origin, r.last, max(r.first_seq)
            FROM (
              SELECT origin, first_seq, first_version - first_seq - 1 + coalesce(
                lead(first_seq) OVER (ORDER BY first_seq), (SELECT max(seq) + 1 FROM _journal), first_seq) AS last
              FROM _journal_runs
            ) AS r JOIN _journal_origins AS o ON o.id = r.origin GROUP BY r.origin
            """)
        return VersionVector(rows.compactMap(FileView.entry))
    }

    /// The last versions of staged changes, which wait for the rest of their transaction.
    func staged() throws -> VersionVector {
        VersionVector(
            try machine.rows("SELECT origin, max(last_version) FROM _journal_inbox GROUP BY origin").compactMap(
                FileView.entry))
    }

    /// Up to where compaction has removed entries.
    func horizon() throws -> VersionVector {
        guard try number("SELECT compacted_seq FROM _journal_replica") > 0 else { return VersionVector() }
        return VersionVector(
            try machine.rows("SELECT origin, horizon FROM _journal_origins WHERE horizon > 0").compactMap(
                FileView.entry))
    }

    /// The first versions that are refused of origins whose writers had not seen all that is compacted here.
    func refused() throws -> VersionVector {
        VersionVector(
            try machine.rows("SELECT origin, first_version FROM _journal_clocks WHERE stamp = \(Int64.max - 1)")
                .compactMap(FileView.entry))
    }

    /// The origins under which nobody writes any more, as this machine says.
    func finished() throws -> [OriginID] {
        try machine.rows("SELECT origin FROM _journal_origins WHERE retired > 0 AND forgotten > 0").compactMap { row in
            guard case .blob(let bytes)? = row.first else { return nil }
            return OriginID(bytes: bytes)
        }
    }

    private static func entry(_ row: [Value]) -> VersionVector.Entry? {
        guard case .blob(let bytes) = row[0], case .integer(let version) = row[1], version > 0 else { return nil }
        return OriginID(bytes: bytes).map { .init(origin: $0, version: version) }
    }

    /// True when changes of others name that column or table before it exists here.
    func knows(_ addition: HistorySchema.Addition) throws -> Bool {
        switch addition {
        case .column(let table, let column):
            try number(
                "SELECT count(*) FROM _journal_tables WHERE name = '\(table)' AND columns LIKE '%\"\(column.name)\"%'")
                > 0
        case .table(let table): try number("SELECT count(*) FROM _journal_tables WHERE name = '\(table.name)'") > 0
        }
    }

    func number(_ sql: String) throws -> Int {
        guard case .integer(let number)? = try machine.rows(sql).first?.first else { return 0 }
        return Int(number)
    }

    /// A hash of rows, held rows and ledger, independent of their order.
    func digest() throws -> UInt64 {
        var sum: UInt64 = 0
        for (salt, query) in queries.enumerated() {
            for row in try machine.rows(query) { sum = sum &+ FileView.hash(row, salt: UInt64(salt)) }
        }
        return sum
    }

    private var queries: [String] {
        // Columns are sorted by name: machines that added them in another order hold the same.
        machine.schema.tables.sorted { $0.name < $1.name }.map { table in
            "SELECT \(table.columns.map(\.name).sorted().joined(separator: ", ")) FROM \(table.name)"
        } + [
            "SELECT key, shown, reason, (SELECT min(name) FROM _journal_tables AS t WHERE t.tbl = h.tbl) FROM _journal_held AS h",
            """
            SELECT key, kind, columns, o.origin, lost_version, kept_life, kept_stamp, kept_origin,
                (SELECT min(name) FROM _journal_tables AS t WHERE t.tbl = c.tbl)
            FROM _journal_conflicts AS c JOIN _journal_origins AS o ON o.id = lost_origin
            """,
        ]
    }

    private static func hash(_ row: [Value], salt: UInt64) -> UInt64 {
        var hash = 0xCBF2_9CE4_8422_2325 ^ salt &* 0x9E37_79B9_7F4A_7C15
        func add(_ byte: UInt8) { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        func add(_ number: UInt64) {
            for shift in stride(from: 0, to: 64, by: 8) { add(UInt8(truncatingIfNeeded: number >> UInt64(shift))) }
        }
        for value in row {
            switch value {
            case .null: add(0 as UInt8)
            case .integer(let number):
                add(1 as UInt8)
                add(UInt64(bitPattern: number))
            case .real(let number):
                add(2 as UInt8)
                add(number.bitPattern)
            case .text(let bytes):
                add(3 as UInt8)
                add(UInt64(bytes.count))
                for byte in bytes { add(byte) }
            case .blob(let bytes):
                add(4 as UInt8)
                add(UInt64(bytes.count))
                for byte in bytes { add(byte) }
            }
        }
        return hash ^ hash >> 29
    }
}
