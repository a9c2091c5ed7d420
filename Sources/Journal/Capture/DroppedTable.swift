import GRDB

/// What rows here showed of a table before it was dropped or renamed.
///
/// When a table of that name is made again, a migration removed the rows that it had, and nothing else: what
/// others have written since is not its doing. So the result does not depend on whether anyone looked at the
/// file in between.
struct DroppedTable {
    /// The position of the last entry that rows here showed.
    let position: Int64
    /// The id of the table that has the rows now, under another name; nil when they are gone.
    let successor: Int64?
    /// True when the table was renamed and not dropped: a table that is made again has none of its rows.
    let isRenamed: Bool

    /// - Parameter isRenamed: nil for a table that was renamed when it has a successor. The new name of a
    ///   renamed table may be one that is not tracked.
    init(position: Int64, successor: Int64?, isRenamed: Bool? = nil) {
        self.position = position
        self.successor = successor
        self.isRenamed = isRenamed ?? (successor != nil)
    }

    /// Returns what is recorded, by table id.
    static func all(_ db: Database) throws -> [Int64: DroppedTable] {
        let rows = try Row.fetchAll(
            db, sql: "SELECT DISTINCT tbl, dropped, successor FROM _journal_tables WHERE dropped IS NOT NULL")
        return Dictionary(
            rows.map { ($0["tbl"], DroppedTable(position: $0["dropped"], successor: $0["successor"])) },
            uniquingKeysWith: { first, _ in first })
    }

    /// Records that the table with the id `table` is gone.
    func record(_ table: Int64, _ db: Database) throws {
        try db.execute(
            sql: "UPDATE _journal_tables SET dropped = ?, successor = ? WHERE tbl = ?",
            arguments: [position, successor, table])
    }

    /// Records that the table is here again.
    static func forget(_ table: Int64, _ db: Database) throws {
        try db.execute(
            sql: "UPDATE _journal_tables SET dropped = NULL, successor = NULL WHERE tbl = ? AND dropped IS NOT NULL",
            arguments: [table])
    }

    /// The keys of the table that others wrote when rows here did not show it any more, or after they had
    /// seen that another machine renamed it.
    func news(of table: Int64, _ db: Database) throws -> Set<Key> {
        let reader = try JournalReader(db)
        let own = reader.identity.origin
        var renamings: [OriginID: Int64] = [:]
        if let successor {
            try reader.scan(tables: [successor]) { change in
                guard change.origin != own else { return }
                renamings[change.origin] = min(renamings[change.origin] ?? .max, change.version)
            }
        }
        var keys: Set<Key> = []
        try reader.scan(tables: [table]) { change in
            guard change.origin != own else { return }
            if change.seq > position || renamings.contains(where: { change.knows($0.key, $0.value) }) {
                keys.insert(change.key)
            }
        }
        return keys
    }
}
