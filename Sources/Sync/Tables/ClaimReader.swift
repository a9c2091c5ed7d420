import GRDB
import Journal

/// Reads claims from the journal, and keeps those that were asked for up to date.
///
/// Only rows that take part in a clash need a claim, so nothing is kept for the others. The first request for
/// a row costs a pass over the journal. After that only new journal entries are read. So a lasting clash,
/// whose rows are compared again in each transaction, costs in proportion to the transaction and not to the
/// journal.
final class ClaimReader {
    private let db: Database
    private var followed: [TableKey: MergedRow<Void>] = [:]
    /// The journal position up to which ``followed`` is up to date.
    private var position: Int64 = 0

    init(_ db: Database) { self.db = db }

    /// The claims of `rows`, one for each.
    func claims(of rows: [RowStore.RowID], session: ApplySession) throws -> [WriteOrder] {
        try catchUp(session)
        let missing = try rows.filter {
            try followed[$0.key] == nil && !session.uniqueColumns(of: $0.context, $0.table).isEmpty
        }
        if !missing.isEmpty { try follow(missing, session) }
        return try rows.map { row in
            try followed[row.key]?.claim(on: session.uniqueColumns(of: row.context, row.table)) ?? .eldest
        }
    }

    /// Forgets everything, because entries have moved to other keys.
    func reset() { followed = [:] }

    private func catchUp(_ session: ApplySession) throws {
        let end = try JournalReader.lastSeq(db)
        guard end != position else { return }
        if end < position || followed.count > Limits.followedRows { followed = [:] }
        if !followed.isEmpty { try read(from: position + 1, session) { self.followed[$0] != nil } }
        position = end
    }

    private func follow(_ rows: [RowStore.RowID], _ session: ApplySession) throws {
        let keys = Set(rows.map(\.key))
        for key in keys { followed[key] = MergedRow() }
        try read(from: 0, session, isWanted: keys.contains)
    }

    private func read(from seq: Int64, _ session: ApplySession, isWanted: (TableKey) -> Bool) throws {
        let tables = Set(followed.keys.map(\.table))
        try JournalReader(db).scan(tables: tables, from: seq) { change in
            let key = TableKey(table: change.shape.table, key: change.key)
            guard isWanted(key), followed[key] != nil else { return }
            let context = session.context(of: change.shape)
            guard let table = context.inspection else { return }
            let unique = try session.uniqueColumns(of: context, table)
            let translation = context.translation(of: change.shape)
            if let change = change.rowChange(in: translation, isWanted: unique.contains, cell: { _ in }) {
                followed[key]?.add(change)
            }
        }
    }
}
