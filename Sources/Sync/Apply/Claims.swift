import GRDB
import Journal

/// By what right a row holds its UNIQUE values: the latest change of its life to one of them (decision 0008, rule 2).
///
/// Earlier claims are smaller, and stronger.
struct Claim: Hashable, Comparable {
    var stamp: Stamp
    var origin: OriginID

    /// Of a row of which the journal tells nothing: it was there before everything else.
    static let eldest = Claim(stamp: .zero, origin: OriginID(high: 0, low: 1))

    static func < (a: Claim, b: Claim) -> Bool { (a.stamp, a.origin) < (b.stamp, b.origin) }
}

/// Reads claims from the journal. Needed for rows that take part in a clash only, so one pass over the journal for each time that
/// new ones turn up is cheaper than keeping claims for all.
final class ClaimReader {
    private let db: Database
    private let session: ApplySession
    private var known: [ConcurrentChanges.TableKey: Claim] = [:]

    init(_ db: Database, session: ApplySession) {
        self.db = db
        self.session = session
    }

    /// The claims of `rows`, one for each.
    func claims(of rows: [RowStore.RowID]) throws -> [Claim] {
        let missing = try rows.filter {
            try known[$0.key] == nil && !session.uniqueColumns(of: $0.context, $0.table).isEmpty
        }
        if !missing.isEmpty { try read(missing) }
        return rows.map { known[$0.key] ?? .eldest }
    }

    private struct Latest {
        var life: Int64 = 0
        var claim = Claim.eldest
    }

    private func read(_ rows: [RowStore.RowID]) throws {
        var latest: [ConcurrentChanges.TableKey: Latest] = [:]
        var columns: [Int64: ColumnMask] = [:]
        for row in rows {
            latest[row.key] = Latest()
            columns[row.key.table] = try session.uniqueColumns(of: row.context, row.table)
        }
        let reader = try JournalReader(db)
        try reader.scan(tables: Set(columns.keys)) { change in
            let key = ConcurrentChanges.TableKey(table: change.shape.table, key: change.key)
            guard var entry = latest[key], change.life >= entry.life else { return }
            if change.life > entry.life { entry = Latest(life: change.life) }
            let context = session.context(of: change.shape)
            let claims = !context.columns(change.mask, of: change.shape)
                .intersection(columns[key.table] ?? ColumnMask()).isEmpty
            if claims { entry.claim = max(entry.claim, Claim(stamp: change.stamp, origin: change.origin)) }
            latest[key] = entry
        }
        for (key, entry) in latest { known[key] = entry.claim }
    }
}
