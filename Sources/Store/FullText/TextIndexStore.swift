import Foundation
import GRDB
import Journal
import Synchronization

/// The full-text indexes of one file, and the journal position that each has followed.
///
/// `_journal_text` holds one row for each index. Triggers index the writes of programs on this file.
/// `position` is the journal position up to which everything else is indexed: rows that came from peers, and
/// rows that REPLACE evicted without delete triggers. It advances in the transaction that indexes, so a crash
/// loses nothing. `held` is a digest of the held rows at that time.
struct TextIndexStore {
    let db: GRDB.Database

    init(_ db: GRDB.Database) { self.db = db }

    private static let table = """
        CREATE TABLE IF NOT EXISTS _journal_text (
          name TEXT PRIMARY KEY, tbl TEXT NOT NULL, columns TEXT NOT NULL, tokenizer TEXT NOT NULL,
          prefixes TEXT NOT NULL, models INTEGER NOT NULL, position INTEGER NOT NULL, held TEXT NOT NULL) STRICT
        """

    private func exists() throws -> Bool {
        try Bool.fetchOne(
            db, sql: "SELECT EXISTS (SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = '_journal_text')")
            ?? false
    }

    func all() throws -> [TextIndexDefinition] { try records().map(\.definition) }

    private struct Record {
        let definition: TextIndexDefinition
        let position: Int64
        let held: String
    }

    private func records() throws -> [Record] {
        guard try exists() else { return [] }
        return try GRDB.Row.fetchAll(db, sql: "SELECT * FROM _journal_text ORDER BY name").map { row in
            Record(
                definition: TextIndexDefinition(
                    name: row["name"], table: row["tbl"], columns: try NameList.decode(row["columns"]),
                    tokenizer: row["tokenizer"],
                    prefixes: try NameList.decode(row["prefixes"]).compactMap { Int($0) }, isModels: row["models"]),
                position: row["position"], held: row["held"])
        }
    }

    // MARK: - Installing

    /// Creates an index, or replaces it when its definition differs. The caller refreshes capture afterwards.
    ///
    /// - Returns: False when the same index exists already.
    func install(_ definition: TextIndexDefinition) throws -> Bool {
        let table = try inspect(definition)
        let known = try all().first { SQLText.same($0.name, definition.name) }
        if known == definition { return false }
        if let known { _ = try drop(known.name) }
        guard try !db.tableExists(definition.name) else {
            throw StoreError(
                .invalidSchema, "A table named \(definition.name) exists already",
                hint: "Give the text index another name.", table: definition.table)
        }
        try run([TextIndexStore.table] + definition.creation(table) + definition.triggers(table).map(\.sql))
        try run(definition.refresh(table, keys: nil))
        try db.execute(
            sql: """
                INSERT INTO _journal_text (name, tbl, columns, tokenizer, prefixes, models, position, held)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?)
                """,
            arguments: [
                definition.name, definition.table, NameList.encode(definition.columns), definition.tokenizer,
                NameList.encode(definition.prefixes.map(String.init)), definition.isModels,
                try JournalReader.lastSeq(db), try heldRows(),
            ])
        db.clearSchemaCache()
        return true
    }

    /// Drops the index of this name.
    ///
    /// - Returns: False when no index has that name.
    func drop(_ name: String) throws -> Bool {
        guard let known = try all().first(where: { SQLText.same($0.name, name) }) else { return false }
        try run(known.removal)
        try db.execute(sql: "DELETE FROM _journal_text WHERE name = ?", arguments: [known.name])
        db.clearSchemaCache()
        return true
    }

    private func inspect(_ definition: TextIndexDefinition) throws -> TableInspection {
        guard let table = try TableInspection.named(definition.table, db) else {
            throw StoreError(
                .missingTable, "The text index \(definition.name) is for a table that does not exist",
                hint: "Create it first, or drop the index.", table: definition.table)
        }
        guard table.keyCount > 0, !definition.columns.isEmpty else {
            throw StoreError(
                .invalidSchema, "The text index \(definition.name) needs a primary key and a column",
                hint: "Declare a PRIMARY KEY in the table, and name at least one column in the index.",
                table: table.name)
        }
        for column in definition.columns {
            guard table.has(column) else {
                throw StoreError(
                    .missingColumn, "The text index \(definition.name) names a column that the table does not have",
                    hint: "Drop the index, or declare it with the table's current columns.", table: table.name,
                    column: column)
            }
            guard !["rank", "rowid", SQLText.foldedName(definition.name)].contains(SQLText.foldedName(column)) else {
                throw StoreError(
                    .invalidSchema, "FTS5 reserves the column name \(column)", hint: "Rename the column.",
                    table: table.name, column: column)
            }
        }
        return table
    }

