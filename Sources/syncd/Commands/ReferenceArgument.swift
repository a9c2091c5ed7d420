import ArgumentParser
import GRDB
import Journal

/// `CHILD.COLUMN=PARENT` on the command line. Without a parent, it takes a declaration back.
struct ReferenceArgument: ExpressibleByArgument {
    let child: ColumnArgument
    /// nil to take the declaration back.
    let parent: String?

    init?(argument: String) {
        guard let equals = argument.lastIndex(of: "="),
            let child = ColumnArgument(argument: String(argument[..<equals]))
        else { return nil }
        self.child = child
        let parent = String(argument[argument.index(after: equals)...])
        self.parent = parent.isEmpty ? nil : parent
    }

    private var table: String { child.table }
    private var column: String { child.column }

    /// Checks the names before anything is written.
    ///
    /// - Parameter path: The database, for messages.
    func check(_ path: String, _ db: Database) throws {
        try child.check("--references", path, db)
        guard let parent else { return }
        guard let parentTable = try TableInspection.named(parent, db) else {
            throw Failure(
                "--references names \(parent), which is no table of \(path)",
                hint: "`.tables` in the sqlite3 shell lists the tables.")
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
