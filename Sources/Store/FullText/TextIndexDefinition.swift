import GRDB
import Journal

/// One full-text index of a file, and the SQL that maintains it.
///
/// An index has three parts: the FTS5 table `<name>`; the table `_journal_docs_<name>`, which holds each
/// row's text as it was indexed (the row's document) and the row's key; and triggers. A write of the model's
/// table changes the documents. Triggers on the documents change the FTS5 table, whose external content the
/// documents are.
///
/// The documents are necessary for two reasons. First, rows that come from peers are written with triggers
/// off, so that the writes are not journalled again. When the index follows them, the table no longer has the
/// old text, but FTS5 removes a document only when it is given the old text. Second, FTS5 needs an integer
/// for each row, also for a row of any other key and of a table WITHOUT ROWID.
struct TextIndexDefinition: Hashable {
    let name: String
    let table: String
    let columns: [String]
    let tokenizer: String
    let prefixes: [Int]
    /// True when a model declares the index, so that it is dropped when the model declares it no more.
    var isModels = false

    /// Capture ignores tables whose names have this prefix.
    var documents: String { "_journal_docs_\(name)" }

    private var quotedName: String { SQLText.quote(identifier: name) }
    private var quotedDocuments: String { SQLText.quote(identifier: documents) }
    private var quotedTable: String { SQLText.quote(identifier: table) }
    private var quotedColumns: [String] { columns.map { SQLText.quote(identifier: $0) } }

    private func keys(_ table: TableInspection) -> [String] {
        table.stored.prefix(table.keyCount).map { SQLText.quote(identifier: $0.name) }
    }
    static func documentKeys(_ table: TableInspection) -> [String] { (0..<table.keyCount).map { "_key\($0)" } }

    // MARK: - The tables

    func creation(_ table: TableInspection) -> [String] {
        let keys = table.stored.prefix(table.keyCount).enumerated().map { "_key\($0) COLLATE \($1.collation)" }
        let names = TextIndexDefinition.documentKeys(table).joined(separator: ", ")
        let options = [
            "content=\(SQLText.quote(literal: documents))", "content_rowid='_doc'",
            "tokenize=\(SQLText.quote(literal: tokenizer))",
        ]
        let prefix = prefixes.isEmpty ? [] : ["prefix='\(prefixes.map(String.init).joined(separator: " "))'"]
        let new = quotedColumns.map { "NEW.\($0)" }.joined(separator: ", ")
        let old = quotedColumns.map { "OLD.\($0)" }.joined(separator: ", ")
        let list = quotedColumns.joined(separator: ", ")
        let add = "INSERT INTO \(quotedName) (rowid, \(list)) VALUES (NEW._doc, \(new));"
        let forget = "INSERT INTO \(quotedName) (\(quotedName), rowid, \(list)) VALUES ('delete', OLD._doc, \(old));"
        func trigger(_ suffix: String, _ event: String, _ body: String) -> String {
            "CREATE TRIGGER \(SQLText.quote(identifier: "\(documents)_\(suffix)")) AFTER \(event) ON \(quotedDocuments) "
                + "BEGIN \(body) END"
        }
        return [
            "CREATE TABLE \(quotedDocuments) (_doc INTEGER PRIMARY KEY, \(keys.joined(separator: ", ")), \(list), UNIQUE (\(names)))",
            "CREATE VIRTUAL TABLE \(quotedName) USING fts5(\((quotedColumns + options + prefix).joined(separator: ", ")))",
            trigger("insert", "INSERT", add), trigger("delete", "DELETE", forget),
            trigger("update", "UPDATE", forget + " " + add),
        ]
    }

    var removal: [String] {
        triggerNames.map { "DROP TRIGGER IF EXISTS \(SQLText.quote(identifier: $0))" }
            + ["DROP TABLE IF EXISTS \(quotedName)", "DROP TABLE IF EXISTS \(quotedDocuments)"]
    }

    // MARK: - The triggers of the table

    /// The names must not start with capture's prefix, because capture drops such triggers.
    private var triggerNames: [String] { ["insert", "update", "delete"].map { "\(name)_\($0)" } }

    var insertTrigger: String { triggerNames[0] }

    struct Trigger: Hashable {
        let name: String
        let sql: String
    }

