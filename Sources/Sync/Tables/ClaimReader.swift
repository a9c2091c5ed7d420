import GRDB
import Journal

/// By what right a row holds its UNIQUE values: the latest change of its life to one of them (decision 0008, rule 2).
///
/// Earlier claims are smaller, and stronger.
struct WriteOrder: Hashable, Comparable {
    var stamp: Stamp
    var origin: OriginID

    /// Of a row of which the journal tells nothing: it was there before everything else.
    static let eldest = WriteOrder(stamp: .zero, origin: OriginID(high: 0, low: 1))

    static func < (a: WriteOrder, b: WriteOrder) -> Bool { (a.stamp, a.origin) < (b.stamp, b.origin) }
}

/// Reads claims from the journal, and follows those that were asked for.
///
/// Needed for rows that take part in a clash only, so nothing is kept for all others: a row that is asked for the first time costs a
/// pass over the journal. From then on only what is new in the journal is looked at, so that a clash that lasts, whose rows
/// are weighed again in each transaction, costs by the transaction and not by the journal.
final class ClaimReader {
    private struct Latest {
        var life: Int64 = 0
        var claim = WriteOrder.eldest

        mutating func add(_ change: ScannedChange, isClaim: Bool) {
            guard change.life >= life else { return }
            if change.life > life { self = Latest(life: change.life) }
            if isClaim { claim = max(claim, WriteOrder(stamp: change.stamp, origin: change.origin)) }
        }
    }

    /// More rows than this are forgotten at once.
    private static let mostFollowed = 100_000

    private let db: Database
    private var followed: [ConcurrentChanges.TableKey: Latest] = [:]
    /// Up to this position the journal is in ``followed``.
    private var position: Int64 = 0

    init(_ db: Database) { self.db = db }

    /// The claims of `rows`, one for each.
    func claims(of rows: [RowStore.RowID], session: ApplySession) throws -> [WriteOrder] {
        try catchUp(session)
        let missing = try rows.filter {
            try followed[$0.key] == nil && !session.uniqueColumns(of: $0.context, $0.table).isEmpty
        }
        if !missing.isEmpty { try follow(missing, session) }
        return rows.map { followed[$0.key]?.claim ?? .eldest }
    }

    private func catchUp(_ session: ApplySession) throws {
        let end = try JournalReader.lastSeq(db)
        guard end != position else { return }
        if end < position || followed.count > ClaimReader.mostFollowed { followed = [:] }
        if !followed.isEmpty { try read(from: position + 1, session) { self.followed[$0] != nil } }
        position = end
    }

    private func follow(_ rows: [RowStore.RowID], _ session: ApplySession) throws {
        let keys = Set(rows.map(\.key))
        for key in keys { followed[key] = Latest() }
        try read(from: 0, session, isWanted: keys.contains)
    }

    private func read(
        from seq: Int64, _ session: ApplySession, isWanted: (ConcurrentChanges.TableKey) -> Bool
    ) throws {
        let tables = Set(followed.keys.map(\.table))
        try JournalReader(db).scan(tables: tables, from: seq) { change in
            let key = ConcurrentChanges.TableKey(table: change.shape.table, key: change.key)
            guard isWanted(key), var latest = followed[key] else { return }
            let context = session.context(of: change.shape)
            guard let table = context.inspection else { return }
            let columns = context.columns(change.mask, of: change.shape)
            let unique = try session.uniqueColumns(of: context, table)
            latest.add(change, isClaim: !columns.intersection(unique).isEmpty)
            followed[key] = latest
        }
    }
}
