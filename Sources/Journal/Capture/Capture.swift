import GRDB

/// The result of bringing capture up to date with the schema.
public struct CaptureReport: Sendable {
    /// A table whose changes are captured.
    public struct Tracked: Sendable {
        /// The table's name.
        public let table: String
        /// The number of rows that were journalled because the table was new to the journal.
        public let adoptedRows: Int64
        /// The number of changes that were journalled because they had bypassed capture (a rebuilt table, a
        /// new column).
        public internal(set) var recoveredChanges: Int64
        /// Warnings for the operator about the table, each a sentence with a remedy.
        public let warnings: [String]
        /// The warning, among ``warnings``, that the rows of other machines replace rows here; nil for none.
        package let replacement: String?
    }

    /// A table whose changes are not captured.
    public struct Untracked: Sendable {
        /// The table's name.
        public let table: String
        /// The reason, as a phrase.
        public let reason: String
        /// The kind of the reason.
        package let cause: TableRefusal.Cause

        package init(table: String, _ refusal: TableRefusal) {
            self.table = table
            reason = refusal.reason
            cause = refusal.cause
        }
    }

    /// The tables that are captured, by name.
    public var tracked: [Tracked] = []
    /// The ordinary tables that are not captured, by name.
    public var untracked: [Untracked] = []
    /// The tables whose triggers were recreated.
    public var changed: [String] = []
    /// True when the file was not in WAL mode, and is since this run.
    public var setsWAL = false
}

