import GRDB
import Journal

/// The keys that the rows of a replica that was away have on another one.
///
/// Which row has a key that SQLite chose depends on the inserts that a replica knows, and the two know different ones.
/// A row that both have is named as the other one names it. A row that the other has not seen, and whose key belongs to
/// another row there, gets the key that ``ContestedKey`` would give to it. Everything that refers to a row follows.
struct RebasedKeys {
    private let domains: KeyDomains
    private let registry: ShapeRegistry
    private let meanings: KeyMeanings
    private let writer: ChangeWriter
    private let movedThere: [String: [Int64: UnseenRows.MovedClaim]]
    /// The keys of rows that the other replica has not seen, by table.
    private var own: [Int64: Set<Int64>] = [:]
    /// The new ones of those that need one.
    private var moved: [Int64: [Int64: Int64]] = [:]

    /// - Parameter db: The file of the other replica.
    init(_ unseen: UnseenRows, _ db: Database, session: ApplySession) throws {
        domains = session.domains
        registry = try ShapeRegistry(db)
        meanings = try KeyMeanings(db, domains: domains)
        writer = unseen.writer
        movedThere = unseen.moved
        for table in unseen.tables {
            guard let entry = minting(table) else { continue }
            own[entry.table] = Set(
                table.rows.filter(\.isOwnInsert).compactMap { $0.key.first.flatMap(KeyMeanings.number) })
        }
    }

    /// Returns two rows for each key that belonged to a row which both have and which was deleted here, and then to a new
    /// row, when the first one has another key on the other replica: what happened to it happens there.
    func separated(_ unseen: UnseenRows) -> UnseenRows {
        guard !meanings.isEmpty || !movedThere.isEmpty else { return unseen }
        return unseen.mapTables { table in
            guard let entry = minting(table) else { return table }
            var table = table
            table.rows = table.rows.flatMap { row -> [UnseenRows.Row] in
                guard row.isOwnInsert, let base = row.base, base.isAlive,
                    let number = row.key.first.flatMap(KeyMeanings.number)
                else { return [row] }
                let there = nameThere(of: number, in: entry.table)
                guard there != number else { return [row] }
                let deleted = PastRow(
                    key: base.key, life: base.life + 1, isWhole: false, columns: [], last: row.unseen.last)
                var former = UnseenRows.Row(
                    key: row.key, base: base, unseen: deleted, whole: deleted, isNamedThere: true)
                former.key[0] = KeyMeanings.value(there, like: row.key[0])
                var new = row
                new.base = nil
                return [former, new]
            }
            return table
        }
    }

    /// Gives new keys to rows that the other replica has not seen, where the key belongs to another row.
    ///
    /// - Parameter theirs: The rows of the other replica, by table and key.
    mutating func move(_ unseen: UnseenRows, theirs: [Int64: [Key: PastRow]]) {
        for table in unseen.tables {
            guard let entry = minting(table) else { continue }
            // The keys of rows that both have.
            let taken = Set(
                table.rows.filter { !$0.isOwnInsert && $0.whole.isAlive }.map { key(of: $0, entry) })
            for row in table.rows where row.isOwnInsert {
                guard let insert = row.minted, let number = row.key.first.flatMap(KeyMeanings.number) else { continue }
                let other = theirs[entry.table]?[Key(row.key, collations: entry.collations)]
                let isStranger = other.map { other in
                    other.isAlive && !isBase(other, of: row, in: entry.table) && !row.whole.hasSameValues(as: other)
                }
                guard isStranger ?? false || taken.contains(row.key) else { continue }
                moved[entry.table, default: [:]][number] = ContestedKey.newKey(
                    table: entry.wireName, key: number, origin: insert.origin, version: insert.version)
            }
        }
    }

    /// True when the row that the other replica has under a key is the one that both had there before. It is no stranger
    /// to the row that has taken its place here.
    private func isBase(_ other: PastRow, of row: UnseenRows.Row, in table: Int64) -> Bool {
        guard let base = row.base, other.life <= base.life, let number = row.key.first.flatMap(KeyMeanings.number)
        else { return false }
        return nameThere(of: number, in: table) == number
    }

    var count: Int { moved.values.reduce(0) { $0 + $1.count } }

    /// The key of a row on the other replica, as far as the row has no new one.
    func key(of row: UnseenRows.Row, _ entry: ShapeRegistry.Entry) -> [Value] {
        guard !row.isNamedThere else { return row.key }
        let linked = linked(entry)
        return zip(row.key, entry.shape.keyColumns).map { value, column in
            meaning(value, linked[SQLText.foldedName(column)])
        }
    }

    /// Returns the rows of a table with the keys of the other replica, also in their references.
    func renamed(_ table: UnseenRows.Table) -> UnseenRows.Table {
        guard !moved.isEmpty || !meanings.isEmpty || !movedThere.isEmpty,
            let entry = registry.tracked(table: table.name)
        else { return table }
        let linked = linked(entry)
        guard !linked.isEmpty else { return table }
        var table = table
        table.rows = table.rows.map { row in
            // It is deleted, so it refers to nothing.
            guard !row.isNamedThere else { return row }
            var row = row
            let isNew = row.base == nil || row.isOwnInsert
            for (index, column) in entry.shape.keyColumns.enumerated() {
                let domain = linked[SQLText.foldedName(column)]
                // A key of a row that the other has names a row that it has.
                row.key[index] = (isNew ? newKey(row.key[index], domain) : nil) ?? meaning(row.key[index], domain)
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
                let domain = linked[SQLText.foldedName(column.name)]
                let new = isOwn(column) ? newKey(column.value, domain) : nil
                return .init(name: column.name, value: new ?? meaning(column.value, domain), order: column.order)
            }, last: row.last)
    }

    /// The new key of a row that the other replica has not seen; nil when it keeps its own.
    private func newKey(_ value: Value, _ domain: Int64?) -> Value? {
        guard let domain, let number = KeyMeanings.number(value), let new = moved[domain]?[number] else { return nil }
        return KeyMeanings.value(new, like: value)
    }

    /// The other replica's name of the row that this one names so, when both have it.
    private func meaning(_ value: Value, _ domain: Int64?) -> Value {
        guard let domain, let number = KeyMeanings.number(value), !(own[domain]?.contains(number) ?? false) else {
            return value
        }
        return KeyMeanings.value(nameThere(of: number, in: domain), like: value)
    }

    /// The key there of a row that both have and that has the key `number` here.
    private func nameThere(of number: Int64, in domain: Int64) -> Int64 {
        guard let table = registry.tracked(tableID: domain)?.wireName, let claim = movedThere[table]?[number] else {
            let meant = meanings.meaning(of: .integer(number), in: domain, by: writer)
            return KeyMeanings.number(meant) ?? number
        }
        return meanings.decided(KeyMeanings.Name(domain: domain, key: claim.key)).first {
            $0.insert.writer.origin == claim.origin && $0.insert.writer.version == claim.version
        }?.key ?? claim.key
    }

    /// The table as the other replica has it, if SQLite chooses its keys.
    private func minting(_ table: UnseenRows.Table) -> ShapeRegistry.Entry? {
        registry.tracked(table: table.name).flatMap { domains.tables[$0.table] == nil ? nil : $0 }
    }

    /// The domains of a table's columns, by folded name.
    private func linked(_ entry: ShapeRegistry.Entry) -> [String: Int64] {
        Dictionary(
            domains.columns(of: entry.shape).map { (SQLText.foldedName(entry.shape.columns[$0.column]), $0.domain) },
            uniquingKeysWith: { first, _ in first })
    }
}
