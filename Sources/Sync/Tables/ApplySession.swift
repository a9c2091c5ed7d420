import GRDB
import Journal

/// The state that applying keeps between transactions on one merge connection.
///
/// How long the objects that apply changes live:
/// - As long as the connection is open: ``Inbox`` with its `MergeConnection`.
/// - As long as the schema stays and no transaction fails (``isCurrent(in:)``): `ApplySession` with
///   ``ForeignKeyMap`` and ``ClaimReader``, and beside it ``ConcurrentChanges`` and ``KeyMeanings``. In the
///   session, for each table ``TableContext``, ``RowWriter`` and ``UniqueConflictFinder``; for each shape
///   ``ShapeTarget``.
/// - One transaction: ``Applier`` with `JournalAppender`, ``RunInterpreter``, ``LifeCache``,
///   ``MetRows`` and ``PolicyResolver``; ``RowStore`` with ``HeldRows``; and at its end
///   ``VisibleRows``.
///
/// So a row is written by a `RowStore` of the transaction through a `RowWriter` of the schema.
final class ApplySession {
    private let db: Database
    private let schemaVersion: Int64
    private let origin: OriginID
    private let names: TableNames
    private let collations: CollationMap
    private let inspections: [String: TableInspection]
    private var contexts: [Int64: TableContext] = [:]
    private var writers: [Int64: RowWriter] = [:]
    private var trials: [Int64: TrialTable?] = [:]
    /// By shape.
    private var targets: [Int64: ShapeTarget] = [:]
    private var uniqueColumns: [Int64: ColumnMask] = [:]
    private var defaults: [Int64: [Value?]] = [:]
    private var computedDefaults: [Int64: ComputedDefaults?] = [:]
    private var evaluator: DefaultEvaluator?
    private var uniqueRivals: [Int64: [UniqueConflictFinder]] = [:]
    /// The folded names of the tables that may have CHECK constraints, because their definitions contain the
    /// word.
    private let checked: Set<String>
    /// The foreign keys that decide which rows are visible: none under ``ForeignKeyRule/keep``.
    let foreignKeys: ForeignKeyMap
    private let rule: ForeignKeyRule
    /// The columns that hold minted keys.
    let domains: KeyDomains
    private var claimState: MintedClaims.State?
    private let policies: MergePolicies
    /// The rows from which ``policies`` were made.
    private let policyRows: [Row]
    let claims: ClaimReader
    private let indexTriggers: IndexTriggers

    init(_ db: Database) throws {
        self.db = db
        claims = ClaimReader(db)
        try IndexTriggers.drop(db)
        collations = try CollationMap(db)
        schemaVersion = try ApplySession.schemaVersion(db)
        origin = try Identity(db).origin
        let registry = try ShapeRegistry(db)
        names = registry.names
        // By exactly this name: a table that took an older name of another table is not tracked.
        let tracked = Set(registry.entries.values.filter(\.isTracked).map { SQLText.foldedName($0.shape.table) })
        // A table that only its own program can write counts as missing: its changes stay in the journal and
        // are passed on.
        let tables = try TableInspection.all(db).filter {
            try tracked.contains(SQLText.foldedName($0.name)) && $0.canBeWritten(db)
        }
        inspections = Dictionary(
            tables.map { (SQLText.foldedName($0.name), $0) }, uniquingKeysWith: { first, _ in first })
        // What refers to a row follows when it gets another key, under both rules.
        let references = try ForeignKeyMap(db, tables: tables)
        rule = try ForeignKeyRule.of(db)
        foreignKeys = rule == .enforce ? references : try ForeignKeyMap(db, tables: [])
        indexTriggers = try IndexTriggers(db, tables: tables)
        try CollationGuards.renew(db, tables: tables, collations)
        policyRows = try ApplySession.policyRows(db)
        claimState = try MintedClaims.State(db)
        let policies = try MergePolicies(db, names: names)
        self.policies = policies
        domains = KeyDomains(
            tables: registry.entries.values.filter(\.isTracked).sorted { $0.table < $1.table }.compactMap { entry in
                tables.first { SQLText.foldedName($0.name) == SQLText.foldedName(entry.shape.table) }.map {
                    (entry.table, $0)
                }
            }, foreignKeys: references, declared: try DeclaredReference.all(db), names: names,
            mints: { !policies.isSet($0.name) })
        checked = Set(
            try String.fetchAll(
                db, sql: "SELECT name FROM main.sqlite_master WHERE type = 'table' AND upper(sql) LIKE '%CHECK%'"
            ).map(SQLText.foldedName))
    }

