import GRDB

/// A trigger of a program that keeps a full-text or spatial index of a table.
///
/// Merging runs without triggers, because the effects of triggers arrive as changes of their own. An index is
/// no table that replicates: each machine keeps its own. So what such triggers do to indexes has to be done
/// while merging. SQLite's documents show them for FTS5 (https://sqlite.org/fts5.html, section 4.4.3) and
/// FTS4 (https://sqlite.org/fts3.html, section 6.2.2); GeoPackage has them for R-trees.
package struct IndexTrigger: Sendable {
    /// The name of the trigger.
    package let name: String
    /// The table whose rows the trigger indexes.
    package let table: String
    /// The virtual tables that the trigger writes, each once.
    package let indexes: [String]
    private let event: [String]
    private let condition: [String]
    private let statements: [[String]]

    /// Reads what a trigger does to indexes.
    ///
    /// - Parameters:
    ///   - sql: The statement that created the trigger.
    ///   - isIndex: True for the name of a virtual table that is an index.
    /// - Returns: nil for a trigger that writes no index, and for one of a view.
    init?(name: String, table: String, sql: String, isIndex: (String) -> Bool) {
        let tokens = SQLToken.scan(sql)
        let words = tokens.map { SQLText.foldedName($0.text) }
        // CREATE TRIGGER [IF NOT EXISTS] [schema.]name
        guard var next = words.firstIndex(of: "trigger").map({ $0 + 1 }) else { return nil }
        if words[next...].starts(with: ["if", "not", "exists"]) { next += 3 }
        next = IndexTrigger.end(ofNameAt: next, in: tokens)
        guard let on = words[next...].firstIndex(of: "on"), !words[next..<on].contains("instead"),
            let begin = words[on...].firstIndex(of: "begin"), let end = words.lastIndex(of: "end"), begin < end
        else { return nil }
        let conditionStart = IndexTrigger.end(ofNameAt: on + 1, in: tokens)
        guard conditionStart <= begin else { return nil }
        var indexes: [String] = []
        var statements: [[String]] = []
        for statement in tokens[(begin + 1)..<end].split(whereSeparator: { $0.text == ";" }) {
            guard let target = IndexTrigger.target(of: Array(statement)), isIndex(target) else { continue }
            statements.append(statement.map(\.text))
            if !indexes.contains(target) { indexes.append(target) }
        }
        guard !statements.isEmpty else { return nil }
        self.name = name
        self.table = table
        self.indexes = indexes
        self.statements = statements
        event = tokens[next..<on].map(\.text)
        condition = tokens[conditionStart..<begin].map(\.text)
    }

    /// Returns the statement that creates a temporary trigger with the given name, which does to the indexes
    /// what this one does, and nothing else.
    ///
    /// SQLite runs temporary triggers also where the triggers of the schema are switched off, from 3.35 on
    /// (https://sqlite.org/c3ref/c_dbconfig_defensive.html).
    package func temporary(named name: String) -> String {
        let body = statements.map { $0.joined(separator: " ") + ";" }.joined(separator: " ")
        return
            (["CREATE TEMP TRIGGER", SQLText.quote(identifier: name)] + event
            + ["ON main.\(SQLText.quote(identifier: table))"] + condition + ["BEGIN", body, "END"])
            .joined(separator: " ")
    }

    /// Returns the triggers of the main schema that keep indexes, by table and name.
    ///
    /// - Throws: Errors of SQLite.
    package static func all(_ db: Database) throws -> [IndexTrigger] {
        let indexes = try VirtualTable.indexes(db)
        guard !indexes.isEmpty else { return [] }
        let triggers = try Row.fetchAll(
            db,
            sql: """
                SELECT name, tbl_name, sql FROM main.sqlite_master
                WHERE type = 'trigger' AND name NOT LIKE '\\_journal\\_%' ESCAPE '\\' ORDER BY tbl_name, name
                """)
        return triggers.compactMap { row in
            IndexTrigger(name: row["name"], table: row["tbl_name"], sql: row["sql"] ?? "") {
                indexes.contains(SQLText.foldedName($0))
            }
        }
    }

    // MARK: - Pieces

    /// The position after a name, which may have a schema before it.
    private static func end(ofNameAt start: Int, in tokens: [SQLToken]) -> Int {
        var end = min(start + 1, tokens.count)
        while end < tokens.count, tokens[end].text == "." || tokens[end - 1].text.hasSuffix(".") { end += 1 }
        return end
    }

    /// The table that a statement writes; nil for one that writes none.
    private static func target(of statement: [SQLToken]) -> String? {
        let words = statement.map { SQLText.foldedName($0.text) }
        func name(after word: String) -> String? {
            guard let index = words.firstIndex(of: word), index + 1 < statement.count else { return nil }
            return statement[index + 1].name
        }
        switch words.first {
        case "insert", "replace": return name(after: "into")
        case "delete": return name(after: "from")
        case "update":
            let place = words.count > 1 && words[1] == "or" ? 3 : 1
            return place < statement.count ? statement[place].name : nil
        default: return nil
        }
    }
}

extension TableInspection {
    /// True when the triggers of the table that the connection runs can be compiled. The statements are only
    /// prepared.
    ///
    /// - Throws: ``JournalError`` when SQLite refuses for another reason than the text of a trigger.
    package func compilesTriggers(_ db: Database) throws -> Bool {
        let name = SQLText.quote(identifier: name)
        let assignments = stored.map { SQLText.quote(identifier: $0.name) }.map { "\($0) = \($0)" }
        do {
            for sql in [
                "INSERT INTO \(name) DEFAULT VALUES", "DELETE FROM \(name)",
                "UPDATE \(name) SET \(assignments.joined(separator: ", "))",
            ] { _ = try RawStatement(db, sql) }
            return true
        } catch let error as JournalError where error.code == .sqlite {
            return false
        }
    }
}
