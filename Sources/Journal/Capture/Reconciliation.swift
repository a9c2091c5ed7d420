import GRDB

/// Journals the difference between the rows that the journal implies for a table and the rows that the table
/// holds.
///
/// It is needed when writes bypassed the triggers: when a table was dropped and rebuilt, when a user's
/// trigger ran before capture's, and when a migration added, renamed or filled columns. It costs one pass
/// over the journal and one over the table's rows for each ``KeyPart``, and memory for one hash for each value of the
/// rows of a part.
///
/// Invariants:
/// 1. A value that a merge produced is never journalled, because no program wrote it. So each row is compared
///    with the row that merging would show, under the table's policy and in the form in which the columns
///    store values. Held rows and rows that a function decided are not compared.
/// 2. What rows here could not show was not seen by their writers. So for a *fresh* column, or a table that
///    was not tracked, the journal stands: a value that any change of the row ever carried is not journalled.
///    Only another value was written here, and it is journalled as concurrent with what it meets. See
///    docs/decisions/0015-migrations.md.
struct Reconciliation {
    /// What to compare.
    enum Scope {
        /// Only fresh columns: the triggers captured everything else.
        case freshColumns
        /// All columns, and which rows exist.
        case rows
        /// As ``rows``, and rows that stand where the journal holds one: capture and the journal are up to date, so a
        /// program inserted these.
        case recapture
        /// All columns of a table that was not tracked, or had another primary key. Rows that only the
        /// journal has were not deleted here. The rows with the keys `besides` are those of another table;
        /// they are removed, unless the journal has rows with these keys.
        case arrival(besides: Set<Key>)
        /// As ``rows``, of a table that was gone, without the rows that others changed meanwhile.
        case returned(DroppedTable, besides: Set<Key>)
        /// As ``arrival``, of some rows.
        case news(Set<Key>)

        /// True when only ``fresh`` columns tell what was written here, and no row was deleted here.
        var isArrival: Bool {
            switch self {
            case .arrival, .news: true
            case .freshColumns, .rows, .recapture, .returned: false
            }
        }

        /// True when rows that only the journal has were deleted here.
        var comparesRows: Bool {
            switch self {
            case .rows, .recapture, .returned: true
            case .freshColumns, .arrival, .news: false
            }
        }

        func contains(_ key: Key) -> Bool {
            switch self {
            case .freshColumns, .rows, .recapture: true
            case .returned(_, let others), .arrival(let others): !others.contains(key)
            case .news(let keys): keys.contains(key)
            }
        }
    }

    /// Who wrote what the triggers have not captured.
    enum Writer {
        /// Programs and migrations, and it is not known which. A value that the journal does not know may be
        /// a user's.
        case program
        /// A migration. Its values never win over those in the journal, except for columns that it renamed:
        /// they hold what users wrote under the old name.
        case migration
        /// Nobody knows: the table was excluded, and its rows are copies that may be old. Only rows that the
        /// journal does not know are journalled.
        case unknown
    }

    private let table: TableInspection
    private let entry: ShapeRegistry.Entry
    private let scope: Scope
    private let writer: Writer
    private let fresh: Set<Int>
    private let renamed: [Int: String]
    private let db: Database
    private let form: StoredForm
    private let rowsPerPart: Int64

    /// - Parameters:
    ///   - fresh: The columns that rows here have not shown so far, as indices of
    ///     ``TableInspection/stored``; ignored for a table that arrives, in which all are.
    ///   - renamed: The columns that had another name, with that name, folded. Each row has a value of them
    ///     that was written.
    ///   - rowsPerPart: About how many rows are compared at a time, 1 or more.
    init(
        _ table: TableInspection, entry: ShapeRegistry.Entry, scope: Scope = .rows, writer: Writer = .program,
        fresh: Set<Int> = [], renamed: [Int: String] = [:], rowsPerPart: Int64 = JournalLimits.comparedRows,
        _ db: Database
    ) {
        self.table = table
        self.entry = entry
        self.scope = scope
        self.writer = writer
        self.fresh = scope.isArrival ? Set(table.keyCount..<table.stored.count) : fresh
        self.renamed = renamed
        self.db = db
        form = StoredForm(table, db)
        self.rowsPerPart = rowsPerPart
    }

