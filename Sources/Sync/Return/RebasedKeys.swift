import GRDB
import Journal

/// New keys for rows whose keys SQLite chose, on a replica that was away and on another one alike.
///
/// The others have given the key to another row for good, so the row of this replica gets the key that
/// ``ContestedKey`` would give to it, and everything that this replica wrote about it follows.
struct RebasedKeys {
    private let domains: KeyDomains
    private let registry: ShapeRegistry
    private var moved: [Int64: [Int64: Int64]] = [:]

    /// - Parameters:
    ///   - db: The file that has the others' rows.
    ///   - theirs: Returns the row that they have under a key of a table.
    init(
        _ unseen: UnseenRows, _ db: Database, session: ApplySession, theirs: (UnseenRows.Table, [Value]) -> PastRow?
    ) throws {
        domains = session.domains
        registry = try ShapeRegistry(db)
        for table in unseen.tables {
            guard let entry = registry.tracked(table: table.name), domains.tables[entry.table] != nil else { continue }
            for row in table.rows where row.base == nil && row.whole.isAlive {
                guard let insert = row.minted, let key = row.key.first.flatMap(KeyMeanings.number),
                    let other = theirs(table, row.key), other.isAlive, !RebasedKeys.areEqual(row.whole, other)
                else { continue }
                moved[entry.table, default: [:]][key] = ContestedKey.newKey(
                    table: entry.wireName, key: key, origin: insert.origin, version: insert.version)
            }
        }
    }

    var count: Int { moved.values.reduce(0) { $0 + $1.count } }

    /// Returns the rows of a table with the new keys, also in their references.
    func renamed(_ table: UnseenRows.Table) -> UnseenRows.Table {
        guard !moved.isEmpty, let entry = registry.tracked(table: table.name) else { return table }
        let linked = Dictionary(
            domains.columns(of: entry.shape).map { (SQLText.foldedName(entry.shape.columns[$0.column]), $0.domain) },
            uniquingKeysWith: { first, _ in first })
        guard !linked.isEmpty else { return table }
        var table = table
        table.rows = table.rows.map { row in
            var row = row
            // A key that the others know means their row, also here.
            if row.base == nil {
                for (index, column) in entry.shape.keyColumns.enumerated() {
                    row.key[index] = meaning(row.key[index], linked[SQLText.foldedName(column)])
                }
            }
            row.unseen = renamed(row.unseen, linked) { _ in true }
            let unseen = Set(row.unseen.columns.map(\.order))
            row.whole = renamed(row.whole, linked) { unseen.contains($0.order) }
            return row
        }
        return table
    }

    private func renamed(
        _ row: PastRow, _ linked: [String: Int64], isOwn: (PastRow.Column) -> Bool
    ) -> PastRow {
        PastRow(
            key: row.key, life: row.life, isWhole: row.isWhole,
            columns: row.columns.map { column in
                isOwn(column)
                    ? .init(
                        name: column.name, value: meaning(column.value, linked[SQLText.foldedName(column.name)]),
                        order: column.order) : column
            }, last: row.last)
    }

    private func meaning(_ value: Value, _ domain: Int64?) -> Value {
        guard let domain, let number = KeyMeanings.number(value), let new = moved[domain]?[number] else { return value }
        return KeyMeanings.value(new, like: value)
    }

    private static func areEqual(_ a: PastRow, _ b: PastRow) -> Bool {
        func values(_ row: PastRow) -> [String: Value] {
            Dictionary(row.columns.map { (SQLText.foldedName($0.name), $0.value) }, uniquingKeysWith: { $1 })
        }
        return values(a) == values(b)
    }
}
