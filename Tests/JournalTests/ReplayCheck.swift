import GRDB
import TestSupport
import Testing

@testable import Journal

/// Compares a replay of the whole journal with the tables.
enum ReplayCheck {
    /// - Returns: Each difference as text; empty when journal and tables agree.
    static func differences(_ replica: Replica) throws -> [String] {
        try replica.refreshDerivedState()
        return try replica.read { db in
            let registry = try ShapeRegistry(db)
            var replay = JournalReplay()
            var problems: [String] = []
            for entry in try JournalReader(db).entries(after: 0, limit: .max) {
                let problem = replay.apply(entry, defaultValue: { _, _ in .null }, isSelfReferencing: { _ in false })
                if let problem { problems.append(problem) }
            }
            for table in try TableInspection.all(db) {
                guard let entry = registry.tracked(table: table.name) else { continue }
                var rows: [Key: [Value]] = [:]
                let columns = table.stored.map { SQLText.quote(identifier: $0.name) }.joined(separator: ", ")
                let select = try RawStatement(db, "SELECT \(columns) FROM \(SQLText.quote(identifier: table.name))")
                while try select.step() {
                    let row = table.stored.indices.map { select.column(Int32($0)) }
                    rows[Key(row.prefix(table.keyCount), collations: entry.collations)] = row
                }
                let replayed = (replay.tables[table.name] ?? [:]).mapValues { row in
                    row.key + table.stored.dropFirst(table.keyCount).map { row.columns[$0.name] ?? .null }
                }
                if rows != replayed { problems.append("\(table.name) holds \(rows), the journal says \(replayed)") }
            }
            return problems
        }
    }
}