    /// True when rows are held that were not evaluated under this schema and identity, or that may have given
    /// way to a held row which a local writer has overwritten since.
    ///
    /// - Parameter db: Any connection of the file.
    func mustEvaluateHeldRows(_ db: Database) throws -> Bool {
        try Bool.fetchOne(
            db.cachedStatement(
                sql: """
                    SELECT checked_held IS NOT ? AND EXISTS (SELECT 1 FROM _journal_held) FROM _journal_replica
                    """), arguments: [heldBasis]) ?? false
    }

    /// Records that every held row is as ``VisibleRows`` evaluates it. Writes nothing when no row is held, or
    /// when that is recorded.
    func noteEvaluation() throws {
        try db.cachedStatement(
            sql: """
                UPDATE _journal_replica SET checked_held = ?1
                WHERE checked_held IS NOT ?1 AND EXISTS (SELECT 1 FROM _journal_held)
                """
        ).execute(arguments: [heldBasis])
    }

    /// What determines besides the changes which rows are held: the constraints, the rule for foreign keys,
    /// and the origin of claims.
    private var heldBasis: String {
        let mapped = collations.all.map { " \($0.name)=\($0.target.word)" }.joined()
        return "\(schemaVersion) \(origin)" + (rule == .keep ? " keep" : "") + mapped
    }

    /// False after a schema change, when a table got another name or another policy, when foreign keys got
    /// another rule, and when another process
    /// gave the replica a new identity, because changes are indexed by origin, or rows other keys.
    func isCurrent(in db: Database) throws -> Bool {
        try ApplySession.schemaVersion(db) == schemaVersion && Identity(db).origin == origin && TableNames(db) == names
            && ApplySession.policyRows(db) == policyRows && ForeignKeyRule.of(db) == rule
            && MintedClaims.State(db) == claimState && CollationMap(db) == collations
    }

    func context(of entry: ShapeRegistry.Entry) -> TableContext {
        if let context = contexts[entry.table] { return context }
        let inspection = inspections[SQLText.foldedName(entry.shape.table)]
        let context = TableContext(
            tableID: entry.table, inspection: inspection, collations: inspection?.keyCollations ?? entry.collations,
            foreignKeys: inspection.map { foreignKeys.foreignKeys(of: $0.name) } ?? [],
            policy: policy(ofTable: entry.shape.table),
            references: inspection.map { foreignKeys.references(to: $0.name) } ?? [])
        contexts[entry.table] = context
        return context
    }

    func policy(ofTable name: String) -> MergePolicy { policies[name] }

    /// As in `MintedClaims.State`.
    var mintedBasis: String { "\(origin) \(domains.text)" }

    /// Records that the claims on contested keys have changed. Other sessions then start anew.
    func noteClaims() throws {
        let state = MintedClaims.State(number: (claimState?.number ?? 0) + 1, basis: mintedBasis)
        try state.write(db)
        claimState = state
    }

    func context(ofTable name: String, registry: ShapeRegistry) -> TableContext? {
        registry.tracked(table: name).map(context)
    }

    /// The tracked table with the id `id`; nil when this file has none.
    func table(_ id: Int64, registry: ShapeRegistry) -> (context: TableContext, table: TableInspection)? {
        guard let entry = registry.tracked(tableID: id) else { return nil }
        let context = context(of: entry)
        return context.inspection.map { (context: context, table: $0) }
    }

    func writer(of context: TableContext, _ table: TableInspection) -> RowWriter {
        if let writer = writers[context.tableID] { return writer }
        let writer = RowWriter(db, table: table, indexes: indexTriggers)
        writers[context.tableID] = writer
        return writer
    }