    /// Restores triggers that a rebuilt table has lost, and indexes the table again; follows a renamed table
    /// and renamed columns; drops an index whose table is gone. Does nothing when all triggers exist.
    ///
    /// - Throws: ``StoreError/Code/missingColumn`` when an indexed column is gone.
    func repairTriggers() throws {
        for record in try records() {
            guard let definition = try renamed(record.definition) else {
                _ = try drop(record.definition.name)
                continue
            }
            if definition.columns != record.definition.columns {
                // The index names its own columns like those of the table, so that searches can name them.
                _ = try drop(definition.name)
                _ = try install(definition)
                continue
            }
            let table = try inspect(definition)
            let installed = Set(
                try String.fetchAll(
                    db, sql: "SELECT sql FROM sqlite_master WHERE type = 'trigger' AND lower(tbl_name) = lower(?)",
                    arguments: [table.name]))
            let wanted = definition.triggers(table)
            if wanted.allSatisfy({ installed.contains($0.sql) }) { continue }
            try run(wanted.map { "DROP TRIGGER IF EXISTS \(SQLText.quote(identifier: $0.name))" } + wanted.map(\.sql))
            try run(definition.refresh(table, keys: nil))
            try note(definition, position: JournalReader.lastSeq(db))
        }
    }

    /// The definition with the present names of the table and its columns; nil when the table is gone.
    ///
    /// SQLite writes new names into the triggers (https://sqlite.org/lang_altertable.html), so the insert
    /// trigger tells what became of the old ones, also of names that were exchanged. Without the trigger the
    /// table was made anew, and the names are those that were declared.
    private func renamed(_ definition: TextIndexDefinition) throws -> TextIndexDefinition? {
        let trigger = try GRDB.Row.fetchOne(
            db, sql: "SELECT tbl_name, sql FROM main.sqlite_master WHERE type = 'trigger' AND name = ?",
            arguments: [definition.insertTrigger])
        guard let trigger else { return try TableInspection.named(definition.table, db).map { _ in definition } }
        let table: String = trigger["tbl_name"]
        let renamed = definition.renamed(table: table, insertTrigger: trigger["sql"])
        if !SQLText.same(table, definition.table) {
            try db.execute(
                sql: "UPDATE _journal_text SET tbl = ? WHERE name = ?", arguments: [table, definition.name])
        }
        return renamed
    }

    // MARK: - Following

    /// True when the journal holds changes for an index after its position.
    ///
    /// - Parameter checked: The position up to which an earlier call found nothing.
    func isBehind(checked: Int64) throws -> Bool {
        let records = try records()
        guard !records.isEmpty else { return false }
        let last = try JournalReader.lastSeq(db)
        let held = try heldRows()
        return try records.contains { record in
            if record.held != held { return true }
            guard record.position != last else { return false }
            guard record.position < last, try isComplete(after: record.position) else { return true }
            return try hasEntries(record.definition, after: max(record.position, min(checked, last)))
        }
    }

    /// Indexes every change that the triggers missed.
    func follow() throws {
        let last = try JournalReader.lastSeq(db)
        let held = try heldRows()
        for record in try records() where record.position != last || record.held != held {
            let definition = record.definition
            guard let table = try TableInspection.named(definition.table, db) else { continue }
            // A row that became held, or visible again, has no journal entry for it, so all rows are
            // compared.
            let isKnown = try record.held == held && record.position < last && isComplete(after: record.position)
            let keys = isKnown ? try changedKeys(table, after: record.position) : nil
            for statement in definition.refresh(table, keys: keys) { try run([statement]) }
            try note(definition, position: last)
        }
    }

