import Journal

/// An event of one model and commit that is ready to be sent.
struct ChangeEvent {
    /// The number of the commit.
    let group: Int
    /// The position of its first change; `Int64.max` for a write of the running transaction.
    let first: Int64
    let send: () -> Void
}

/// The changes of one model in a transaction, or in a read of the journal.
protocol ChangeLog: AnyObject {
    var isTracked: Bool { get set }
    /// While true, nothing is recorded for listeners.
    var isSilent: Bool { get set }
    /// The number of records; a mark for ``truncate(to:)``.
    var count: Int { get }
    func note(_ entry: TailEntry, group: Int)
    /// Records that any row may have changed.
    func noteAnyRow(origin: OriginID?, group: Int, seq: Int64)
    /// Registers the objects of rows that got another key under that key, and returns them.
    func move(_ moves: [(from: TailEntry, to: TailEntry)]) -> [any Refreshable]
    /// Returns the objects in memory that the recorded entries touched, and empties the list.
    func takeAffected() -> [any Refreshable]
    func truncate(to count: Int)
    /// Marks all records so far as agreeing with the journal.
    func confirm()
    /// Drops what was recorded since ``confirm()``; the journal is read instead.
    func dropUnconfirmed()
    /// Returns what sends the event of each group of records after position `seen`.
    func events(after seen: Int64) -> [ChangeEvent]
}

/// The log of one model.
///
/// Records come from the journal's entries, or directly from the saves of a transaction when a count proves
/// that the journal holds nothing else. They are kept only while there is a listener.
final class ModelLog<M: Model>: ChangeLog {
    private struct Record {
        /// nil for a key that the model cannot decode.
        let id: M.ID?
        let operation: Journal.Operation
        let columns: Set<String>
        let origin: OriginID?
        let group: Int
        /// The journal position; `Int64.max` for a write of the running transaction.
        let seq: Int64
    }

    let registry: LiveInstances<M>
    private var records: [Record] = []
    private var confirmed = 0
    private var affected: [ExactKey: M] = [:]
    private var keyOrders: [Int64: [Int]] = [:]
    private var lastUpdate: (shape: Int64, mask: ColumnMask, columns: Set<String>)?
    private let allColumns = Set(M.schema.columns.map(\.name))
    var isTracked = true
    var isSilent = false

    init(_ registry: LiveInstances<M>) { self.registry = registry }

    var count: Int { records.count }

    /// True while a listener needs the records.
    var isRecording: Bool { registry.hasListeners && !isSilent }

    func note(_ entry: TailEntry, group: Int) {
        let id = key(of: entry)
        if let id, let object = registry.cached(id) { affected[M.Fields._exact(id)] = object }
        guard isRecording else { return }
        records.append(
            Record(
                id: id, operation: entry.operation, columns: columns(of: entry), origin: entry.origin, group: group,
                seq: entry.seq))
    }

    /// Records what this transaction did to one row.
    func note(_ id: M.ID, _ operation: Journal.Operation, columns: [String], group: Int) {
        guard isRecording else { return }
        records.append(
            Record(
                id: id, operation: operation, columns: operation == .insert ? allColumns : Set(columns), origin: nil,
                group: group, seq: .max))
    }

    func noteAnyRow(origin: OriginID?, group: Int, seq: Int64) {
        for object in registry.objects { affected[object._exactKey] = object }
        guard isRecording else { return }
        records.append(Record(id: nil, operation: .update, columns: [], origin: origin, group: group, seq: seq))
    }

    func move(_ moves: [(from: TailEntry, to: TailEntry)]) -> [any Refreshable] {
        let keys = moves.compactMap { move in
            key(of: move.from).flatMap { from in key(of: move.to).map { (from: from, to: $0) } }
        }
        return registry.move(keys).map { MovedObject<M>(object: $0.object, key: $0.key) }
    }

    func takeAffected() -> [any Refreshable] {
        defer { affected = [:] }
        return affected.values.map { RefreshableObject<M>(object: $0) }
    }

    func truncate(to count: Int) {
        records.removeLast(records.count - count)
        confirmed = min(confirmed, count)
    }

    func confirm() { confirmed = records.count }

    func dropUnconfirmed() { records.removeLast(records.count - confirmed) }

    func events(after seen: Int64) -> [ChangeEvent] {
        var events: [ChangeEvent] = []
        var start = records.startIndex
        while start < records.endIndex {
            let group = records[start].group
            let end = records[start...].firstIndex { $0.group != group } ?? records.endIndex
            if let change = coalesce(records[start..<end].filter { $0.seq > seen }) {
                let first = records[start].seq
                events.append(ChangeEvent(group: group, first: first) { [registry] in registry.send(change) })
            }
            start = end
        }
        return events
    }

    // MARK: - One entry

    /// The key in the order of the model's properties, which may differ from the table's.
    private func key(of entry: TailEntry) -> M.ID? {
        let order: [Int]
        if let known = keyOrders[entry.shape.id] {
            order = known
        } else {
            let names = entry.shape.shape.keyColumns.map { SQLText.foldedName($0) }
            order = M.schema.key.compactMap { position in
                names.firstIndex(of: SQLText.foldedName(M.schema.columns[position].name))
            }
            keyOrders[entry.shape.id] = order
        }
        return try? M.Fields._key(of: KeyValues(values: order.map { entry.key[$0] }))
    }

    private func columns(of entry: TailEntry) -> Set<String> {
        switch entry.operation {
        case .insert: return allColumns
        case .delete: return []
        case .update:
            if let lastUpdate, lastUpdate.shape == entry.shape.id, lastUpdate.mask == entry.mask {
                return lastUpdate.columns
            }
            let columns = Set(entry.columns)
            lastUpdate = (entry.shape.id, entry.mask, columns)
            return columns
        }
    }

    // MARK: - One commit

    private func coalesce(_ records: [Record]) -> ModelChange<M>? {
        var order: [ExactKey] = []
        var changes: [ExactKey: RowChange<M>] = [:]
        var isComplete = true
        for record in records {
            guard let id = record.id else {
                isComplete = false
                continue
            }
            let exact = M.Fields._exact(id)
            if changes[exact] == nil {
                guard changes.count < ModelChange<M>.rowLimit else {
                    isComplete = false
                    continue
                }
                order.append(exact)
            }
            changes[exact] = merge(changes[exact], id, record)
        }
        // A key that was inserted and then deleted is in the order without a change; a key that was then
        // inserted again is in the order twice.
        let sent = order.compactMap { changes.removeValue(forKey: $0) }
        if sent.isEmpty, isComplete { return nil }
        let origin = records.first?.origin.map { ChangeOrigin.remote($0) } ?? .local
        return ModelChange(changes: sent, origin: origin, isComplete: isComplete)
    }

    private func merge(_ earlier: RowChange<M>?, _ id: M.ID, _ record: Record) -> RowChange<M>? {
        switch (earlier?.kind, record.operation) {
        case (.inserted, .delete): nil
        case (.inserted, _): RowChange(id: id, kind: .inserted, columns: allColumns)
        case (.deleted, .insert), (.updated, .insert): RowChange(id: id, kind: .updated, columns: allColumns)
        case (nil, .insert): RowChange(id: id, kind: .inserted, columns: allColumns)
        case (_, .delete): RowChange(id: id, kind: .deleted, columns: [])
        case (_, .update):
            RowChange(id: id, kind: .updated, columns: record.columns.union(earlier?.columns ?? []))
        }
    }
}
