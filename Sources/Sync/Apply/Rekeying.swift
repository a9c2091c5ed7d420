import GRDB
import Journal

/// Gives rows other keys when the claims on a key change, in the journal and in the tables.
///
/// The journal holds each entry under the key that it means, so merging, held rows, policies and every other
/// reader find the history of a row under one key (`WrittenValues`). When an insert arrives that takes the
/// key of a row, the entries of that row and the references to it are rewritten, and their rows are merged
/// again from the journal.
struct Rekeying {
    let db: Database
    let session: ApplySession
    let rows: RowStore
    let contested: PolicyResolver
    /// The time for new entries of the ledger, in seconds since 1970.
    let time: Double

    /// A claim on a contested key, whose row may have got another key.
    struct Move {
        let insert: KeyMeanings.Insert
        /// The key that the row has; nil when it keeps the contested one.
        let key: Int64?
        /// The latest claim that has the contested key: nobody lacks it, while the first row that had the key may be
        /// deleted and compacted.
        let keeper: KeyMeanings.Insert
    }

    struct Outcome {
        var moves: [Move] = []
        /// The lives of the keys whose changes moved.
        var lives: [TableKey: Int64] = [:]
    }

    /// A row that has other entries than before, or other values.
    private struct AffectedRow {
        let entry: ShapeRegistry.Entry
        let key: [Value]
        /// True when entries were added or removed, not only changed.
        var isMoved: Bool
        /// The key that the row's insert has now, when the insert has moved away.
        var next: [Value]?
    }

    /// Decides the keys of contested rows again, and brings journal and tables up to date.
    ///
    /// - Parameter names: The keys whose claims have changed. Some claims may be about to be appended to the
    ///   journal.
    func settle(_ names: Set<KeyMeanings.Name>, _ meanings: KeyMeanings) throws -> Outcome {
        var outcome = Outcome()
        var numbers: [Int64: Set<Int64>] = [:]
        var writers: [ChangeWriter] = []
        // A claim may decide whether the references of rows with other contested keys mean one row.
        let names = names.union(
            meanings.takeUnsettled().filter { name in
                meanings.decided(name).contains { $0.insert.claim.moved ?? name.key != $0.key }
            })
        for name in names.sorted(by: { ($0.domain, $0.key) < ($1.domain, $1.key) }) {
            let decided = meanings.decided(name)
            numbers[name.domain, default: []].insert(name.key)
            for (insert, key, _) in decided {
                let claim = MintedClaims.Claim(
                    seq: insert.claim.seq, table: name.domain, key: name.key, moved: key == name.key ? nil : key)
                try MintedClaims.write(claim, db)
                // After a new identity, the journal has the key that the former one gave.
                numbers[name.domain]?.formUnion([key, insert.newKey, insert.claim.moved ?? key])
                writers.append(insert.writer)
                meanings.update(claim)
            }
        }
        try session.noteClaims()
        let affected = try rewrite(numbers, seenBy: writers, meanings)
        session.claims.reset()
        outcome.lives = try mergeAgain(affected)
        try LedgerRevision(db: db, session: session, time: time).run(Set(affected.keys))
        outcome.moves = moves(of: names.union(contestedKeys(of: affected, meanings)), meanings)
        return outcome
    }

    private func moves(of names: Set<KeyMeanings.Name>, _ meanings: KeyMeanings) -> [Move] {
        names.sorted { ($0.domain, $0.key) < ($1.domain, $1.key) }.flatMap { name -> [Move] in
            let decided = meanings.decided(name)
            guard let keeper = decided.last(where: { $0.key == name.key })?.insert else { return [] }
            return decided.filter(\.isRoot).map { insert, key, _ in
                Move(insert: insert, key: key == name.key ? nil : key, keeper: keeper)
            }
        }
    }

    /// The contested keys of rows that have other entries or values than before.
    private func contestedKeys(of affected: [TableKey: AffectedRow], _ meanings: KeyMeanings) -> Set<KeyMeanings.Name> {
        Set(
            affected.flatMap { row, state in
                state.key.first.map { meanings.names(of: $0, in: row.table) } ?? []
            }.filter { name in
                meanings.decided(name).contains {
                    affected[TableKey(table: name.domain, key: Key([.integer($0.key)]))] != nil
                }
            })
    }

    /// Records in the conflict ledger which rows lost their keys, and forgets it of those that keep them. The
    /// origins of all claims must be known to the file.
    ///
    /// - Returns: The number of new entries.
    static func record(_ moves: [Move], origins: OriginTable, time: Double, _ db: Database) throws -> Int {
        let ledger = ConflictRecorder(db)
        var count = 0
        for move in moves {
            guard let key = move.key else {
                try ledger.forget(.rekeyed, of: move.insert.side, origins: origins)
                continue
            }
            let isNew = try ledger.recordNewKey(
                table: move.insert.claim.table, key: Key([.integer(key)]), column: move.insert.shape.shape.columns[0],
                lost: move.insert.side, kept: move.keeper.side, origins: origins, time: time)
            if isNew { count += 1 }
        }
        return count
    }

    // MARK: - The journal

