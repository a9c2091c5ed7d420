import GRDB
import Journal

/// The rows in which the changes of one transaction met others that their writers had not seen.
///
/// What is lost there is recorded once, before the transaction ends. Recording each pair of changes as it
/// meets would cost the product of both sides where programs on two machines write one row again and again.
struct MetRows {
    private struct Row {
        let context: TableContext
        /// The changes that this transaction has applied.
        var arrived: [ScannedChange] = []
        /// The changes that they met, by their positions in the journal.
        var others: [Int64: ScannedChange] = [:]
    }

    private let db: Database
    private let time: Double
    private let ledger: ConflictRecorder
    private let values: JournalValues
    private var rows: [TableKey: Row] = [:]

    /// - Parameter time: The time of conflicts in the ledger, in seconds since 1970.
    init(_ db: Database, time: Double) {
        self.db = db
        self.time = time
        ledger = ConflictRecorder(db)
        values = JournalValues(db)
    }

    /// Notes changes that later ones of the transaction meet.
    mutating func add(_ others: [ScannedChange], to key: TableKey, _ context: TableContext) {
        for other in others { rows[key, default: Row(context: context)].others[other.seq] = other }
    }

    /// Notes a change that the transaction has appended.
    mutating func add(arrived change: ScannedChange, to key: TableKey, _ context: TableContext) {
        rows[key, default: Row(context: context)].arrived.append(change)
    }

    /// Records what the noted changes lose to each other, and forgets them.
    ///
    /// - Parameter origins: The origins that the file knows.
    /// - Returns: True when something was lost.
    mutating func record(origins: OriginTable) throws -> Bool {
        var isAnyLost = false
        for (key, row) in rows.sorted(by: { $0.key < $1.key }) {
            let arrived = Set(row.arrived.map(\.seq))
            let others = row.others.values.filter { !arrived.contains($0.seq) }.sorted { $0.seq < $1.seq }
            let losses = try MetRows.losses(
                among: row.arrived + others, arrived: row.arrived.count, row.context, values)
            // Oldest first: the order in which the ledger lists them.
            for loss in losses.sorted(by: { $0.lost.seq < $1.lost.seq }) {
                try ledger.record(
                    kind: loss.kind.entryKind, table: key.table, key: key.key, columns: loss.columns, lost: loss.lost,
                    kept: loss.kept, origins: origins, time: time)
            }
            if !losses.isEmpty { isAnyLost = true }
        }
        rows = [:]
        return isAnyLost
    }

    /// What a change lost, as the conflict ledger names it.
    struct LedgerLoss {
        let kind: ConflictKind
        let columns: [String]
        let lost: ConflictRecorder.Side
        let kept: ConflictRecorder.Side
    }

    /// Finds what changes of one row lose to each other.
    ///
    /// - Parameters:
    ///   - changes: The changes, in the journal, those that have arrived first.
    ///   - arrived: How many have arrived.
    static func losses(
        among changes: [ScannedChange], arrived: Int, _ context: TableContext, _ values: JournalValues
    ) throws -> [LedgerLoss] {
        let losses = try Merge.losses(
            among: changes.map { .init(RowWrite($0, in: context), known: $0.known) }, arrived: arrived,
            keyCount: context.keyCount, losesWhole: context.losesWhole,
            value: { index, column in
                let change = changes[index]
                guard let position = context.translation(of: change.shape).positions.firstIndex(of: column) else {
                    return .null
                }
                return try values.value(at: change.seq, column: position)
            })
        return losses.map { loss in
            var columns: [String] = []
            loss.columns.forEach { columns.append(context.names[$0]) }
            return LedgerLoss(
                kind: loss.kind, columns: columns, lost: .init(changes[loss.loser]), kept: .init(changes[loss.winner]))
        }
    }
}

extension RowWrite {
    /// A change in the journal, with its columns in the table's common space.
    init(_ change: ScannedChange, in context: TableContext) {
        self.init(
            order: change.order, version: change.version, life: change.life, operation: change.operation,
            columns: context.decided(change.mask, by: change.operation, of: change.shape))
    }
}

extension ConflictRecorder.Side {
    fileprivate init(_ change: ScannedChange) {
        self.init(version: change.version, life: change.life, order: change.order, seq: change.seq)
    }
}
