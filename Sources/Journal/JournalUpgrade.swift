import GRDB

/// Adds what this release needs to a file that an earlier one made a replica, in place.
///
/// Only additions, so an earlier release goes on working with the file; what it would misread raises
/// ``JournalSchema/format`` instead.
enum JournalUpgrade {
    /// The newest addition: a file that has it has all of them.
    private static let marker = "_journal_clocks"

    static func isDue(_ db: Database) throws -> Bool { try !db.tableExists(marker) }

    /// Inside of a write transaction.
    static func run(_ db: Database) throws {
        guard try isDue(db) else { return }
        let columns = Set(try db.columns(in: "_journal_conflicts").map(\.name))
        let added = ["lost_stamp INTEGER NOT NULL DEFAULT 0", "state TEXT NOT NULL DEFAULT 'open'", "closed REAL"]
        for column in added where !columns.contains(String(column.prefix { $0 != " " })) {
            try db.execute(sql: "ALTER TABLE _journal_conflicts ADD COLUMN \(column)")
        }
        let names = ["_journal_conflicts_by_key", "_journal_ledger", marker]
        for statement in JournalSchema.statements.split(separator: ";") {
            let words = statement.split { $0 == " " || $0 == "\n" }
            guard words.count > 2, names.contains(String(words[2])) else { continue }
            if try !exists(words[2], db) || words[0] == "INSERT" { try db.execute(sql: String(statement)) }
        }
    }

    private static func exists(_ name: Substring, _ db: Database) throws -> Bool {
        try Bool.fetchOne(
            db, sql: "SELECT EXISTS (SELECT 1 FROM sqlite_master WHERE name = ?)", arguments: [String(name)]) ?? false
    }
}
