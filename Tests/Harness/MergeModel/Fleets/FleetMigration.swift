/// A migration that each machine of a fleet runs at a time of its own, as SQL of a program that knows nothing
/// of Tandem.
enum FleetMigration: String, CaseIterable, Sendable {
    /// Adds a column and fills it.
    case addition
    /// Adds a column with a default in double quotes.
    case quotedDefault
    /// Gives a column another name.
    case renaming
    /// Creates a table with rows.
    case seeds
    /// Builds the table anew, with a column more.
    case rebuild

    var sql: String {
        switch self {
        case .addition: "ALTER TABLE item ADD COLUMN state TEXT; UPDATE item SET state = 'filled ' || id"
        case .quotedDefault: "ALTER TABLE item ADD COLUMN kind TEXT DEFAULT \"plain\""
        case .renaming: "ALTER TABLE item RENAME COLUMN name TO title"
        case .seeds:
            "CREATE TABLE team(id INTEGER PRIMARY KEY, motto TEXT); INSERT INTO team VALUES(1, 'seed'), (2, 'seed'), (3, 'seed')"
        case .rebuild: ""
        }
    }

    /// The column that users write from this migration on.
    var column: FleetColumn? {
        switch self {
        case .addition: FleetColumn(table: "item", name: "state")
        case .quotedDefault: FleetColumn(table: "item", name: "kind")
        case .renaming: FleetColumn(table: "item", name: "title")
        case .seeds: FleetColumn(table: "team", name: "motto")
        case .rebuild: FleetColumn(table: "item", name: "size")
        }
    }

    /// The column that is gone after it.
    var dropped: FleetColumn? { self == .renaming ? FleetColumn(table: "item", name: "name") : nil }
}

/// A column of a fleet's tables.
struct FleetColumn: Hashable, Sendable {
    let table: String
    let name: String

    static let initial = [FleetColumn(table: "item", name: "name"), FleetColumn(table: "item", name: "note")]
}
