/// A migration that each machine of a fleet runs at a time of its own, as SQL of a program that knows nothing
/// of Tandem.
enum FleetMigration: String, Sendable {
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
    /// The same, with a default that SQLite computes for each row.
    case computedDefault
    /// Drops a column and adds it again under the same name, without a contact in between.
    case reset
    /// Drops a column.
    case removal
    /// Puts a log aside under another name, and makes it again.
    case rotation
    /// Drops a table, and makes it again with one row.
    case remaking
    /// Two columns exchange their names.
    case exchange
    /// Gives a column another name, which ``back`` takes from it.
    case away
    /// Gives the column its former name.
    case back

    /// Those of the table `item`, which every fleet has.
    static let ofItems: [FleetMigration] = [
        .addition, .quotedDefault, .renaming, .seeds, .rebuild, .computedDefault, .reset, .removal,
    ]

    /// Those of a ``FleetTable``. The migrations of a group run in this order, others may come between them.
    static let groups: [[FleetMigration]] = [[.rotation], [.remaking], [.exchange], [.away, .back]]

    /// The transactions of the migration; anything may happen between two of them. A table that is built anew
    /// has other ones: see ``FleetMachine/steps(of:)``.
    var steps: [String] {
        switch self {
        case .addition: ["ALTER TABLE item ADD COLUMN state TEXT; UPDATE item SET state = 'filled ' || id"]
        case .quotedDefault: ["ALTER TABLE item ADD COLUMN kind TEXT DEFAULT \"plain\""]
        case .renaming: ["ALTER TABLE item RENAME COLUMN name TO title"]
        case .seeds:
            [
                """
                CREATE TABLE team(id INTEGER PRIMARY KEY, motto TEXT);
                INSERT INTO team VALUES(1, 'seed'), (2, 'seed'), (3, 'seed')
                """
            ]
        case .rebuild, .computedDefault: []
        case .reset: ["ALTER TABLE item DROP COLUMN note; ALTER TABLE item ADD COLUMN note TEXT"]
        case .removal: ["ALTER TABLE item DROP COLUMN memo"]
        case .rotation: ["ALTER TABLE log RENAME TO \(FleetTable.logPutAside)", FleetTable.log.sql]
        case .remaking: ["DROP TABLE cache", "\(FleetTable.cache.sql); INSERT INTO cache VALUES(1, 'fresh')"]
        case .exchange:
            [
                """
                ALTER TABLE pair RENAME COLUMN here TO nowhere; ALTER TABLE pair RENAME COLUMN there TO here;
                ALTER TABLE pair RENAME COLUMN nowhere TO there
                """
            ]
        case .away: ["ALTER TABLE pair RENAME COLUMN tag TO label"]
        case .back: ["ALTER TABLE pair RENAME COLUMN label TO tag"]
        }
    }

    /// The table that a fleet has only for the sake of this migration; nil for those of ``ofItems``.
    var table: FleetTable? {
        switch self {
        case .rotation: .log
        case .remaking: .cache
        case .exchange, .away, .back: .pair
        case .addition, .quotedDefault, .renaming, .seeds, .rebuild, .computedDefault, .reset, .removal: nil
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
        case .computedDefault: FleetColumn(table: "item", name: "token")
        case .rotation: FleetColumn(table: FleetTable.logPutAside, name: "line")
        case .away: FleetColumn(table: "pair", name: "label")
        case .back: FleetColumn(table: "pair", name: "tag")
        case .reset, .removal, .remaking, .exchange: nil
        }
    }

    /// The column that is gone after it.
    var dropped: FleetColumn? {
        switch self {
        case .renaming: FleetColumn(table: "item", name: "name")
        case .removal: FleetColumn(table: "item", name: "memo")
        case .away: FleetColumn(table: "pair", name: "tag")
        case .back: FleetColumn(table: "pair", name: "label")
        default: nil
        }
    }
}

/// A column of a fleet's tables.
struct FleetColumn: Hashable, Sendable {
    let table: String
    let name: String

    /// Those of the table that every fleet has.
    static let ofItems = ["name", "note", "memo"].map { FleetColumn(table: "item", name: $0) }
}
