import ArgumentParser
import GRDB
import Journal

/// `CHILD.COLUMN=PARENT` on the command line. Without a parent, it takes a declaration back.
struct ReferenceArgument: ExpressibleByArgument {
    let table: String
    let column: String
    /// nil to take the declaration back.
    let parent: String?

    init?(argument: String) {
        guard let equals = argument.lastIndex(of: "="), let dot = argument[..<equals].lastIndex(of: "."),
            dot > argument.startIndex, argument.index(after: dot) < equals
        else { return nil }
        table = String(argument[..<dot])
        column = String(argument[argument.index(after: dot)..<equals])
        let parent = String(argument[argument.index(after: equals)...])
        self.parent = parent.isEmpty ? nil : parent
    }

    /// Checks the names before anything is written.
    ///
    /// - Parameter path: The database, for messages.
    func check(_ path: String, _ db: Database) throws {
        let tables = "`.schema` in the sqlite3 shell lists the tables and their columns."
        guard let child = try TableInspection.named(table, db) else {
            throw Failure("--references names \(table), which is no table of \(path)", hint: tables)
        }
        guard child.stored.contains(where: { SQLText.foldedName($0.name) == SQLText.foldedName(column) }) else {
            throw Failure("--references names \(column), which is no column of \(table)", hint: tables)
        }
        guard let parent else { return }
        guard let parentTable = try TableInspection.named(parent, db) else {
            throw Failure("--references names \(parent), which is no table of \(path)", hint: tables)
        }
        guard parentTable.hasRowidKey else {
            throw Failure(
                "--references names \(parent), whose keys SQLite does not choose, so they never change",
                hint: "Only references to a table with an INTEGER PRIMARY KEY need to be declared.")
        }
        let foreignKey = try String.fetchOne(
            db,
            sql: """
                SELECT "table" FROM pragma_foreign_key_list(?, 'main')
                WHERE lower("from") = lower(?) AND lower("table") <> lower(?)
                """, arguments: [table, column, parent])
        if let foreignKey {
            throw Failure(
                "--references says that \(table).\(column) refers to \(parent), but its foreign key leads to \(foreignKey)",
                hint: "A foreign key needs no declaration.")
        }
    }

    /// Writes or removes the declaration.
    func apply(_ db: Database) throws {
        if let parent {
            try DeclaredReference(table: table, column: column, parent: parent).declare(db)
        } else {
            try DeclaredReference.withdraw(table: table, column: column, db)
        }
    }
}
