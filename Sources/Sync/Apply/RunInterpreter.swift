import GRDB
import Journal

/// Gives the changes of an incoming run the meaning that they have here, before they are merged.
///
/// It lives for one transaction.
final class RunInterpreter {
    private let db: Database
    private let session: ApplySession
    private let rekeying: Rekeying
    private let meanings: KeyMeanings
    /// The columns of minted keys, by shape.
    private var columns: [Int64: [(column: Int, domain: Int64)]] = [:]

    init(
        _ db: Database, session: ApplySession, meanings: KeyMeanings, rows: RowStore, contested: PolicyResolver,
        time: Double
    ) {
        self.db = db
        self.session = session
        rekeying = Rekeying(db: db, session: session, rows: rows, contested: contested, time: time)
        self.meanings = meanings
    }

    /// A part of a run, and where it will be in the journal.
    struct Part {
        let run: Run
        let range: Range<Int>
        let firstVersion: Int64
        let firstSeq: Int64
        /// The local entries of the shapes of the batch.
        let entries: [ShapeRegistry.Entry]

        func writer(at index: Int) -> ChangeWriter {
            ChangeWriter(
                origin: run.origin, version: firstVersion + Int64(index - range.lowerBound), known: run.known)
        }

        func seq(at index: Int) -> Int64 { firstSeq + Int64(index - range.lowerBound) }
    }

    /// Finds the keys that inserts of the part contest with inserts that are here.
    func contestedKeys(
        _ part: Part, of batch: ChangeBatch, _ concurrent: ConcurrentChanges, registry: ShapeRegistry
    ) throws -> Set<KeyMeanings.Name> {
        guard !session.domains.isEmpty else { return [] }
        // Most runs meet no change of their tables that their writer had not seen.
        let isReached = part.entries.map { !concurrent.reaches(inTable: $0.table).isEmpty }
        let hasCovering = Set(part.range.filter { batch.changes[$0].isCovering }.map { batch.changes[$0].shape })
        let mayContest = part.entries.indices.map { index in
            let entry = part.entries[index]
            return entry.shape.keyCount == 1
                && (isReached[index] || hasCovering.contains(index) || meanings.has(entry.table))
                && linked(entry).first.map { $0.column == 0 && $0.domain == entry.table } == true
        }
        let inserts = part.range.compactMap { index -> (index: Int, name: KeyMeanings.Name)? in
            let change = batch.changes[index]
            guard change.operation == .insert, mayContest[change.shape],
                let key = KeyMeanings.number(batch.values[change.values.lowerBound])
            else { return nil }
            return (index, KeyMeanings.Name(domain: part.entries[change.shape].table, key: key))
        }
        guard !inserts.isEmpty else { return [] }
        var found: Set<KeyMeanings.Name> = []
        let reader = try JournalReader(db)
        var unseen = UnseenInserts(reader)
        for (index, name) in inserts where isReached[batch.changes[index].shape] {
            unseen.want(unseenInserts(of: name, concurrent, registry), against: batch.changes[index])
        }
        var held = try hasCovering.isEmpty ? [:] : heldInserts(part, batch)
        for (index, name) in inserts {
            let change = batch.changes[index]
            let (entry, key) = (part.entries[change.shape], name.key)
            let known = meanings.inserts(of: name)
            let insert = KeyMeanings.Insert(
                claim: .init(seq: part.seq(at: index), table: entry.table, key: key, moved: nil),
                writer: part.writer(at: index), stamp: change.stamp, life: change.life, isMinted: change.isMinted,
                isCovering: change.isCovering, shape: entry,
                columns: columns(of: change, batch, keyCount: entry.shape.keyCount))
            var rivals = (held[name] ?? []).filter { other in !known.contains { $0.claim.seq == other.claim.seq } }
            // A later insert of the part may take the key of this row.
            held[name]?.append(insert)
            if isReached[change.shape] {
                let seqs = Set(unseenInserts(of: name, concurrent, registry))
                    .subtracting((known + rivals).map(\.claim.seq))
                // Claims of the part may have given its key to further rows.
                unseen.want(seqs, against: change)
                try unseen.read()
                for seq in seqs.sorted() {
                    guard let other = unseen.entries[seq], other.contestableKey == key,
                        let shape = reader.registry[other.shapeID]
                    else { continue }
                    rivals.append(
                        try .init(.init(seq: seq, table: entry.table, key: key, moved: nil), other, shape, reader))
                }
            }
            rivals = rivals.filter(insert.contests)
            guard !rivals.isEmpty || known.contains(where: insert.contests) else { continue }
            for claim in rivals + [insert] { meanings.add(claim) }
            found.insert(name)
        }
        return found
    }

    /// Settles who has contested keys, in the journal and the tables.
    func settle(_ names: Set<KeyMeanings.Name>) throws -> Rekeying.Outcome { try rekeying.settle(names, meanings) }

