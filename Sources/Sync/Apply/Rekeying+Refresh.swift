import GRDB
import Journal

extension Rekeying {
    /// Brings the claims up to date with a new schema or identity: columns may have become references, and a
    /// table whose changes arrived before the table was here may have contested keys.
    ///
    /// Call it inside a transaction of the merge connection, before rows are backfilled and changes are
    /// applied.
    static func refresh(_ db: Database, session: ApplySession, functions: ConflictFunctions, time: Double) throws {
        let registry = try ShapeRegistry(db)
        let due = Backfill.due(registry, session: session).filter { session.domains.tables[$0] != nil }
        let isEmpty = try MintedClaims.isEmpty(db)
        let missing = try MintedClaims.missing(db)
        guard !due.isEmpty || !isEmpty || !missing.isEmpty else { return }
        let meanings = try KeyMeanings(db, domains: session.domains)
        var found = try due.isEmpty ? [] : addClaims(in: due, to: meanings, db)
        found.formUnion(try addRows(coveredAt: missing, to: meanings, session, db))
        let isOutdated = try !isEmpty && MintedClaims.State(db)?.basis != session.mintedBasis
        guard !found.isEmpty || isOutdated else { return }
        let contested = PolicyResolver(db, session: session, functions: functions)
        let rows = try RowStore(db, session: session, registry: registry)
        let outcome = try Rekeying(db: db, session: session, rows: rows, contested: contested, time: time)
            .settle(isOutdated ? Set(meanings.names) : found, meanings)
        _ = try Rekeying.record(outcome.moves, origins: OriginTable(db), time: time, db)
        try contested.resolve(into: rows)
        try rows.updateVisibility(all: true)
    }

    /// Finds the rows whose keys SQLite chose again here while they were held.
    ///
    /// - Parameter seqs: The positions of the inserts that took the keys.
    private static func addRows(
        coveredAt seqs: [Int64], to meanings: KeyMeanings, _ session: ApplySession, _ db: Database
    ) throws -> Set<KeyMeanings.Name> {
        guard !seqs.isEmpty else { return [] }
        let inserts = try JournalReader(db).entries(at: seqs).values.filter {
            session.domains.tables[$0.tableID] != nil
        }
        guard !inserts.isEmpty else { return [] }
        let keys = inserts.flatMap { insert in
            insert.contestableKey.map { meanings.rows(of: .init(domain: insert.tableID, key: $0)) } ?? []
        }
        return try addClaims(in: Set(inserts.map(\.tableID)), of: Set(keys), to: meanings, db)
    }

    /// Contested rows whose entries are in memory at the same time.
    private static let rowsAtOnce = 1_000

    /// Finds the contested keys of tables.
    ///
    /// - Parameter keys: The rows to look at; nil for all.
    private static func addClaims(
        in tables: Set<Int64>, of keys: Set<TableKey>? = nil, to meanings: KeyMeanings, _ db: Database
    ) throws -> Set<KeyMeanings.Name> {
        let reader = try JournalReader(db)
        var positions: [TableKey: [Int64]] = [:]
        try reader.scan(tables: tables) { change in
            guard change.operation == .insert, change.shape.shape.keyCount == 1 else { return }
            let row = TableKey(table: change.shape.table, key: change.key)
            if keys?.contains(row) ?? true { positions[row, default: []].append(change.seq) }
        }
        // The inserts of one key may be those of several rows.
        let scattered = meanings.names.filter { tables.contains($0.domain) }.map { name in
            (name.domain, meanings.rows(of: name).flatMap { positions[$0] ?? [] })
        }
        var found: Set<KeyMeanings.Name> = []
        let groups = (positions.map { ($0.key.table, $0.value) } + scattered).filter { $0.1.count > 1 }
            .sorted { $0.1[0] < $1.1[0] }
        var entries: [Int64: JournalEntry] = [:]
        for (index, (table, seqs)) in groups.enumerated() {
            // Of many rows at once: to begin to read costs more than to read an entry.
            if index % rowsAtOnce == 0 {
                entries = try mintedGroups(of: groups[index...].prefix(rowsAtOnce).map(\.1), reader)
            }
            let inserts = try seqs.compactMap { seq -> KeyMeanings.Insert? in
                guard let entry = entries[seq], let shape = reader.registry[entry.shapeID],
                    let key = entry.contestableKey
                else { return nil }
                return try .init(.init(seq: seq, table: table, key: key, moved: nil), entry, shape, reader)
            }
            for insert in inserts where inserts.contains(where: { insert.contests($0) }) {
                let name = KeyMeanings.Name(domain: table, key: insert.claim.key)
                guard !meanings.inserts(of: name).contains(where: { $0.claim.seq == insert.claim.seq }) else {
                    continue
                }
                meanings.add(insert)
                found.insert(name)
            }
        }
        return found
    }

    /// Reads the inserts of each group that has a minted one. The values of others may be large, and keys that
    /// programs gave are no contest.
    private static func mintedGroups(
        of groups: [[Int64]], _ reader: JournalReader
    ) throws -> [Int64: JournalEntry] {
        let minted = try reader.entries(at: groups.flatMap(\.self)) { _, isMinted in isMinted }
        let others = groups.filter { $0.contains { minted[$0] != nil } }.flatMap(\.self).filter { minted[$0] == nil }
        return try minted.merging(reader.entries(at: others)) { known, _ in known }
    }
}

extension JournalEntry {
    /// The key that this insert may contest: the one that its writer wrote, whatever row that means here.
    var contestableKey: Int64? { (written[0] ?? values.first).flatMap(KeyMeanings.number) }
}

extension KeyMeanings.Insert {
    /// True for two concurrent inserts of one key, unless both keys were given, and when one took the key of
    /// the other while that was held. The life of such an insert goes on with that of the held row: rows that had
    /// the key in earlier lives are gone, and have left the journal where it was compacted.
    func contests(_ other: KeyMeanings.Insert) -> Bool {
        guard claim.seq != other.claim.seq, claim.key == other.claim.key, isMinted || other.isMinted else {
            return false
        }
        switch (writer.saw(other.writer), other.writer.saw(writer)) {
        case (false, false): return true
        case (true, _): return isCovering && other.life >= life
        case (false, true): return other.isCovering && life >= other.life
        }
    }
}
