import GRDB
import Journal

/// The rows for which a replica has changes that another one lacks.
struct UnseenRows {
    /// One row, by different sets of its changes.
    struct Row {
        /// The primary key, in key order.
        var key: [Value]
        /// By the changes that the other replica has; nil without any.
        var base: PastRow?
        /// By those that it lacks.
        var unseen: PastRow
        /// By all.
        var whole: PastRow
        /// The insert whose key SQLite chose here, unseen by the other replica; nil without one.
        var minted: (origin: OriginID, version: Int64)?
        /// True when ``key`` is the one that the other replica has for the row.
        var isNamedThere = false

        /// True for a row that the other replica has not seen: its insert is unseen, with a key that SQLite chose.
        var isOwnInsert: Bool {
            minted != nil && whole.isAlive && unseen.isWhole && unseen.life == whole.life
                && base?.life ?? 0 < whole.life
        }
    }

    /// The rows of one table.
    struct Table {
        let name: String
        let policy: MergePolicy
        var rows: [Row]
    }

    /// An insert of a contested key that both replicas have, and whose row has another key here.
    struct MovedClaim {
        /// The key that its writer gave to the row.
        let key: Int64
        let origin: OriginID
        let version: Int64
    }

    private(set) var tables: [Table] = []
    /// A writer that has seen all that this replica has: it has written each key as this replica shows it.
    private(set) var writer: ChangeWriter
    /// The inserts of rows that both have, by the names that all machines have for their tables, and the keys here.
    private(set) var moved: [String: [Int64: MovedClaim]] = [:]
    /// How many changes the other replica lacks.
    private(set) var changes = 0
    /// The latest stamp of these, without those that no replica with a right clock can have merged.
    private(set) var lastStamp = Stamp.zero

    /// - Parameters:
    ///   - db: A snapshot of the replica whose changes are looked at.
    ///   - seen: What the other replica has.
    ///   - latest: The greatest stamp that others accept now.
    /// - Throws: ``JournalError/Code/corrupt``; errors of SQLite.
    init(_ db: Database, seen: VersionVector, latest: Stamp) throws {
        let reader = try JournalReader(db)
        let own = reader.identity.origin
        func isSeen(_ entry: JournalEntry) -> Bool { entry.version <= seen[entry.origin ?? own] }
        let vector = reader.vector()
        writer = ChangeWriter(origin: own, version: vector[own] + 1, known: vector)
        var touched: [Int64: [Key: Row.Start]] = [:]
        try reader.forEachEntry { entry in
            guard !isSeen(entry) else { return }
            changes += 1
            if entry.stamp <= latest { lastStamp = max(lastStamp, entry.stamp) }
            var start =
                touched[entry.tableID]?[entry.key] ?? Row.Start(key: Array(entry.keyValues), position: entry.seq)
            if entry.operation == .insert, entry.isMinted, entry.written[0] == nil {
                start.minted = (entry.origin ?? own, entry.version)
            }
            touched[entry.tableID, default: [:]][entry.key] = start
        }
        guard !touched.isEmpty else { return }
        try noteMovedClaims(reader, db, isSeen)
        let policies = try MergePolicies(db, names: reader.registry.names)
        var folds: [Int64: Fold] = [:]
        for tracked in reader.registry.entries.values where tracked.isTracked && touched[tracked.table] != nil {
            guard let table = try TableInspection.named(tracked.shape.table, db) else { continue }
            folds[tracked.table] = Fold(table, policies[table.name], own: own)
        }
        // The second pass keeps in memory only rows that have an unseen change.
        try reader.forEachEntry { entry in
            guard touched[entry.tableID]?[entry.key] != nil else { return }
            folds[entry.tableID]?.add(entry, isSeen: isSeen(entry))
        }
        tables = folds.map { id, fold in fold.table(touched[id] ?? [:]) }.sorted { $0.name < $1.name }
    }

    /// Returns the same with each table as `change` makes it.
    func mapTables(_ change: (Table) -> Table) -> UnseenRows {
        var rows = self
        rows.tables = tables.map(change)
        return rows
    }

    private mutating func noteMovedClaims(
        _ reader: JournalReader, _ db: Database, _ isSeen: (JournalEntry) -> Bool
    ) throws {
        let claims = try MintedClaims.all(db)
        let entries = try reader.entries(at: claims.map(\.seq))
        for claim in claims {
            guard let key = claim.moved, let entry = entries[claim.seq], isSeen(entry),
                let shape = reader.registry[entry.shapeID]
            else { continue }
            moved[shape.wireName, default: [:]][key] = MovedClaim(
                key: claim.key, origin: entry.origin ?? writer.origin, version: entry.version)
        }
    }

    /// The three sets of changes of a table's rows.
    private struct Fold {
        let name: String
        let policy: MergePolicy
        var base: PastRows
        var unseen: PastRows
        var whole: PastRows

        init(_ table: TableInspection, _ policy: MergePolicy, own: OriginID) {
            name = table.name
            self.policy = policy
            base = PastRows(table, policy: policy, own: own)
            // Which of concurrent unseen changes counts is decided for each column.
            unseen = PastRows(table, policy: .column, own: own)
            whole = PastRows(table, policy: policy, own: own)
        }

        mutating func add(_ entry: JournalEntry, isSeen: Bool) {
            whole.add(entry)
            if isSeen { base.add(entry) } else { unseen.add(entry) }
        }

        func table(_ touched: [Key: Row.Start]) -> Table {
            let (base, unseen, whole) = (base.all, unseen.all, whole.all)
            // In the order in which they were first written, so that one journal gives one return.
            let rows = touched.sorted { $0.value.position < $1.value.position }.compactMap { key, start -> Row? in
                guard let mine = unseen[key], let all = whole[key] else { return nil }
                return Row(key: start.key, base: base[key], unseen: mine, whole: all, minted: start.minted)
            }
            return Table(name: name, policy: policy, rows: rows)
        }
    }
}

extension UnseenRows.Row {
    /// What is known of a row after the first pass.
    fileprivate struct Start {
        var key: [Value]
        /// The position of the first unseen change.
        let position: Int64
        var minted: (origin: OriginID, version: Int64)?
    }
}
