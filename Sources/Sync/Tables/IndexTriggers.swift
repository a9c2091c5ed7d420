import GRDB
import GRDBSQLite
import Journal

/// Keeps the indexes that programs maintain by triggers right while changes are merged.
///
/// The merging connection runs no trigger of the schema. For each ``IndexTrigger`` it has a temporary trigger
/// that does to the index what the program's trigger does.
final class IndexTriggers {
    private let db: Database
    /// The indexes that can be built again, by the folded name of their table.
    private var rebuildable: [String: [String]] = [:]

    private static let prefix = "_tandem_index_"

    /// Makes the temporary triggers of the connection that the schema needs. A trigger that uses a function
    /// of its program gets none: its index does not have what others write. ``drop(_:)`` must precede.
    ///
    /// - Parameter tables: The tables that are merged.
    /// - Throws: Errors of SQLite; the transaction must then be rolled back.
    init(_ db: Database, tables: [TableInspection]) throws {
        self.db = db
        let merged = Dictionary(
            tables.map { (SQLText.foldedName($0.name), $0) }, uniquingKeysWith: { first, _ in first })
        let rebuildable = try VirtualTable.rebuildable(db)
        for (number, trigger) in try IndexTrigger.all(db).enumerated() {
            let table = SQLText.foldedName(trigger.table)
            guard let inspection = merged[table] else { continue }
            let name = "\(IndexTriggers.prefix)\(number)"
            try db.execute(sql: trigger.temporary(named: name))
            guard try inspection.compilesTriggers(db) else {
                try db.execute(sql: "DROP TRIGGER temp.\(name)")
                continue
            }
            for index in trigger.indexes.map(SQLText.foldedName)
            where rebuildable.contains(index) && self.rebuildable[table]?.contains(index) != true {
                self.rebuildable[table, default: []].append(index)
            }
        }
    }

    /// Drops the temporary triggers, which may name tables that the schema has no longer.
    ///
    /// - Throws: Errors of SQLite; the transaction must then be rolled back.
    static func drop(_ db: Database) throws {
        try TemporaryTriggers.drop(db, prefix: prefix)
    }

    /// Builds the full-text indexes of a table again from its rows.
    ///
    /// FTS5 and FTS4 remove a row by its old text, and report damage for a row that they never had: a program
    /// or an earlier release wrote it while no trigger ran.
    ///
    /// - Returns: False when the table has no such index.
    /// - Throws: Errors of SQLite; the transaction must then be rolled back.
    func rebuild(table: String) throws -> Bool {
        guard let indexes = rebuildable[SQLText.foldedName(table)] else { return false }
        for index in indexes {
            let name = SQLText.quote(identifier: index)
            try db.execute(sql: "INSERT INTO main.\(name)(\(name)) VALUES ('rebuild')")
        }
        return true
    }
}