    /// The copy of a table with CHECK constraints in which rows are tried; nil when there can be none.
    func trial(of context: TableContext, _ table: TableInspection) throws -> TrialTable? {
        if let trial = trials[context.tableID] { return trial }
        let trial = try TrialTable(of: table, db)
        trials[context.tableID] = .some(trial)
        return trial
    }

    func target(of entry: ShapeRegistry.Entry) -> ShapeTarget {
        if let target = targets[entry.id] { return target }
        let context = context(of: entry)
        let isShown = context.translation(of: entry).hasSameKey
        let target = ShapeTarget(
            entry: entry, context: context,
            writer: isShown ? context.inspection.map { writer(of: context, $0) } : nil)
        targets[entry.id] = target
        return target
    }

    /// The columns of a table in UNIQUE constraints and indexes besides the primary key: its rows can clash
    /// on them.
    func uniqueColumns(of context: TableContext, _ table: TableInspection) throws -> ColumnMask {
        if let known = uniqueColumns[context.tableID] { return known }
        var columns = ColumnMask()
        let indexes = try UniqueIndex.all(db, table: table.name)
        for column in table.stored.indices {
            if indexes.contains(where: { $0.depends(on: table.stored[column].name, of: table) }) {
                columns.insert(column)
            }
        }
        uniqueColumns[context.tableID] = columns
        return columns
    }

    /// What a row shows in each stored column that no change carries. nil where the row cannot be stored
    /// without a value, or where SQLite computes the default at each insert.
    func defaults(of context: TableContext, _ table: TableInspection) throws -> [Value?] {
        if let known = defaults[context.tableID] { return known }
        let values = try table.stored.map { column -> Value? in
            guard column.defaultSQL != nil else { return column.isNotNull ? nil : .null }
            return column.hasLiteralDefault ? try column.defaultValue(db) : nil
        }
        defaults[context.tableID] = values
        return values
    }

    /// The columns whose default SQLite computes at each insert; nil when the table has none.
    func computedDefaults(of context: TableContext) throws -> ComputedDefaults? {
        if let known = computedDefaults[context.tableID] { return known }
        var found: ComputedDefaults?
        if let table = context.inspection, table.stored.contains(where: { !$0.hasLiteralDefault }) {
            let evaluator = try evaluator ?? DefaultEvaluator()
            self.evaluator = evaluator
            found = ComputedDefaults(of: table, evaluator)
        }
        computedDefaults[context.tableID] = .some(found)
        return found
    }

    /// The finders of conflicting rows, one for each unique index of a table.
    func uniqueRivals(of context: TableContext, _ table: TableInspection) throws -> [UniqueConflictFinder] {
        if let known = uniqueRivals[context.tableID] { return known }
        let rivals = try UniqueIndex.all(db, table: table.name).compactMap {
            try UniqueConflictFinder(db, index: $0, table: table, tableID: context.tableID)
        }
        uniqueRivals[context.tableID] = rivals
        return rivals
    }

    /// True when local programs can write rows of the table that other replicas would hold.
    func hasRowConstraints(_ context: TableContext) -> Bool {
        !context.foreignKeys.isEmpty || !context.references.isEmpty || context.inspection.map(hasCheck) ?? false
    }

    func hasCheck(_ table: TableInspection) -> Bool { checked.contains(SQLText.foldedName(table.name)) }

    /// The rows of `_journal_policies` and `_journal_references`; a change of them does not change the schema
    /// version.
    private static func policyRows(_ db: Database) throws -> [Row] {
        try Row.fetchAll(
            db.cachedStatement(
                sql: """
                    SELECT name, NULL, policy FROM _journal_policies
                    UNION ALL SELECT tbl, column, parent FROM _journal_references ORDER BY 1, 2
                    """))
    }

    private static func schemaVersion(_ db: Database) throws -> Int64 {
        try Int64.fetchOne(db, sql: "PRAGMA schema_version") ?? 0
    }
}