    /// Compares the table with the journal, and appends an entry for each difference.
    ///
    /// - Throws: ``JournalError/Code/corrupt`` when the journal cannot be read; errors of SQLite. The
    ///   transaction must then be rolled back.
    func run() throws -> Outcome {
        var isAnother = false
        if case .returned(let table, _) = scope { isAnother = table.isRenamed }
        let held = try heldRows()
        // A computed default is another one at each use, so no row is known to have it.
        let defaults = try table.stored.enumerated().map { index, column -> Int? in
            guard column.hasLiteralDefault else { return nil }
            return try form.stored(column.defaultValue(db) ?? .null, in: index).hashValue
        }
        var found = Difference(fills: FillValues(fresh))
        for part in KeyPart.parts(of: try keyCount(), atMost: rowsPerPart) {
            try compare(part, held: held, defaults, isAnother: isAnother, &found)
        }
        let contested = found.contested.compactMap { row in
            row.limited { renamed[$0] != nil || !found.fills.isFill(row.values[$0], in: $0) }
        }
        let entries =
            isAnother ? found.deletes + found.inserts : found.inserts + found.updates + found.deletes
        for entry in entries { try entry.append(db) }
        try remove(found.strays)
        try ContestedValues(table, entry: entry, form: form, db).append(contested)
        return Outcome(journalled: Int64(entries.count + contested.count), replaced: found.replaced)
    }

    /// About how many keys the table and the journal have.
    private func keyCount() throws -> Int64 {
        try Int64.fetchOne(
            db,
            sql: """
                SELECT (SELECT count(*) FROM \(SQLText.quote(identifier: table.name)))
                    + (SELECT count(*) FROM _journal_lives WHERE tbl = ?)
                """, arguments: [entry.table]) ?? 0
    }

    /// Compares the rows whose keys are in one part.
    private func compare(
        _ part: KeyPart, held: Held, _ defaults: [Int?], isAnother: Bool, _ found: inout Difference
    ) throws {
        var end: Int64?
        if case .returned(let table, _) = scope { end = table.position }
        let all = try ExpectedRows(
            table, id: entry.table, fresh: fresh, renamed: renamed, form: form, part: part, through: end, db
        ).rows
        let expected = all.filter { scope.contains($0.key) }
        var missing = expected
        let columns = table.stored.map { SQLText.quote(identifier: $0.name) }.joined(separator: ", ")
        let rows = try RawStatement(db, "SELECT \(columns) FROM \(SQLText.quote(identifier: table.name))")
        while try rows.step() {
            let keyValues = (0..<table.keyCount).map { rows.column(Int32($0)) }
            guard !keyValues.contains(.null) else { continue }
            let key = Key(keyValues, collations: entry.collations)
            guard part.contains(key) else { continue }
            guard scope.contains(key) else {
                if case .arrival = scope, all[key]?.merged.isAlive != true { found.strays.append(keyValues) }
                continue
            }
            let row = keyValues + (table.keyCount..<table.stored.count).map { rows.column(Int32($0)) }
            if isAnother {
                // The rows of the old table have another name now, so none of these is one of them.
                found.inserts.append(.insert(row, entry))
                continue
            }
            missing[key] = nil
            found.fills.count(row)
            // The table does not show a held row, so a program inserted this one: see `HeldOverwrites`.
            guard !held.hidden.contains(key) else {
                if case .recapture = scope { found.inserts.append(.insert(row, entry)) }
                continue
            }
            compare(row, key, with: expected[key], defaults, substituted: held.substituted[key] ?? [], &found)
        }
        guard scope.comparesRows else { return }
        for (key, row) in missing where row.merged.isAlive && !held.hidden.contains(key) {
            found.deletes.append(.delete(row.key, entry))
        }
    }

    /// What a comparison found.
    struct Outcome {
        /// The number of journalled changes.
        let journalled: Int64
        /// The number of rows here that were not journalled, although a value of them is in no change; see
        /// ``Writer/unknown``.
        let replaced: Int64
    }

    /// Finds the value with which a migration filled a column: the one that more than half of the rows have,
    /// and at least two. It was not written to one row in particular, so nobody wrote it where the journal
    /// has another one.
    private struct FillValues {
        private var counts: [Int: [Int: Int]]
        private var rows = 0

        init(_ columns: Set<Int>) { counts = Dictionary(uniqueKeysWithValues: columns.map { ($0, [:]) }) }

        mutating func count(_ row: [Value]) {
            rows += 1
            for column in counts.keys { counts[column]?[row[column].hashValue, default: 0] += 1 }
        }

        func isFill(_ value: Value, in column: Int) -> Bool {
            let count = counts[column]?[value.hashValue] ?? 0
            return count > 1 && count * 2 > rows
        }
    }