    /// Rewrites the entries that contain one of `numbers`, by domain, with another meaning than before.
    ///
    /// - Parameter claims: The writers of the inserts that decide. Only who had seen one of these can mean
    ///   another row than the number says. A relay may deliver such a change before the insert.
    private func rewrite(
        _ numbers: [Int64: Set<Int64>], seenBy claims: [ChangeWriter], _ meanings: KeyMeanings
    ) throws -> [TableKey: AffectedRow] {
        let first = claims.reduce(into: [OriginID: Int64]()) { $0[$1.origin] = min($0[$1.origin] ?? .max, $1.version) }
        let reader = try JournalReader(db)
        let tables = numbers.keys.reduce(into: Set<Int64>()) { $0.formUnion(session.domains.tables[$1] ?? []) }
        var columns: [Int64: [(column: Int, domain: Int64)]] = [:]
        var edits: [WrittenValues.Meaning] = []
        var affected: [TableKey: AffectedRow] = [:]
        let isWanted = { (origin: OriginID, last: Int64, known: VersionVector) in
            first.contains { $0.key == origin ? last >= $0.value : known[$0.key] >= $0.value }
        }
        try reader.scanEntries(tables: tables, ofRuns: isWanted) { entry in
            guard let shape = reader.registry[entry.shapeID] else { return }
            let linked = columns[entry.shapeID] ?? session.domains.columns(of: shape.shape)
            columns[entry.shapeID] = linked
            let keyCount = shape.shape.keyCount
            let writer = ChangeWriter(entry, own: reader.identity.origin)
            var values = entry.values
            var isChanged = false
            for (column, domain) in linked {
                guard let wanted = numbers[domain],
                    let offset = entry.mask.offset(ofColumn: column, keyCount: keyCount), offset < values.count,
                    let number = KeyMeanings.number(values[offset]), wanted.contains(number)
                else { continue }
                let original = entry.written[column] ?? values[offset]
                let value = meanings.meaning(
                    of: original, in: domain, by: writer,
                    insert: entry.operation == .insert && column == 0 && domain == entry.tableID)
                guard value != values[offset] else { continue }
                values[offset] = value
                isChanged = true
                edits.append(.init(seq: entry.seq, column: column, value: value, written: original))
            }
            guard isChanged else { return }
            let key = Key(values.prefix(keyCount), collations: shape.collations)
            let isMoved = key != entry.key
            let new = Array(values.prefix(keyCount))
            for (name, keyValues) in [(entry.key, Array(entry.keyValues)), (key, new)] {
                let row = TableKey(table: entry.tableID, key: name)
                let before = affected[row]
                affected[row] = AffectedRow(
                    entry: shape, key: keyValues, isMoved: isMoved || before?.isMoved ?? false, next: before?.next)
            }
            if isMoved, entry.operation == .insert {
                affected[TableKey(table: entry.tableID, key: entry.key)]?.next = new
            }
        }
        try WrittenValues.replace(edits, db)
        return affected
    }

    // MARK: - The tables

    /// Merges the affected rows again from the journal.
    ///
    /// - Returns: The lives of the rows that have other entries than before.
    private func mergeAgain(_ affected: [TableKey: AffectedRow]) throws -> [TableKey: Int64] {
        guard !affected.isEmpty else { return [:] }
        let merged = try session.mergedRows(
            of: Set(affected.keys.map(\.table)), among: Set(affected.keys), in: db)
        let registry = try ShapeRegistry(db)
        let values = JournalValues(db)
        let backfill = Backfill(db: db, session: session)
        var lives: [TableKey: Int64] = [:]
        let all = affected.sorted { $0.key < $1.key }
        for (key, row) in all where row.isMoved {
            lives[key] = merged[key]?.life ?? 1
            try rows.held.release(key)
            if let id = rows.id(of: key, entry: row.entry, values: row.key[...]) {
                rows.touchedGroups.insert(session.foreignKeys.group(of: id.table.name))
                try rows.remove(id)
            }
        }
        for (key, row) in all { try noteMove(key, row) }
        for (key, row) in all {
            if let merged = merged[key] {
                try backfill.show(key, merged, values, rows: rows, contested: contested, registry: registry)
            }
            try note(key, row, isAlive: merged[key]?.isAlive ?? false)
        }
        try VisibilityNotice.prune(db)
        try Lives.set(
            lives.sorted { $0.key < $1.key }.map { .init(table: $0.key.table, key: $0.key.key, life: $0.value) }, db)
        return lives
    }

    /// Tells followers of the journal under which key they find a row.
    private func noteMove(_ key: TableKey, _ row: AffectedRow) throws {
        guard let id = rows.id(of: key, entry: row.entry, values: row.key[...]), let next = row.next else { return }
        try VisibilityNotice.append(
            table: key.table, .delete, key: image(row.key, of: id.table), moved: image(next, of: id.table), to: db)
    }

    /// Tells followers of the journal that a row shows other values than its last entries say.
    private func note(_ key: TableKey, _ row: AffectedRow, isAlive: Bool) throws {
        guard let id = rows.id(of: key, entry: row.entry, values: row.key[...]), isAlive || row.next == nil else {
            return
        }
        try VisibilityNotice.append(
            table: key.table, isAlive ? row.isMoved ? .insert : .update : .delete, key: image(row.key, of: id.table),
            to: db)
    }

    private func image(_ key: [Value], of table: TableInspection) -> RowImage {
        var image = RowImage()
        for (column, value) in zip(table.stored, key) { image.columns[column.name] = value }
        return image
    }
}

extension KeyMeanings.Insert {
    /// The insert as the conflict ledger names it. Its life does not matter: both sides keep their rows.
    var side: ConflictRecorder.Side {
        .init(version: writer.version, life: 1, order: order, seq: claim.seq)
    }
}
