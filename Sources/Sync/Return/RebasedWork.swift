import GRDB
import Journal

/// Everything that a replica writes on top of the content of another one.
struct RebasedWork {
    /// What the others had, where this replica contradicts it.
    private(set) var theirs: RebasedBatch
    /// What this replica wrote.
    private(set) var mine: RebasedBatch
    /// How many rows others have changed as well.
    private(set) var contested = 0
    /// How many rows got another key.
    let rekeyed: Int

    /// - Parameters:
    ///   - seen: What the other replica has.
    ///   - now: The time.
    ///   - db: A snapshot of the other replica.
    init(_ unseen: UnseenRows, seen: VersionVector, now: Stamp, _ db: Database) throws {
        theirs = RebasedBatch(origin: try .random(db), known: seen)
        mine = RebasedBatch(origin: try .random(db), known: seen)
        let session = try ApplySession(db)
        let reader = try JournalReader(db)
        var keys = try RebasedKeys(unseen, db, session: session)
        let unseen = keys.separated(unseen)
        let rows = try RebasedWork.rows(of: unseen, keys, reader, db)
        keys.move(unseen, theirs: rows)
        rekeyed = keys.count
        let lives = try LifeReader(db)
        var writes: [(write: Rebase.Write, key: [Value], entry: ShapeRegistry.Entry)] = []
        for table in unseen.tables.map(keys.renamed) {
            guard let entry = reader.registry.tracked(table: table.name) else { continue }
            for row in table.rows {
                let key = Key(row.key, collations: entry.collations)
                let there = rows[entry.table]?[key]
                let decided = Rebase(
                    row: row, policy: table.policy, theirs: there,
                    life: try there?.life ?? lives.life(table: entry.table, key: key)
                ).writes()
                if decided.contains(where: { $0.branch == .theirs }) { contested += 1 }
                writes += decided.map { ($0, row.key, entry) }
            }
        }
        // Stamps rise along each origin, and are later than everything that the writer has seen, here or in the file
        // that it comes back with.
        var stamp = max(now, reader.identity.sealedStamp, unseen.lastStamp)
        for (write, key, entry) in writes.enumerated().sorted(by: {
            ($0.element.write.branch.rawValue, $0.offset) < ($1.element.write.branch.rawValue, $1.offset)
        }).map(\.element) {
            stamp = Stamp.next(after: stamp, now: now)
            if write.branch == .theirs {
                theirs.add(write, key: key, of: entry, stamp: stamp)
            } else {
                mine.add(write, key: key, of: entry, stamp: stamp)
            }
        }
    }

    /// The rows that the other replica has under the keys of unseen rows, by table and key.
    private static func rows(
        of unseen: UnseenRows, _ keys: RebasedKeys, _ reader: JournalReader, _ db: Database
    ) throws -> [Int64: [Key: PastRow]] {
        var wanted: [Int64: Set<Key>] = [:]
        var folds: [Int64: PastRows] = [:]
        for table in unseen.tables {
            guard let entry = reader.registry.tracked(table: table.name),
                let inspection = try TableInspection.named(entry.shape.table, db)
            else { continue }
            wanted[entry.table] = Set(table.rows.map { Key(keys.key(of: $0, entry), collations: entry.collations) })
            folds[entry.table] = PastRows(inspection, policy: table.policy, own: reader.identity.origin)
        }
        try reader.forEachEntry { entry in
            guard wanted[entry.tableID]?.contains(entry.key) ?? false else { return }
            folds[entry.tableID]?.add(entry)
        }
        return folds.mapValues(\.all)
    }
}
