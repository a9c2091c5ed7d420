import Foundation
import GRDB

// Declaring that a table has, or will have, another name. See docs/decisions/0013-renamed-tables.md.

extension TableNames {
    /// Declares that two names denote one table, before or after the table is renamed in this file. Call
    /// `Capture/refresh(_:)` afterwards, in the same transaction. Repeating a declaration changes nothing.
    ///
    /// - Returns: True when the declaration is new.
    /// - Throws: ``JournalError/Code/refused`` when it contradicts an earlier declaration, when both are
    ///   tables of this file, and when rows deleted under the old name exist under the new one; errors of
    ///   SQLite. The transaction must then be rolled back.
    public static func declare(_ renaming: Renaming, _ db: Database) throws -> Bool {
        let names = try TableNames(db)
        let (old, new) = (SQLText.foldedName(renaming.old), SQLText.foldedName(renaming.new))
        if names.newer[old] == new { return false }
        try check(renaming, names, db)
        try db.execute(
            sql: "INSERT INTO _journal_names (old, new) VALUES (?, ?)", arguments: [renaming.old, renaming.new])
        try unify(renaming, names, db)
        return true
    }

    private static func check(_ renaming: Renaming, _ names: TableNames, _ db: Database) throws {
        let (old, new) = (renaming.old, renaming.new)
        func refused(_ why: String, _ hint: String) -> JournalError {
            JournalError(.refused, "\(new) cannot be declared the new name of \(old): \(why)", hint: hint)
        }
        guard !old.isEmpty, !new.isEmpty, !SQLText.foldedName(new).hasPrefix(JournalSchema.prefix) else {
            throw refused("one of them is not a valid table name", "Give the old and the new name of one table.")
        }
        guard names.folded(old) != names.folded(new) else {
            throw refused("they already name the same table", "Declare each step once, from the older name.")
        }
        if names.newer[SQLText.foldedName(old)] != nil || names.older[SQLText.foldedName(new)] != nil {
            throw refused("one of them already names another table", "`_journal_names` lists what was declared.")
        }
        // Each of the two may belong to a chain of names.
        let tables = try TableInspection.all(db).map(\.name)
        let olds = tables.first { names.folded($0) == names.folded(old) }
        let news = tables.first { names.folded($0) == names.folded(new) }
        if let olds, let news {
            throw refused("\(olds) and \(news) are two tables of this file", "Only one of them can exist here.")
        }
    }

    /// Gives all data that the file stores under either name one table id. It keeps the id of the tracked
    /// table, because the names of its triggers contain that id.
    private static func unify(_ renaming: Renaming, _ before: TableNames, _ db: Database) throws {
        let entries = try ShapeRegistry(db, names: before).entries.values
        func ids(_ name: String) -> (id: Int64, isTracked: Bool)? {
            let shapes = entries.filter { before.folded($0.wireName) == before.folded(name) }
            return shapes.first.map { first in (first.table, shapes.contains { $0.isTracked }) }
        }
        guard let old = ids(renaming.old), let new = ids(renaming.new), old.id != new.id else { return }
        let tables = Set(try TableInspection.all(db).map { SQLText.foldedName($0.name) })
        // The table was renamed and tracked under its new name before the declaration: the old name is not
        // tracked, or its table is gone.
        let keepsNew = new.isTracked && (!old.isTracked || tables.contains(SQLText.foldedName(renaming.new)))
        let (kept, dropped) = keepsNew ? (new.id, old.id) : (old.id, new.id)
        if new.isTracked { try checkLives(old: old.id, new: new.id, renaming, db) }
        let pair: StatementArguments = [kept, dropped]
        try db.execute(sql: "UPDATE _journal_tables SET tbl = ?1 WHERE tbl = ?2", arguments: pair)
        try db.execute(
            sql: """
                INSERT INTO _journal_lives (tbl, key, life) SELECT ?1, key, life FROM _journal_lives WHERE tbl = ?2
                ON CONFLICT (tbl, key) DO UPDATE SET life = max(life, excluded.life)
                """, arguments: pair)
        try db.execute(sql: "DELETE FROM _journal_lives WHERE tbl = ?", arguments: [dropped])
        try db.execute(sql: "UPDATE OR IGNORE _journal_held SET tbl = ?1 WHERE tbl = ?2", arguments: pair)
        try db.execute(sql: "DELETE FROM _journal_held WHERE tbl = ?", arguments: [dropped])
        try db.execute(sql: "UPDATE _journal_conflicts SET tbl = ?1 WHERE tbl = ?2", arguments: pair)
        // Rows must show the changes that arrived under the other name.
        var registry = try ShapeRegistry(db)
        for entry in registry.entries.values where entry.table == kept { try registry.backfillAgain(entry.id, in: db) }
    }

    /// Checks that no key was deleted under the old name and written under the new one. Such a row's life
    /// would start again at 1, and it would lose against its own past.
    private static func checkLives(old: Int64, new: Int64, _ renaming: Renaming, _ db: Database) throws {
        let lives = try Row.fetchCursor(db, sql: "SELECT key, life FROM _journal_lives WHERE tbl = ?", arguments: [old])
        var past: Set<Key> = []
        while let row = try lives.next() { past.insert(Key(bytes: [UInt8](row["key"] as Data))) }
        guard !past.isEmpty else { return }
        try JournalReader(db).scan(tables: [new]) { change in
            guard past.contains(change.key) else { return }
            throw JournalError(
                .refused,
                "\(renaming.new) cannot be declared the new name of \(renaming.old): rows that were deleted under the old "
                    + "name have been written under the new one",
                hint:
                    "Declare a renaming before it happens. Now only a new table of the old name, filled from this one, brings them together."
            )
        }
    }
}