/// Keeps the triggers of every tracked table up to date with the schema.
///
/// It runs inside of a write transaction: at `init`, at the end of a migration, and when `PRAGMA
/// schema_version` shows that a process changed the schema. A second run changes nothing.
package enum Capture {
    /// Brings triggers and shapes up to date with the schema, and journals what bypassed capture.
    ///
    /// - Parameter isMigration: True when a migration wrote everything that the triggers have not captured.
    ///   Where the journal holds a value of another machine for it, that value then stands.
    /// - Throws: ``JournalError``; the transaction must then be rolled back.
    @discardableResult
    package static func refresh(_ db: Database, isMigration: Bool = false) throws -> CaptureReport {
        try refresh(db, after: nil, isMigration: isMigration)
    }

    /// As ``refresh(_:isMigration:)``, after the operator may have included or excluded tables.
    ///
    /// - Parameters:
    ///   - before: What was excluded before; nil when that has not changed. The rows of tables that are
    ///     included again may be old copies.
    ///   - recaptures: True to compare the rows of all tables with the journal.
    ///   - rowsPerPart: About how many rows are compared at a time then.
    @discardableResult
    static func refresh(
        _ db: Database, after before: TrackingPolicy?, isMigration: Bool = false, recaptures: Bool = false,
        rowsPerPart: Int64 = JournalLimits.comparedRows
    ) throws -> CaptureReport {
        try JournalUpgrade.run(db)
        let last = try LastContact(db)
        var registry = try ShapeRegistry(db)
        try DroppedColumns.settle(after: last.sealed, &registry, db)
        try DerivedState.materialize(db)
        // Of rows that a second run of a migration has changed, it notes that they are due for a backfill.
        registry = try ShapeRegistry(db)
        let policy = try TrackingPolicy(db)
        let tables = try TableInspection.all(db)
        var report = CaptureReport()
        var keptTables: Set<Int64> = []
        let past = try PastTables(registry, db)
        let refusals = try db.withoutTriggersAndForeignKeys {
            try TableRefusals(tables, policy: policy, names: registry.names, db)
        }
        // The new name of a table comes first: what is written under the old name later has seen it.
        for table in tables.filter({ past.isNewName($0.name) }) + tables.filter({ !past.isNewName($0.name) }) {
            if let refusal = refusals[table.name] {
                report.untracked.append(.init(table: table.name, refusal))
                // Triggers that the table's own program created stay.
                if refusal.cause == .needsProgram, let entry = registry.tracked(table: table.name) {
                    keptTables.insert(entry.table)
                }
                continue
            }
            let outcome: Outcome
            let writer: Reconciliation.Writer =
                before?.refusal(of: table.name) != nil ? .unknown : isMigration ? .migration : .program
            switch try trackIfUsable(table, writer, since: last, past, registry: &registry, db) {
            case .success(let tracked): outcome = tracked
            case .failure(let refusal):
                report.untracked.append(.init(table: table.name, refusal))
                if let entry = registry.tracked(table: table.name) { keptTables.insert(entry.table) }
                continue
            }
            keptTables.insert(outcome.tableID)
            report.tracked.append(outcome.tracked)
            if outcome.rewritten { report.changed.append(table.name) }
        }
        for entry in registry.entries.values where entry.isTracked && !keptTables.contains(entry.table) {
            try dropTriggers(ofTable: entry.table, db)
            try registry.track(nil, table: entry.table, in: db)
            if !tables.contains(where: { registry.names.folded($0.name) == registry.names.folded(entry.wireName) }) {
                try past.missing(entry.table, registry).record(entry.table, db)
            }
        }
        try db.execute(
            sql: "UPDATE _journal_replica SET schema_version = ?, triggers = ?, stale_seq = NULL",
            arguments: [try Int64.fetchOne(db, sql: "PRAGMA schema_version"), CaptureTriggers.generation])
        if recaptures { try recapture(&report, tables, registry, rowsPerPart: rowsPerPart, db) }
        return report
    }

    /// Excludes tables from capture in this file, so that they stay local. They need not exist yet.
    ///
    /// - Returns: True when one of them was not excluded before; ``refresh(_:)`` then removes its triggers.
    /// - Throws: ``JournalError/Code/corrupt`` when the stored list cannot be read; errors of SQLite. The
    ///   transaction must then be rolled back.
    package static func exclude(_ tables: [String], _ db: Database) throws -> Bool {
        let excluded = try NameList.decode(
            String.fetchOne(db, sql: "SELECT exclude FROM _journal_replica") ?? "[]")
        let known = Set(excluded.map(SQLText.foldedName))
        let new = tables.filter { !known.contains(SQLText.foldedName($0)) }
        guard !new.isEmpty else { return false }
        try db.execute(
            sql: "UPDATE _journal_replica SET exclude = ?", arguments: [NameList.encode(excluded + new)])
        return true
    }

    /// True when the schema changed since the last ``refresh(_:)``, and when the journal has the format of an
    /// earlier release.
    static func isStale(_ db: Database) throws -> Bool {
        if try JournalUpgrade.isDue(db) { return true }
        let current = try Int64.fetchOne(db.cachedStatement(sql: "PRAGMA schema_version"))
        let known = try db.cachedStatement(
            sql: "SELECT CASE triggers WHEN \(CaptureTriggers.generation) THEN schema_version END FROM _journal_replica"
        )
        return try Int64.fetchOne(known) != current
    }

    /// What the last contact with the file recorded.
    private struct LastContact {
        /// A position up to which the journal was folded while the schema was the one that it knew.
        let sealed: Int64
        /// The number of changes of the schema since.
        let schemaChanges: Int64

        init(_ db: Database) throws {
            let row = try Row.fetchOne(
                db, sql: "SELECT coalesce(stale_seq, sealed_seq) AS sealed, schema_version FROM _journal_replica")
            sealed = row?["sealed"] ?? 0
            schemaChanges = (try Int64.fetchOne(db, sql: "PRAGMA schema_version") ?? 0) - (row?["schema_version"] ?? 0)
        }
    }

    // MARK: - One table

    private struct Outcome {
        let tableID: Int64
        let tracked: CaptureReport.Tracked
        let rewritten: Bool
    }

    /// Tracks a table, if this connection has the functions and collations that reading its rows needs.
    ///
    /// - Returns: A refusal when something is missing that the schema did not show; nothing is changed then,
    ///   and other tables are not affected.
    private static func trackIfUsable(
        _ table: TableInspection, _ writer: Reconciliation.Writer, since last: LastContact, _ past: PastTables,
        registry: inout ShapeRegistry, _ db: Database
    ) throws -> Result<Outcome, TableRefusal> {
        let before = registry
        var tracked: Outcome?
        var missing = ""
        try db.inSavepoint {
            do {
                tracked = try track(table, writer, since: last, past, registry: &registry, db)
                return .commit
            } catch {
                guard let what = ApplicationDefined.missing(error) else { throw error }
                missing = what
                return .rollback
            }
        }
        if let tracked { return .success(tracked) }
        registry = before
        return .failure(.needsProgram(missing))
    }

    private static func track(
        _ table: TableInspection, _ writer: Reconciliation.Writer, since last: LastContact, _ past: PastTables,
        registry: inout ShapeRegistry, _ db: Database
    ) throws -> Outcome {
        let before = registry.tracked(table: table.name)
        let isNew = registry.tableID(named: table.name) == nil
        let (entry, hasOldKeys) = try registry.register(table, in: db)
        if hasOldKeys { try KeyRenewal(db: db, entry: entry).run() }
        let indexes = try UniqueIndex.all(db, table: table.name)
        if !indexes.isEmpty { try JournalSchema.widenSuspects(db, toKeys: table.keyCount) }
        let wanted = CaptureTriggers(
            table: table, uniqueIndexes: indexes, tableID: entry.table, shapeID: entry.id
        ).all
        let installed = try InstalledTriggers(db, table: table.name, tableID: entry.table)
        var adopted: Int64 = 0
        var recovered: Int64 = 0
        var replaced: Int64 = 0
        let rewritten = !(installed.areYoungest && installed.match(wanted))
        var change = before.flatMap { before in
            before.shape.hasKey(of: table.shape)
                ? ColumnChange(from: before.shape, to: table, columnsInTriggers: installed.columns) : nil
        }
        if let before, let known = change {
            // A column that is dropped and added again takes two changes of the schema.
            if last.schemaChanges >= 2 {
                let rows = ResetColumns(table, entry: entry, registry, after: last.sealed, db)
                change?.addReset(try rows.find(besides: known.fresh), of: table)
            }
            try registry.noteGone(change?.gone ?? [], of: before, after: JournalReader.lastSeq(db), in: db)
        }
        if rewritten || change?.fresh.isEmpty == false {
            try dropTriggers(ofTable: entry.table, db)
            for trigger in installed.foreign {
                try db.execute(sql: "DROP TRIGGER \(SQLText.quote(identifier: trigger))")
            }
            for trigger in wanted { try db.execute(sql: trigger.sql) }
            try registry.track(entry.id, table: entry.table, in: db)
            if writer != .unknown, let former = past.former(of: entry, registry) {
                let news = try former.news(of: entry.table, db)
                recovered = try Reconciliation(
                    table, entry: entry, scope: .returned(former, besides: news), writer: writer, db
                ).run().journalled
                recovered += try Reconciliation(table, entry: entry, scope: .news(news), writer: writer, db).run()
                    .journalled
                try registry.backfillAgain(
                    table: entry.table, hiding: table.stored.dropFirst(table.keyCount).map(\.name), in: db)
            } else if let before, let change {
                let knowsEvictions = CaptureTriggers(
                    table: table, uniqueIndexes: indexes, tableID: entry.table, shapeID: before.id
                ).coversEvictions(installed: installed.sqlByName)
                // The journal may differ from the rows in any way when triggers were missing, when a user's
                // trigger ran before them, and when they did not cover one of the unique indexes. When
                // columns exchanged their names, each row differs.
                let isAnyRowPossible =
                    try !installed.areComplete || !knowsEvictions || change.exchangesNames
                    || installed.wereLate(table: entry.table, registry, since: last.sealed, db)
                if isAnyRowPossible || registry.hasHistory(of: change.fresh, in: table, entry: entry) {
                    let fresh = change.fresh.union(registry.hiddenColumns(of: table, entry: entry))
                    recovered = try Reconciliation(
                        table, entry: entry, scope: isAnyRowPossible ? .rows : .freshColumns, writer: writer,
                        fresh: fresh, renamed: change.renamed, db
                    ).run().journalled
                    if !fresh.isEmpty {
                        try registry.backfillAgain(
                            table: entry.table, hiding: fresh.map { table.stored[$0].name }, in: db)
                    }
                } else {
                    recovered = try journalNewColumns(change.fresh, of: table, entry: entry, db)
                }
            } else if try isNew || writer != .unknown && wasCaptured(entry, registry, db) {
                adopted = try adopt(table, entry: entry, db)
            } else {
                let others = try past.laterKeys(in: table.name, entry, db)
                let outcome = try Reconciliation(
                    table, entry: entry, scope: .arrival(besides: others), writer: writer, db
                ).run()
                adopted = outcome.journalled
                replaced = outcome.replaced
                try registry.backfillAgain(
                    table: entry.table, hiding: table.stored.dropFirst(table.keyCount).map(\.name), in: db)
            }
        }
        try registry.name(entry.id, table.name, in: db)
        try DroppedTable.forget(entry.table, db)
        let replacement =
            replaced == 0
            ? nil
            : "\(replaced) rows differ from what other machines wrote while the table was excluded; theirs replace them"
        return Outcome(
            tableID: entry.table,
            tracked: .init(
                table: table.name, adoptedRows: adopted, recoveredChanges: recovered,
                warnings: try [replacement].compactMap(\.self) + warnings(of: table, db)
                    + (before == nil && adopted > 0 ? orphanWarnings(of: table, db) : []),
                replacement: replacement),
            rewritten: rewritten)
    }

    /// True when changes of the table were captured here before, under its present key: then the table was
    /// dropped and made again, and each of its rows is a new one.
    private static func wasCaptured(
        _ entry: ShapeRegistry.Entry, _ registry: ShapeRegistry, _ db: Database
    ) throws -> Bool {
        let shapes = registry.entries.values.filter { $0.table == entry.table && $0.shape.hasKey(of: entry.shape) }
        return try Bool.fetchOne(
            db,
            sql: """
                SELECT EXISTS (SELECT 1 FROM _journal WHERE origin IS NULL AND shape IN (\(shapes.map { String($0.id) }.joined(separator: ", "))))
                """) ?? false
    }

    /// Journals the rows that a table had before it was tracked.
    private static func adopt(_ table: TableInspection, entry: ShapeRegistry.Entry, _ db: Database) throws -> Int64 {
        let columns = table.stored.map { SQLText.quote(identifier: $0.name) }
        let notNull = columns.prefix(table.keyCount).map { "\($0) IS NOT NULL" }.joined(separator: " AND ")
        try db.execute(
            sql: """
                INSERT INTO _journal (shape, op, stamp, \(columns.indices.map { "v\($0)" }.joined(separator: ", ")))
                SELECT \(entry.id), \(Operation.insert.rawValue), julianday('now'), \(columns.joined(separator: ", "))
                FROM \(SQLText.quote(identifier: table.name)) WHERE \(notNull)
                """)
        return Int64(db.changesCount)
    }

    /// Journals the values of new columns of which the journal has no history. ADD COLUMN journals no rows,
    /// and the old triggers did not know the column, so each value that differs from the column's default was
    /// written since.
    ///
    /// - Parameter fresh: The new columns, as indices of ``TableInspection/stored``.
    private static func journalNewColumns(
        _ fresh: Set<Int>, of table: TableInspection, entry: ShapeRegistry.Entry, _ db: Database
    ) throws -> Int64 {
        let new = fresh.sorted()
        guard !new.isEmpty else { return 0 }
        func isWritten(_ index: Int) -> String {
            let column = table.stored[index]
            let name = SQLText.quote(identifier: column.name)
            // A default that is no literal is computed at each use, and a renamed column may have one. So
            // every row counts as written.
            guard column.hasLiteralDefault else { return "1" }
            let literal = column.defaultExpression ?? "NULL"
            let content = "\(name) COLLATE BINARY IS NOT (\(literal))"
            return column.keepsNumericClass ? "(\(content) OR typeof(\(name)) <> typeof(\(literal)))" : "(\(content))"
        }
        let notNull = table.stored.prefix(table.keyCount).map { "\(SQLText.quote(identifier: $0.name)) IS NOT NULL" }
        let words = (0..<JournalSchema.maskWords(forColumns: table.stored.count)).map { word in
            let bits = new.filter { $0 / ColumnMask.bitsPerWord == word }.map {
                "(\(isWritten($0)))*\(Int64(1) << Int64($0 % ColumnMask.bitsPerWord))"
            }
            return bits.isEmpty ? "0" : bits.joined(separator: "|")
        }
        let carried = Array(table.stored.indices.prefix(table.keyCount)) + new
        let columns =
            ["shape", "op", "stamp"] + words.indices.map { JournalSchema.maskColumn($0) } + carried.map { "v\($0)" }
        try db.execute(
            sql: """
                INSERT INTO _journal (\(columns.joined(separator: ", ")))
                SELECT \(entry.id), \(Operation.update.rawValue), julianday('now'), \(words.joined(separator: ", ")),
                  \(carried.map { SQLText.quote(identifier: table.stored[$0].name) }.joined(separator: ", "))
                FROM \(SQLText.quote(identifier: table.name))
                WHERE \(notNull.joined(separator: " AND ")) AND (\(new.map(isWritten).joined(separator: " OR ")))
                """)
        return Int64(db.changesCount)
    }

    private static func dropTriggers(ofTable id: Int64, _ db: Database) throws {
        let prefix = CaptureTriggers.namePrefix(tableID: id)
        let names = try String.fetchAll(
            db, sql: "SELECT name FROM sqlite_master WHERE type = 'trigger' AND substr(name, 1, ?) = ?",
            arguments: [prefix.count, prefix])
        for name in names { try db.execute(sql: "DROP TRIGGER \(SQLText.quote(identifier: name))") }
    }

    /// Warns of rows of a new table whose foreign keys lead to no row. SQLite takes them while foreign keys
    /// are off, which is its default; merging holds them, unless the file keeps them.
    private static func orphanWarnings(of table: TableInspection, _ db: Database) throws -> [String] {
        guard try ForeignKeyRule.of(db) == .enforce else { return [] }
        let count = try table.brokenReferences(db)
        guard count > 0 else { return [] }
        return [
            "\(count) foreign keys of its rows lead to no row: the first exchange takes these rows out of the table, and "
                + "`syncd held` lists them. `PRAGMA foreign_key_check` names them: delete them or add what they refer to"
        ]
    }

    private static func warnings(of table: TableInspection, _ db: Database) throws -> [String] {
        var warnings: [String] = []
        if table.hasRowidKey {
            warnings.append(
                "SQLite generates the key \(table.stored[0].name) when an INSERT omits it, and two machines can generate the same: "
                    + "the later one of two such rows then gets another key")
        }
        let keyless = try table.rowsWithoutKey(db)
        if keyless > 0 {
            warnings.append("\(keyless) rows have NULL in the primary key and are not replicated: give them a key")
        }
        return warnings
    }
}