    /// Replaces keys and references by what they mean here.
    ///
    /// - Returns: The batch, and the values that its writer did not write.
    func interpret(_ part: Part, of batch: ChangeBatch) -> (batch: ChangeBatch, replaced: [WrittenValues.Meaning]) {
        guard !meanings.isEmpty else { return (batch, []) }
        var result = batch
        var replaced: [WrittenValues.Meaning] = []
        for index in part.range {
            let change = batch.changes[index]
            let entry = part.entries[change.shape]
            for (column, domain) in linked(entry) {
                guard let offset = change.mask.offset(ofColumn: column, keyCount: entry.shape.keyCount) else {
                    continue
                }
                let place = change.values.lowerBound + offset
                let written = batch.values[place]
                let value = meanings.meaning(
                    of: written, in: domain, by: part.writer(at: index),
                    insert: change.operation == .insert && column == 0 && domain == entry.table)
                guard value != written else { continue }
                result.values[place] = value
                replaced.append(.init(seq: part.seq(at: index), column: column, value: value, written: written))
            }
        }
        return (result, replaced)
    }

    /// True when the key of a row contains a contested one, by the values that it has here.
    func isContested(_ key: ArraySlice<Value>, of entry: ShapeRegistry.Entry) -> Bool {
        guard !meanings.isEmpty else { return false }
        return linked(entry).contains { column, domain in
            column < key.count && meanings.isContested(key[key.startIndex + column], in: domain)
        }
    }

    // MARK: - Pieces

    /// The positions of the inserts of a key's rows that the writer of the run had not seen.
    private func unseenInserts(
        of name: KeyMeanings.Name, _ concurrent: ConcurrentChanges, _ registry: ShapeRegistry
    ) -> [Int64] {
        meanings.rows(of: name)
            .flatMap { concurrent.unseenWrites(table: name.domain, key: $0.key, registry: registry) }
            .filter { $0.operation == .insert }.map(\.seq)
    }

    /// The inserts in the journal of the keys that inserts of the part took while their rows were held.
    private func heldInserts(_ part: Part, _ batch: ChangeBatch) throws -> [KeyMeanings.Name: [KeyMeanings.Insert]] {
        var found: [KeyMeanings.Name: [KeyMeanings.Insert]] = [:]
        for index in part.range where batch.changes[index].isCovering {
            let change = batch.changes[index]
            guard let key = KeyMeanings.number(batch.values[change.values.lowerBound]) else { continue }
            found[KeyMeanings.Name(domain: part.entries[change.shape].table, key: key)] = []
        }
        let reader = try JournalReader(db)
        let isWanted = { (_: OriginID, _: Int64, _: VersionVector) in true }
        try reader.scanEntries(tables: Set(found.keys.map(\.domain)), ofRuns: isWanted) { entry in
            guard entry.operation == .insert, let shape = reader.registry[entry.shapeID],
                let key = entry.contestableKey, found[KeyMeanings.Name(domain: entry.tableID, key: key)] != nil
            else { return }
            found[KeyMeanings.Name(domain: entry.tableID, key: key)]?.append(
                try .init(.init(seq: entry.seq, table: entry.tableID, key: key, moved: nil), entry, shape, reader))
        }
        return found
    }

    private func linked(_ entry: ShapeRegistry.Entry) -> [(column: Int, domain: Int64)] {
        if let known = columns[entry.id] { return known }
        let found = session.domains.columns(of: entry.shape)
        columns[entry.id] = found
        return found
    }

    private func columns(
        of change: Change, _ batch: ChangeBatch, keyCount: Int
    ) -> [(column: Int, value: Value)] {
        var columns: [(column: Int, value: Value)] = []
        var next = change.values.lowerBound + keyCount
        change.mask.forEach { column in
            guard column >= keyCount else { return }
            columns.append((column, batch.values[next]))
            next += 1
        }
        return columns
    }
}

/// Local inserts that inserts of a part may contest, read many at once: to begin to read costs more than to read an
/// entry. Two keys that programs gave are no contest, so the values of such rows, which may be large, stay on disk.
private struct UnseenInserts {
    private let reader: JournalReader
    private(set) var entries: [Int64: JournalEntry] = [:]
    /// The positions to read, and whether also an insert whose key its program gave is wanted there.
    private var wanted: [Int64: Bool] = [:]
    /// What was wanted and read.
    private var sought: [Int64: Bool] = [:]

    init(_ reader: JournalReader) { self.reader = reader }

    /// Asks for the inserts at positions that the insert `change` may contest.
    mutating func want(_ seqs: some Sequence<Int64>, against change: Change) {
        for seq in seqs where sought[seq] != true && (change.isMinted || sought[seq] == nil) {
            wanted[seq] = change.isMinted || wanted[seq] == true
        }
    }

    /// Reads what is wanted and was not read.
    ///
    /// - Throws: ``JournalError/Code/corrupt`` for a malformed entry or run; errors of SQLite.
    mutating func read() throws {
        guard !wanted.isEmpty else { return }
        let found = try reader.entries(at: Array(wanted.keys)) { seq, isMinted in isMinted || wanted[seq] == true }
        entries.merge(found) { _, new in new }
        sought.merge(wanted) { $0 || $1 }
        wanted = [:]
    }
}
