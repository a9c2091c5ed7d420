import GRDB
import Journal
import Sync

/// The content of a replica, as sorted lines for comparison and for reading.
package struct HistoryContent: Equatable {
    package private(set) var rows: [String] = []
    package private(set) var held: [String] = []
    package private(set) var ledger: [String] = []

    package var lines: [String] { rows + held + ledger }

    private mutating func sort() {
        rows.sort()
        held.sort()
        ledger.sort()
    }

    /// The content by the model.
    package init(_ model: ReferenceModel) {
        rows = model.shown.map { id, row in
            let table = model.schema.table(id.table)
            return HistoryContent.row(id.table, (table?.columns ?? []).map { ($0.name, row[$0.name] ?? .null) })
        }
        held = model.held.map { "held \($0.table) \(hex($0.key)): \($1)" }
        ledger = model.conflicts.map { conflict in
            let (lost, kept) = (conflict.lost, conflict.kept)
            if let key = conflict.lostKey {
                return HistoryContent.conflict(
                    kind: conflict.kind, row: lost.row, lost: lost.name,
                    columns: conflict.columns.map { ($0, .integer(key)) }, kept: kept.name, keptColumns: [])
            }
            return HistoryContent.conflict(
                kind: conflict.kind, row: lost.row, lost: lost.name,
                columns: conflict.columns.map { ($0, lost.columns[$0] ?? .null) }, kept: kept.name,
                keptColumns: conflict.columns.compactMap { name in kept.columns[name].map { (name, $0) } })
        }
        sort()
    }

    /// The content of the file.
    init(_ replica: HistoryReplica) throws {
        try self.init(
            schema: replica.schema, rows: replica.rows,
            entries: { try replica.replica.read { try ConflictEntry.all($0) } })
    }

    /// The content of any file with that schema.
    ///
    /// - Parameters:
    ///   - query: Runs a query on the file.
    ///   - entries: Reads the ledger.
    package init(
        schema: ReferenceSchema, rows query: (String) throws -> [[Value]], entries: () throws -> [ConflictEntry]
    ) throws {
        for table in schema.tables {
            let names = table.columns.map(\.name)
            for row in try query("SELECT \(names.joined(separator: ", ")) FROM \(table.name)") {
                rows.append(HistoryContent.row(table.name, Array(zip(names, row))))
            }
        }
        let reasons = try query(
            "SELECT (SELECT min(name) FROM _journal_tables AS t WHERE t.tbl = h.tbl), key, reason FROM _journal_held AS h WHERE shown = 0"
        )
        held = reasons.map { "held \($0[0].word) \($0[1].plain): \($0[2].word)" }
        ledger = try HistoryContent.ledger(query, entries)
        sort()
    }

    private static func ledger(
        _ query: (String) throws -> [[Value]], _ entries: () throws -> [ConflictEntry]
    ) throws -> [String] {
        let keys = try query("SELECT id, key FROM _journal_conflicts ORDER BY id")
        guard !keys.isEmpty else { return [] }
        let entries = try entries()
        guard entries.count == keys.count else { return ["\(keys.count) ledger entries, \(entries.count) readable"] }
        return zip(entries.sorted { $0.id < $1.id }, keys).map { entry, row in
            guard case .blob(let key) = row[1], row[0] == .integer(entry.id) else {
                return "a ledger entry without a key"
            }
            return conflict(
                kind: entry.kind.rawValue, row: ReferenceRowID(table: entry.table, key: Array(key)),
                lost: "\(entry.lostOrigin.short):\(entry.lostVersion)",
                columns: entry.lost.map { ($0.column, $0.value) },
                kept: "\(entry.keptOrigin.short):\(entry.keptVersion)",
                keptColumns: entry.kept.map { ($0.column, $0.value) })
        }
    }

    // MARK: - Lines

    /// Sorts columns by name: machines that added them in another order have the same content.
    private static func row(_ table: String, _ values: [(String, Value)]) -> String {
        "\(table) " + values.sorted { $0.0 < $1.0 }.map { "\($0)=\($1.plain)" }.joined(separator: " ")
    }

    private static func conflict(
        kind: String, row: ReferenceRowID, lost: String, columns: [(String, Value)], kept: String,
        keptColumns: [(String, Value)]
    ) -> String {
        func words(_ columns: [(String, Value)]) -> String {
            columns.sorted { $0.0 < $1.0 }.map { "\($0)=\($1.plain)" }.joined(separator: " ")
        }
        return
            "lost \(row.table) \(hex(row.key)) \(kind): \(lost) [\(words(columns))] against \(kept) [\(words(keptColumns))]"
    }

    /// The lines of one side only; empty when both are the same.
    package static func difference(_ expected: HistoryContent, _ found: HistoryContent) -> [String] {
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

    package var plain: String {
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