    private struct Difference {
        var inserts: [LocalEntry] = []
        var updates: [LocalEntry] = []
        var deletes: [LocalEntry] = []
        var contested: [ContestedValues.Row] = []
        var replaced: Int64 = 0
        /// The keys of rows that are not the table's own.
        var strays: [[Value]] = []
        var fills: FillValues
    }

    private func compare(
        _ row: [Value], _ key: Key, with expected: ExpectedRows.Row?, _ defaults: [Int?], substituted: Set<Int>,
        _ found: inout Difference
    ) {
        let isKnown = scope.isArrival ? expected != nil : expected?.merged.isAlive ?? false
        guard isKnown || !scope.isArrival && !scope.comparesRows else {
            return found.inserts.append(.insert(row, entry))
        }
        var updated: [Int] = []
        var contested: [Int] = []
        // nil when a function decided the row: only merging can call it.
        let shown = scope.comparesRows ? expected?.merged.row() : nil
        for index in table.keyCount..<table.stored.count {
            let hash = row[index].hashValue
            // No program wrote the substitute for a missing parent.
            if substituted.contains(index), row[index] == .null || hash == defaults[index] { continue }
            guard fresh.contains(index) else {
                guard let shown else { continue }
                if (index < shown.count ? shown[index] : nil) ?? defaults[index] != hash { updated.append(index) }
                continue
            }
            // A row that came under the new name only has the default under the old one.
            let isRenamed = renamed[index] != nil && expected?.formerPast[index] != nil
            let isWritten = scope.isArrival || isRenamed || hash != defaults[index]
            guard isWritten, !(expected?.knew(hash, in: index, default: defaults[index]) ?? (hash == defaults[index]))
            else { continue }
            if expected?.past[index] == nil || expected?.showedPast(of: index) == true {
                updated.append(index)
            } else if writer != .migration || renamed[index] != nil {
                contested.append(index)
            }
        }
        if writer == .unknown {
            if !(updated + contested).isEmpty { found.replaced += 1 }
            return
        }
        if let expected, scope.isArrival, expected.life % 2 == 0 {
            // The row was deleted elsewhere. It comes back if a user wrote it here.
            if writer == .program, !(updated + contested).isEmpty { found.inserts.append(.insert(row, entry)) }
            return
        }
        if scope.comparesRows, let spelled = expected?.merged.key, !spelled.isEmpty,
            spelled != row.prefix(table.keyCount).map(\.hashValue)
        {
            found.inserts.append(.respelling(row, entry))
        }
        if !updated.isEmpty { found.updates.append(.update(row, columns: updated, entry)) }
        if !contested.isEmpty {
            found.contested.append(
                .init(
                    key: key, life: expected?.life ?? 1, values: row, columns: contested,
                    shown: expected?.formerPast ?? [:]))
        }
    }

    /// Removes rows that are not the table's own. No change says so.
    private func remove(_ keys: [[Value]]) throws {
        guard !keys.isEmpty else { return }
        try db.withoutTriggersAndForeignKeys {
            let delete = try RawStatement(
                db,
                "DELETE FROM \(SQLText.quote(identifier: table.name)) WHERE \(table.keyCondition("IS ?"))")
            for key in keys {
                for (index, value) in key.enumerated() { try delete.bind(value, at: Int32(index + 1)) }
                try delete.run()
            }
        }
    }

    /// The held rows of the table.
    private struct Held {
        /// Those that the table does not show.
        var hidden: Set<Key> = []
        /// For those that it shows, the columns that have a substitute for a missing parent, as indices of
        /// ``TableInspection/stored``.
        var substituted: [Key: Set<Int>] = [:]
    }

    private func heldRows() throws -> Held {
        let statement = try RawStatement(db, "SELECT key, shown, image FROM _journal_held WHERE tbl = ?")
        try statement.bind(entry.table, at: 1)
        var held = Held()
        while try statement.step() {
            let key = Key(bytes: Array(statement.bytes(0)))
            guard statement.int64(1) == 1 else {
                held.hidden.insert(key)
                continue
            }
            guard let image = RowImage(encoded: Array(statement.bytes(2))[...]) else {
                throw JournalError(.corrupt, "A row of _journal_held cannot be read")
            }
            let names = Set(image.columns.keys.map(SQLText.foldedName))
            held.substituted[key] = Set(
                table.stored.indices.dropFirst(table.keyCount).filter {
                    names.contains(SQLText.foldedName(table.stored[$0].name)) || names.contains(renamed[$0] ?? "")
                })
        }
        return held
    }
}
