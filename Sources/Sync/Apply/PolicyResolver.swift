import GRDB
import Journal

/// Resolves rows with concurrent changes in tables whose policy is not ``MergePolicy/column``.
///
/// At the end of the transaction their merged state is computed again from all their changes, in one pass
/// over the journal.
final class PolicyResolver {
    private let db: Database
    private let session: ApplySession
    private let functions: ConflictFunctions
    private var rows: [TableKey: RowStore.RowID] = [:]

    init(_ db: Database, session: ApplySession, functions: ConflictFunctions) {
        self.db = db
        self.session = session
        self.functions = functions
    }

    func add(_ row: RowStore.RowID) { rows[row.key] = row }

    /// Adds the rows that are held for a missing function which is registered now.
    func addHeld(of store: RowStore) throws {
        for (key, held) in try store.held.rows(for: .policy) {
            guard let (context, table) = session.table(key.table, registry: store.registry),
                function(of: context) != nil
            else { continue }
            guard let values = table.key(of: held.image) else { continue }
            add(RowStore.RowID(key: key, context: context, table: table, values: values))
        }
    }

    /// Writes the rows as the policies merge them.
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

    /// Makes a row show `image`. A column that only losing versions carry gets its default, because the table
    /// may show the value of such a version.
    private func replace(
        _ row: RowStore.RowID, with image: KeyHistory<Value>.Image, of history: KeyHistory<Value>, isWhole: Bool,
        in store: RowStore
    ) throws {
        var image = image
        if isWhole {
            let defaults = try session.defaults(of: row.context, row.table)
            for change in history.changes {
                for column in change.cells.keys where column < defaults.count && image[column] == nil {
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
        _ function: ConflictFunctions.Function, row: RowStore.RowID, _ earlier: KeyHistory<Value>.Image,
        _ later: KeyHistory<Value>.Image
    ) -> KeyHistory<Value>.Image {
        let key = Dictionary(
            zip(row.table.stored.map(\.name), row.values).map { ($0, $1) }, uniquingKeysWith: { first, _ in first })
        let decided = function(key, named(earlier, row), named(later, row))
        var image = later
        for (column, definition) in row.table.stored.enumerated() where column >= row.table.keyCount {
            if let value = decided[definition.name] { image[column] = value }
        }
        return image
    }

    private func named(_ image: KeyHistory<Value>.Image, _ row: RowStore.RowID) -> ConflictFunctions.Version {
        var version: ConflictFunctions.Version = [:]
        for (column, value) in image where column < row.table.stored.count {
            version[row.table.stored[column].name] = value
        }
        return version
    }

    /// The histories of the rows that are alive. A dead row needs no decision.
    private func readHistories() throws -> [TableKey: (KeyHistory<Value>, isWhole: Bool)] {
        let merged = try session.mergedRows(of: Set(rows.keys.map(\.table)), among: Set(rows.keys), in: db)
        let values = JournalValues(db)
        return try merged.filter(\.value.isAlive).mapValues { row in
            (try row.history.map(values.value(of:)), isWhole: row.isWhole)
        }
    }
}

extension RowStore {
    /// Makes a row show `image` in all columns that it has.
    fileprivate func replace(_ row: RowID, with image: KeyHistory<Value>.Image, isWhole: Bool) throws {
        var columns = ColumnMask()
        var values = [Value?](repeating: nil, count: row.table.stored.count)
        for (column, value) in image where column < values.count {
            values[column] = value
            columns.insert(column)
        }
        if try held[row.key]?.reason == .policy { try release(row) }
        try write(columns, isWhole: isWhole, row: row, image: values)
    }

    /// Holds a row whose conflict needs a function that is not registered here.
    fileprivate func holdUndecided(_ row: RowID, function: String) throws {
        guard try held[row.key]?.reason != .policy else { return }
        var image = try setAside(row)?.image
        if image == nil, let visible = try session.writer(of: row.context, row.table).select(key: row.values) {
            image = RowImage(visible, of: row.table)
            try remove(row)
        }
        guard let image else { return }
        try held.hold(
            row.key, HeldRow(reason: .policy, detail: "the function \(function) is not registered here", image: image))
    }

    /// Releases a held row and shows what was held.
    private func release(_ row: RowID) throws {
        guard let before = try setAside(row) else { return }
        try held.release(row.key)
        try show(row, before.image)
    }
}
