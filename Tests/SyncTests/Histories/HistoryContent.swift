import GRDB
import Journal
import Sync

/// What a replica holds, as sorted lines that can be compared and read.
struct HistoryContent: Equatable {
    var rows: [String] = []
    var held: [String] = []
    var ledger: [String] = []

    var lines: [String] { rows + held + ledger }

    private mutating func sort() {
        rows.sort()
        held.sort()
        ledger.sort()
    }

    /// By the model.
    init(_ model: ReferenceModel) {
        rows = model.shown.map { id, row in
            let table = model.schema.table(id.table)
            return HistoryContent.row(id.table, (table?.columns ?? []).map { ($0.name, row[$0.name] ?? .null) })
        }
        held = model.held.map { "held \($0.table) \(hex($0.key)): \($1)" }
        ledger = model.conflicts.map { conflict in
            let lost = conflict.lost
            return HistoryContent.conflict(
                kind: conflict.kind, table: lost.row.table, key: lost.row.key, lost: lost.name,
                columns: conflict.columns.map { ($0, lost.columns[$0] ?? .null) },
                kept: conflict.kept)
        }
        sort()
    }

    /// By the file.
    init(_ replica: HistoryReplica) throws {
        for table in replica.schema.tables {
            let names = table.columns.map(\.name)
            for row in try replica.rows("SELECT \(names.joined(separator: ", ")) FROM \(table.name)") {
                rows.append(HistoryContent.row(table.name, Array(zip(names, row))))
            }
        }
        let reasons = try replica.rows(
            "SELECT (SELECT min(name) FROM _journal_tables AS t WHERE t.tbl = h.tbl), key, reason FROM _journal_held AS h"
        )
        held = reasons.map { "held \($0[0].word) \($0[1].plain): \($0[2].word)" }
        ledger = try HistoryContent.ledger(replica)
        sort()
    }

    private static func ledger(_ replica: HistoryReplica) throws -> [String] {
        let details = try replica.rows(
            """
            SELECT c.id, c.key, c.lost_version, c.kept_life, c.kept_stamp FROM _journal_conflicts AS c ORDER BY id
            """)
        guard !details.isEmpty else { return [] }
        let entries = try replica.replica.read { try ConflictEntry.all($0) }
        guard entries.count == details.count else {
            return ["\(details.count) ledger entries, \(entries.count) readable"]
        }
        return zip(entries.sorted { $0.id < $1.id }, details).map { entry, detail in
            guard case .blob(let key) = detail[1], case .integer(let life) = detail[3],
                case .integer(let stamp) = detail[4], detail[0] == .integer(entry.id)
            else { return "a ledger entry with impossible fields" }
            return conflict(
                kind: entry.kind, table: entry.table, key: Array(key),
                lost: "\(entry.lostOrigin.short):\(detail[2].plain)", columns: entry.lost.map { ($0.column, $0.value) },
                keptLife: life, keptStamp: Stamp(rawValue: stamp), keptOrigin: entry.keptOrigin)
        }
    }

    // MARK: - Lines

    private static func row(_ table: String, _ values: [(String, Value)]) -> String {
        "\(table) " + values.map { "\($0)=\($1.plain)" }.joined(separator: " ")
    }

    private static func conflict(
        kind: String, table: String, key: [UInt8], lost: String, columns: [(String, Value)], kept: ReferenceWrite
    ) -> String {
        conflict(
            kind: kind, table: table, key: key, lost: lost, columns: columns, keptLife: kept.life,
            keptStamp: kept.stamp, keptOrigin: kept.origin)
    }

    private static func conflict(
        kind: String, table: String, key: [UInt8], lost: String, columns: [(String, Value)], keptLife: Int64,
        keptStamp: Stamp, keptOrigin: OriginID
    ) -> String {
        let values = columns.sorted { $0.0 < $1.0 }.map { "\($0)=\($1.plain)" }.joined(separator: " ")
        return """
            lost \(table) \(hex(key)) \(kind): \(lost) [\(values)] against \(keptOrigin.short) life \(keptLife) \
            at \(keptStamp.plain)
            """
    }

    /// What is on one side only; empty when both are the same.
    static func difference(_ expected: HistoryContent, _ found: HistoryContent) -> [String] {
        let (a, b) = (expected.lines, found.lines)
        return a.filter { !b.contains($0) }.map { "  - \($0)" } + b.filter { !a.contains($0) }.map { "  + \($0)" }
            + (a.count == b.count || Set(a) != Set(b) ? [] : ["  a line appears more than once"])
    }
}

func hex(_ bytes: some Sequence<UInt8>) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
}

extension Value {
    /// A text without quotes.
    fileprivate var word: String {
        if case .text(let bytes) = self { return String(decoding: bytes, as: UTF8.self) }
        return plain
    }

    var plain: String {
        switch self {
        case .null: "NULL"
        case .integer(let number): "\(number)"
        case .real(let number): "real \(number)"
        case .text(let bytes): "'\(String(decoding: bytes, as: UTF8.self))'"
        case .blob(let bytes): hex(bytes)
        }
    }
}

extension Stamp {
    /// Milliseconds since the start of a history, and the counter.
    var plain: String { "\(milliseconds - HistoryReplica.start).\(counter)" }
}