    func triggers(_ table: TableInspection) -> [Trigger] {
        let keys = keys(table)
        let documentKeys = TextIndexDefinition.documentKeys(table)
        let isOld = zip(documentKeys, keys).map { "\($0) IS OLD.\($1)" }.joined(separator: " AND ")
        let sameKey = keys.map { "OLD.\($0) IS NEW.\($0)" }.joined(separator: " AND ")
        let values = (keys + quotedColumns).map { "NEW.\($0)" }.joined(separator: ", ")
        let put = upsert(table, source: "VALUES (\(values))")
        let changed = (keys + quotedColumns).map { "OLD.\($0) IS NOT NEW.\($0)" }.joined(separator: " OR ")
        let forget = "DELETE FROM \(quotedDocuments) WHERE \(isOld)"
        func trigger(_ name: String, _ event: String, _ body: String) -> Trigger {
            Trigger(
                name: name,
                sql: "CREATE TRIGGER \(SQLText.quote(identifier: name)) AFTER \(event) BEGIN \(body); END")
        }
        return [
            trigger(triggerNames[0], "INSERT ON \(quotedTable)", put),
            trigger(
                triggerNames[1], "UPDATE ON \(quotedTable) WHEN \(changed)",
                "\(forget) AND NOT (\(sameKey)); \(put)"),
            trigger(triggerNames[2], "DELETE ON \(quotedTable)", forget),
        ]
    }

    /// The definition with the names that the present text of the insert trigger has for the columns.
    func renamed(table: String, insertTrigger sql: String) -> TextIndexDefinition {
        let values = SQLToken.newColumns(in: sql)
        // The key's columns come first.
        let names = values.count > columns.count ? Array(values.suffix(columns.count)) : columns
        let isSame = names.map(SQLText.foldedName) == columns.map(SQLText.foldedName)
        return TextIndexDefinition(
            name: name, table: table, columns: isSame ? columns : names, tokenizer: tokenizer, prefixes: prefixes,
            isModels: isModels)
    }

    /// The statement that inserts or updates documents. Documents that are equal already are not written.
    private func upsert(_ table: TableInspection, source: String) -> String {
        let documentKeys = TextIndexDefinition.documentKeys(table).joined(separator: ", ")
        let assignments = quotedColumns.map { "\($0) = excluded.\($0)" }.joined(separator: ", ")
        let differs = quotedColumns.map { "\(quotedDocuments).\($0) IS NOT excluded.\($0)" }.joined(separator: " OR ")
        return "INSERT INTO \(quotedDocuments) (\(documentKeys), \(quotedColumns.joined(separator: ", "))) \(source) "
            + "ON CONFLICT (\(documentKeys)) DO UPDATE SET \(assignments) WHERE \(differs)"
    }

    // MARK: - Following

    /// The statements that make the documents match the table.
    ///
    /// - Parameter keys: A SELECT of the keys to compare, in the order of the table's key; nil for all rows.
    func refresh(_ table: TableInspection, keys source: String?) -> [String] {
        let keys = keys(table)
        let documentKeys = TextIndexDefinition.documentKeys(table)
        let filter = source.map { " AND (\(documentKeys.joined(separator: ", "))) IN (\($0))" } ?? ""
        let isThere = zip(documentKeys, keys).map { "t.\($1) IS \(quotedDocuments).\($0)" }.joined(separator: " AND ")
        let row = (keys + quotedColumns).map { "t.\($0)" }.joined(separator: ", ")
        // Without a WHERE, the parser would take ON CONFLICT for a join's ON
        // (https://sqlite.org/lang_upsert.html).
        let chosen = source.map { "(\(keys.map { "t.\($0)" }.joined(separator: ", "))) IN (\($0))" } ?? "true"
        return [
            "DELETE FROM \(quotedDocuments) WHERE NOT EXISTS (SELECT 1 FROM \(quotedTable) AS t WHERE \(isThere))\(filter)",
            upsert(table, source: "SELECT \(row) FROM \(quotedTable) AS t WHERE \(chosen)"),
        ]
    }

    /// The join of a search: the FTS5 table, the documents, and the rows whose text still equals the indexed
    /// text.
    func join(_ table: TableInspection) -> String {
        let fresh = quotedColumns.map { "\(quotedDocuments).\($0) IS \(quotedTable).\($0)" }.joined(separator: " AND ")
        return "\(quotedName) JOIN \(quotedDocuments) ON \(quotedDocuments)._doc = \(quotedName).rowid "
            + "JOIN \(quotedTable) ON \(isRow(table)) AND \(fresh)"
    }

    /// The condition under which a document is that of the table's row.
    func isRow(_ table: TableInspection) -> String {
        zip(TextIndexDefinition.documentKeys(table), keys(table)).map {
            "\(quotedTable).\($1) = \(quotedDocuments).\($0)"
        }.joined(separator: " AND ")
    }
}
