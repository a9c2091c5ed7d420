import GRDB
import Journal

/// Rows of tables with a policy of their own that were changed by writers who had not seen each other.
///
/// Their merged state is worked out anew from all their changes, at the end of the transaction: one pass over the journal for all.
final class PolicyResolver {
    private let db: Database
    private let session: ApplySession
    private let functions: ConflictFunctions
    private var rows: [ConcurrentChanges.TableKey: RowStore.RowID] = [:]

    init(_ db: Database, session: ApplySession, functions: ConflictFunctions) {
        self.db = db
        self.session = session
        self.functions = functions
    }

    func add(_ row: RowStore.RowID) { rows[row.key] = row }

    /// Takes up the rows that were held for want of a function that is there now.
    func addHeld(of store: RowStore) throws {
        for (key, held) in store.held.rows where held.reason == .policy {
            guard let (context, table) = session.table(key.table, registry: store.registry),
                function(of: context) != nil
            else { continue }
            let values = table.stored.prefix(table.keyCount).compactMap { held.image.columns[$0.name] }
            guard values.count == table.keyCount else { continue }
            add(RowStore.RowID(key: key, context: context, table: table, values: values))
        }
    }

    /// Writes what the policies make of the rows.
    func resolve(into store: RowStore) throws {
        guard !rows.isEmpty else { return }
        let histories = try readHistories()
        for (key, row) in rows.sorted(by: { $0.key < $1.key }) {
            guard let (history, isWhole) = histories[key] else { continue }
            switch session.policy(ofTable: row.table.name) {
            case .column: continue
            case .row: try replace(row, with: history.latestRow(), of: history, isWhole: isWhole, in: store)
            case .custom(let name):
                guard history.hasConflict else {
                    try replace(row, with: history.latestRow(), of: history, isWhole: isWhole, in: store)
                    continue
                }
                guard let function = functions[name] else {
                    try store.holdUndecided(row, function: name)
                    continue
                }
                let image = history.row { earlier, later in
                    decide(function, row: row, earlier, later)
                }
                try replace(row, with: image, of: history, isWhole: isWhole, in: store)
            }
        }
        rows = [:]
    }

    // MARK: - Pieces

    /// Makes a row show `image`, and the default in each column that only versions carry that lost: one of them may stand in the table.
    private func replace(
        _ row: RowStore.RowID, with image: KeyHistory.Image, of history: KeyHistory, isWhole: Bool, in store: RowStore
    ) throws {
        var image = image
        if isWhole {
            let defaults = try session.defaults(of: row.context, row.table)
            for change in history.changes {
                for column in change.values.keys where column < defaults.count && image[column] == nil {
                    if let value = defaults[column] { image[column] = value }
                }
            }
        }
        try store.replace(row, with: image, isWhole: isWhole)
    }

    private func function(of context: TableContext) -> ConflictFunctions.Function? {
        guard let table = context.inspection, case .custom(let name) = session.policy(ofTable: table.name)
        else {
            return nil
        }
        return functions[name]
    }

    private func decide(
        _ function: ConflictFunctions.Function, row: RowStore.RowID, _ earlier: KeyHistory.Image,
        _ later: KeyHistory.Image
    ) -> KeyHistory.Image {
        let key = Dictionary(
            zip(row.table.stored.map(\.name), row.values).map { ($0, $1) }, uniquingKeysWith: { first, _ in first })
        let decided = function(key, named(earlier, row), named(later, row))
        var image = later
        for (column, definition) in row.table.stored.enumerated() where column >= row.table.keyCount {
            if let value = decided[definition.name] { image[column] = value }
        }
        return image
    }

    private func named(_ image: KeyHistory.Image, _ row: RowStore.RowID) -> ConflictFunctions.Version {
        var version: ConflictFunctions.Version = [:]
        for (column, value) in image where column < row.table.stored.count {
            version[row.table.stored[column].name] = value
        }
        return version
    }

    private func readHistories() throws -> [ConcurrentChanges.TableKey: (KeyHistory, isWhole: Bool)] {
        var changes: [ConcurrentChanges.TableKey: [ScannedChange]] = [:]
        try JournalReader(db).scan(tables: Set(rows.keys.map(\.table))) { change in
            let key = ConcurrentChanges.TableKey(table: change.shape.table, key: change.key)
            guard rows[key] != nil, session.context(of: change.shape).translation(of: change.shape).hasSameKey else {
                return
            }
            let life = changes[key]?.first?.life ?? 0
            if change.life > life { changes[key] = [] }
            if change.life >= life { changes[key, default: []].append(change) }
        }
        let values = JournalValues(db)
        // Of a dead row there is nothing to decide.
        return try changes.filter { $0.value.first.map { $0.life % 2 == 1 } ?? false }.mapValues { changes in
            let history = try changes.map { change in
                let translation = session.context(of: change.shape).translation(of: change.shape)
                var image: KeyHistory.Image = [:]
                try change.mask.forEach { column in
                    guard column >= change.shape.shape.keyCount else { return }
                    image[translation.positions[column]] = try values.value(at: change.seq, column: column)
                }
                return KeyHistory.Change(
                    claim: WriteOrder(stamp: change.stamp, origin: change.origin), version: change.version,
                    known: change.known, values: image)
            }
            return (KeyHistory(changes: history), isWhole: changes.contains { $0.operation == .insert })
        }
    }
}

extension RowStore {
    /// Makes a row show `image` in all columns that it has.
    fileprivate func replace(_ row: RowID, with image: KeyHistory.Image, isWhole: Bool) throws {
        var columns = ColumnMask()
        var values = [Value?](repeating: nil, count: row.table.stored.count)
        for (column, value) in image where column < values.count {
            values[column] = value
            columns.insert(column)
        }
        if held[row.key]?.reason == .policy { try release(row) }
        try write(columns, isWhole: isWhole, row: row, image: values)
    }

    /// Sets a row aside whose conflict nobody here can decide.
    fileprivate func holdUndecided(_ row: RowID, function: String) throws {
        guard held[row.key]?.reason != .policy else { return }
        var image = try setAside(row)?.image
        if image == nil, let visible = try session.writer(of: row.context, row.table).select(key: row.values) {
            image = RowImage(visible, of: row.table)
            try remove(row)
        }
        guard let image else { return }
        held.hold(
            row.key, HeldRow(reason: .policy, detail: "the function \(function) is not registered here", image: image))
    }

    /// Forgets that a row was held; what it had is written anew.
    private func release(_ row: RowID) throws {
        guard let before = try setAside(row) else { return }
        held.release(row.key)
        try show(row, before.image)
    }
}