    private func note(_ definition: TextIndexDefinition, position: Int64) throws {
        try db.execute(
            sql: "UPDATE _journal_text SET position = ?, held = ? WHERE name = ?",
            arguments: [position, try heldRows(), definition.name])
    }

    /// False when the journal does not hold all entries after `position`.
    private func isComplete(after position: Int64) throws -> Bool {
        let first = try Int64.fetchOne(db, sql: "SELECT min(seq) FROM _journal") ?? 0
        return first <= position + 1
    }

    /// The shapes of a table, each with the positions of the table's key columns in the shape's key; nil when
    /// a shape has another key.
    private func shapes(_ table: TableInspection) throws -> [(id: Int64, key: [Int])]? {
        let registry = try ShapeRegistry(db)
        let names = table.stored.prefix(table.keyCount).map { SQLText.foldedName($0.name) }
        var shapes: [(id: Int64, key: [Int])] = []
        for entry in registry.entries.values where SQLText.same(entry.shape.table, table.name) {
            let columns = entry.shape.keyColumns.map { SQLText.foldedName($0) }
            let key = names.compactMap { columns.firstIndex(of: $0) }
            guard key.count == names.count, columns.count == names.count else { return nil }
            shapes.append((entry.id, key))
        }
        return shapes
    }

    private func hasEntries(_ definition: TextIndexDefinition, after position: Int64) throws -> Bool {
        guard let table = try TableInspection.named(definition.table, db) else { return false }
        guard let shapes = try shapes(table) else { return true }
        if shapes.isEmpty { return false }
        let ids = shapes.map { "\($0.id)" }.joined(separator: ", ")
        return try Bool.fetchOne(
            db,
            sql:
                "SELECT EXISTS (SELECT 1 FROM _journal WHERE seq > ? AND \(TextIndexStore.unseen) AND shape IN (\(ids)))",
            arguments: [position]) ?? false
    }

    /// Selects the changes that triggers may have missed: those of peers, and deletes, because REPLACE fires
    /// no delete trigger unless recursive triggers are on.
    private static let unseen = "(origin IS NOT NULL OR op = \(Journal.Operation.delete.rawValue))"

    /// A SELECT of the keys of these changes; nil when all rows must be compared.
    private func changedKeys(_ table: TableInspection, after position: Int64) throws -> String? {
        guard let shapes = try shapes(table), !shapes.isEmpty else { return nil }
        return shapes.map { shape in
            let values = shape.key.map { "v\($0)" }.joined(separator: ", ")
            return
                "SELECT \(values) FROM _journal WHERE seq > \(position) AND \(TextIndexStore.unseen) AND shape = \(shape.id)"
        }.joined(separator: " UNION ALL ")
    }

    /// A digest of the held rows; empty when there are none.
    private func heldRows() throws -> String {
        let rows = try GRDB.Row.fetchCursor(db, sql: "SELECT tbl, key, shown FROM _journal_held ORDER BY tbl, key")
        var bytes: [UInt8] = []
        while let row = try rows.next() {
            let (table, key, shown): (Int64, Data, Int64) = (row["tbl"], row["key"], row["shown"])
            bytes += "\(table):\(shown):\(key.count):".utf8
            bytes += key
        }
        return bytes.isEmpty ? "" : Checksum.text(bytes)
    }

    private func run(_ statements: [String]) throws {
        do {
            for statement in statements { try db.execute(sql: statement) }
        } catch {
            throw StoreError.wrapping(error, operation: "keeping a text index")
        }
    }
}

extension Database {
    /// Updates the full-text indexes with the changes that came from peers.
    func followTextIndexes() throws {
        if replica.isReadOnly { return }
        let operation = "following the text indexes"
        let checked = textPosition.load(ordering: .relaxed)
        let state: (isBehind: Bool, last: Int64)
        do {
            state = try replica.read { db in
                (try TextIndexStore(db).isBehind(checked: checked), try JournalReader.lastSeq(db))
            }
        } catch {
            throw options.failed(error, operation: operation)
        }
        if state.isBehind {
            try write(operation: operation) { context in
                try StatementOwner.store.runs { try TextIndexStore(context.db).follow() }
            }
        }
        textPosition.max(state.last, ordering: .relaxed)
    }
}
