import GRDB
import Journal

/// What programs wrote with the keys of rows that had lost theirs, after a new identity has given the inserts of these
/// rows other names.
///
/// The key that such a row has instead follows from the name of its insert (``ContestedKey/newKey(table:key:origin:version:)``).
/// The changes that get the new origin's name are sent as their writer wrote them, and a key that follows from the
/// former name means no row to anybody. So it is as if the program had written the key that follows from the new one.
struct RenamedInserts {
    let outcome: NewIdentity.Outcome
    let domains: KeyDomains

    /// Call it in the transaction of the new identity, before ``Rekeying/refresh(_:session:functions:time:)`` gives the
    /// rows their keys.
    ///
    /// - Throws: ``JournalError/Code/corrupt`` when the journal is damaged; errors of SQLite. The transaction must then
    ///   be rolled back.
    func run(_ db: Database) throws {
        guard outcome.reissued > 0 else { return }
        let keys = try newKeys(KeyMeanings(db, domains: domains))
        guard !keys.isEmpty else { return }
        let reader = try JournalReader(db)
        let tables = keys.keys.reduce(into: Set<Int64>()) { $0.formUnion(domains.tables[$1.domain] ?? []) }
        var columns: [Int64: [(column: Int, domain: Int64)]] = [:]
        var edits: [WrittenValues.Meaning] = []
        let isOwn = { (origin: OriginID, _: Int64, _: VersionVector) in origin == outcome.new }
        try reader.scanEntries(tables: tables, ofRuns: isOwn) { entry in
            guard let shape = reader.registry[entry.shapeID] else { return }
            let linked = columns[entry.shapeID] ?? domains.columns(of: shape.shape)
            columns[entry.shapeID] = linked
            for (column, domain) in linked {
                guard let offset = entry.mask.offset(ofColumn: column, keyCount: shape.shape.keyCount),
                    offset < entry.values.count
                else { continue }
                let written = entry.written[column] ?? entry.values[offset]
                guard let number = KeyMeanings.number(written),
                    let new = keys[KeyMeanings.Name(domain: domain, key: number)]
                else { continue }
                edits.append(
                    .init(
                        seq: entry.seq, column: column, value: entry.values[offset],
                        written: KeyMeanings.value(new, like: written)))
            }
        }
        try WrittenValues.note(edits, db)
    }

    /// The keys that follow from the new names of inserts, by those that followed from their former names.
    private func newKeys(_ meanings: KeyMeanings) -> [KeyMeanings.Name: Int64] {
        var keys: [KeyMeanings.Name: Int64] = [:]
        for name in meanings.names {
            for insert in meanings.inserts(of: name) where insert.writer.origin == outcome.new {
                let former = ContestedKey.newKey(
                    table: insert.shape.wireName, key: name.key, origin: outcome.old,
                    version: insert.writer.version + outcome.kept)
                keys[.init(domain: name.domain, key: former)] = insert.newKey
            }
        }
        return keys
    }
}
