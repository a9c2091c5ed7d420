import Foundation
import GRDB
import Journal

/// Gives rows other keys when the claims on a key change, in the journal and in the tables.
///
/// The journal holds each entry under the key that it means, so merging, held rows, policies and every other reader
/// find the history of a row under one key (`WrittenValues`). When an insert arrives that takes the key of a row, the
/// entries of that row and the references to it are rewritten, and their rows are merged again from the journal.
struct Rekeying {
    let db: Database
    let session: ApplySession
    let rows: RowStore
    let contested: PolicyResolver

    /// A claim on a contested key, whose row may have got another key.
    struct Move {
        let insert: KeyMeanings.Insert
        /// The key that the row has; nil when it keeps the contested one.
        let key: Int64?
        /// The earliest claim whose row has the contested key.
        let keeper: KeyMeanings.Insert
    }

    struct Outcome {
        var moves: [Move] = []
        /// The lives of the keys whose changes moved.
        var lives: [TableKey: Int64] = [:]
    }

    /// One value of one entry that has another meaning now.
    private struct Edit {
        let seq: Int64
        let column: Int
        let value: Value
        let written: Value
    }

    /// A row that has other entries than before, or other values.
    private struct AffectedRow {
        let entry: ShapeRegistry.Entry
        let key: [Value]
        /// True when entries were added or removed, not only changed.
        var isMoved: Bool
    }

    /// Decides the keys of contested rows again, and brings journal and tables up to date.
    ///
    /// - Parameters:
    ///   - names: The keys whose claims have changed.
    ///   - end: The position after the journal's last entry. Claims from there on are about to be appended.
    func settle(_ names: Set<KeyMeanings.Name>, _ meanings: KeyMeanings, before end: Int64) throws -> Outcome {
        var outcome = Outcome()
        var numbers: [Int64: Set<Int64>] = [:]
        var first = end
        for name in names.sorted(by: { ($0.domain, $0.key) < ($1.domain, $1.key) }) {
            let decided = meanings.decided(name)
            let keeper = decided.first { $0.key == name.key }?.insert
            numbers[name.domain, default: []].insert(name.key)
            for (insert, key, isRoot) in decided {
                let claim = MintedClaims.Claim(
                    seq: insert.claim.seq, table: name.domain, key: name.key, moved: key == name.key ? nil : key)
                try MintedClaims.write([claim], db)
                first = min(first, claim.seq)
                if let before = insert.claim.moved { numbers[name.domain]?.insert(before) }
                numbers[name.domain]?.insert(key)
                if let keeper, isRoot {
                    outcome.moves.append(Move(insert: insert, key: claim.moved, keeper: keeper))
                }
                if claim != insert.claim { meanings.add(insert.with(claim)) }
            }
        }
        try MintedClaims.setBasis(session.mintedBasis, db)
        guard first < end else { return outcome }
        let affected = try rewrite(from: first, numbers, meanings)
        outcome.lives = try mergeAgain(affected)
        return outcome
    }

    // MARK: - The journal

    /// Rewrites the entries that contain one of `numbers`, by domain, with another meaning than before.
    private func rewrite(
        from first: Int64, _ numbers: [Int64: Set<Int64>], _ meanings: KeyMeanings
    ) throws -> [TableKey: AffectedRow] {
        let reader = try JournalReader(db)
        let tables = numbers.keys.reduce(into: Set<Int64>()) { $0.formUnion(session.domains.tables[$1] ?? []) }
        var columns: [Int64: [(column: Int, domain: Int64)]] = [:]
        var edits: [Edit] = []
        var renamed: [(seq: Int64, key: Key)] = []
        var affected: [TableKey: AffectedRow] = [:]
        try reader.scanEntries(tables: tables, from: first) { entry in
            guard let shape = reader.registry[entry.shapeID] else { return }
            let linked = columns[entry.shapeID] ?? session.domains.columns(of: shape.shape)
            columns[entry.shapeID] = linked
            let keyCount = shape.shape.keyCount
            let writer = ChangeWriter(entry, own: reader.identity.origin)
            var values = entry.values
            var written: [Int: Value]?
            var isChanged = false
            for (column, domain) in linked {
                guard let wanted = numbers[domain],
                    let offset = entry.mask.offset(ofColumn: column, keyCount: keyCount), offset < values.count,
                    let number = KeyMeanings.number(values[offset]), wanted.contains(number)
                else { continue }
                if written == nil { written = try reader.written?.values(at: entry.seq) ?? [:] }
                let original = written?[column] ?? values[offset]
                let value = meanings.meaning(
                    of: original, in: domain, by: writer,
                    insert: entry.operation == .insert && column == 0 && domain == entry.tableID)
                guard value != values[offset] else { continue }
                values[offset] = value
                isChanged = true
                edits.append(Edit(seq: entry.seq, column: column, value: value, written: original))
            }
            guard isChanged else { return }
            let key = Key(values.prefix(keyCount), collations: shape.collations)
            let isMoved = key != entry.key
            for (name, keyValues) in [(entry.key, Array(entry.keyValues)), (key, Array(values.prefix(keyCount)))] {
                let row = TableKey(table: entry.tableID, key: name)
                let wasMoved = affected[row]?.isMoved ?? false
                affected[row] = AffectedRow(entry: shape, key: keyValues, isMoved: isMoved || wasMoved)
            }
            if isMoved { renamed.append((entry.seq, key)) }
        }
        for edit in edits {
            try WrittenValues.replace(edit.column, at: edit.seq, with: edit.value, written: edit.written, db)
        }
        for (seq, key) in renamed {
            try db.cachedStatement(sql: "UPDATE _journal_conflicts SET key = ? WHERE lost_seq = ?")
                .execute(arguments: [Data(key.bytes), seq])
        }
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
            rows.held.release(key)
            if let id = rows.id(of: key, entry: row.entry, values: row.key[...]) {
                rows.touchedGroups.insert(session.foreignKeys.group(of: id.table.name))
                try rows.remove(id)
            }
        }
        for (key, row) in all {
            if let merged = merged[key] {
                try backfill.show(key, merged, values, rows: rows, contested: contested, registry: registry)
            }
            try note(key, row, isAlive: merged[key]?.isAlive ?? false)
        }
        try VisibilityNotice.prune(db)
        try Lives.set(lives.sorted { $0.key < $1.key }.map { .init(table: $0.key.table, key: $0.key.key, life: $0.value) }, db)
        return lives
    }

    /// Tells followers of the journal that a row shows other values than its last entries say.
    private func note(_ key: TableKey, _ row: AffectedRow, isAlive: Bool) throws {
        guard let id = rows.id(of: key, entry: row.entry, values: row.key[...]) else { return }
        var image = RowImage()
        for (column, value) in zip(id.table.stored, id.values) { image.columns[column.name] = value }
        try VisibilityNotice.append(
            table: key.table, isAlive ? row.isMoved ? .insert : .update : .delete, key: image, to: db)
    }
}

extension KeyMeanings.Insert {
    func with(_ claim: MintedClaims.Claim) -> KeyMeanings.Insert {
        .init(claim: claim, writer: writer, stamp: stamp, isMinted: isMinted, shape: shape, columns: columns)
    }
}

extension KeyMeanings.Insert {
    /// The insert as the conflict ledger names it.
    var side: ConflictRecorder.Side {
        .init(origin: writer.origin, version: writer.version, life: 1, stamp: stamp, seq: claim.seq)
    }
}
