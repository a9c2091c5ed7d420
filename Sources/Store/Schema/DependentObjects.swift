import GRDB
import Journal

/// The indexes and triggers of a table, which go with it when it is dropped, and the views and triggers of
/// the file that use the table.
struct DependentObjects {
    private struct Object {
        let kind: String
        let name: String
        let sql: String

        var description: String { "the \(kind) \(name)" }
    }

    private let db: GRDB.Database
    private let table: String
    private let objects: [Object]
    /// What SQLite could not compile before.
    private let broken: Set<String>

    init(of table: TableInspection, _ db: GRDB.Database) throws {
        self.db = db
        self.table = table.name
        objects = try GRDB.Row.fetchAll(
            db,
            sql: """
                SELECT type, name, sql FROM main.sqlite_master
                WHERE lower(tbl_name) = lower(?) AND type IN ('index', 'trigger') AND sql IS NOT NULL
                  AND name NOT LIKE '\\_journal\\_%' ESCAPE '\\' ORDER BY rowid
                """, arguments: [table.name]
        ).map { Object(kind: $0["type"], name: $0["name"], sql: $0["sql"]) }
        broken = try DependentObjects.broken(db)
    }

    /// Creates the indexes and triggers again, on the rebuilt table.
    ///
    /// - Returns: What does not fit the table: an index that SQLite refuses, a trigger or view that it could
    ///   compile before and now cannot.
    func recreate() throws -> [String] {
        var failed: [String] = []
        for object in objects {
            do {
                try db.execute(sql: object.sql)
            } catch {
                failed.append(object.description)
                continue
            }
            // SQLite compiles a trigger only with a statement that fires it.
            guard object.kind == "trigger", !broken.contains(DependentObjects.triggers(of: table)) else { continue }
            if try DependentObjects.compiles(writesOf: table, db) { continue }
            failed.append(object.description)
            try db.execute(sql: "DROP TRIGGER \(SQLText.quote(identifier: object.name))")
        }
        return failed + (try DependentObjects.broken(db).subtracting(broken).sorted())
    }

    /// The views, and the tables with triggers, whose statements SQLite cannot compile.
    private static func broken(_ db: GRDB.Database) throws -> Set<String> {
        var broken: Set<String> = []
        for view in try String.fetchAll(db, sql: "SELECT name FROM main.sqlite_master WHERE type = 'view'")
        where !compiles("SELECT * FROM \(SQLText.quote(identifier: view))", db) {
            broken.insert("the view \(view)")
        }
        let tables = try String.fetchAll(
            db,
            sql: """
                SELECT DISTINCT tbl_name FROM main.sqlite_master AS trigger WHERE type = 'trigger' AND EXISTS
                  (SELECT 1 FROM main.sqlite_master WHERE type = 'table' AND tbl_name = trigger.tbl_name)
                """)
        for table in tables where try !compiles(writesOf: table, db) { broken.insert(triggers(of: table)) }
        return broken
    }

    private static func triggers(of table: String) -> String { "a trigger of \(table)" }

    /// True when SQLite can compile an insert, an update of each column, and a delete, with their triggers.
    private static func compiles(writesOf table: String, _ db: GRDB.Database) throws -> Bool {
        guard let found = try TableInspection.named(table, db) else { return true }
        let quoted = SQLText.quote(identifier: found.name)
        let columns = found.stored.map { SQLText.quote(identifier: $0.name) }
        let update = "UPDATE \(quoted) SET \(columns.map { "\($0) = \($0)" }.joined(separator: ", "))"
        return ["INSERT INTO \(quoted) DEFAULT VALUES", update, "DELETE FROM \(quoted)"].allSatisfy { compiles($0, db) }
    }

    private static func compiles(_ sql: String, _ db: GRDB.Database) -> Bool {
        (try? db.makeStatement(sql: sql)) != nil
    }
}
