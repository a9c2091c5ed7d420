import CSQLiteShim
import GRDB

/// What an operator should know of a file before it replicates: one finding for each kind, with its tables.
package struct FileCheck: Sendable {
    /// What is found. The raw values are words of `--json`.
    package enum Kind: Hashable, Sendable {
        /// Tables that would not replicate, although nobody decided so, or that stay local by a rule.
        case untracked(TableRefusal.Cause)
        /// Rows with NULL in the primary key, which would not replicate.
        case rowsWithoutKey
        /// Rows whose foreign keys lead to no row, under ``ForeignKeyRule/enforce``: the first exchange takes
        /// them out of their tables.
        case brokenReferences
        /// Rows whose foreign keys lead to no row, under ``ForeignKeyRule/keep``: they stay where they are.
        case keptReferences
        /// Tables whose keys SQLite generates, so that two machines can generate the same.
        case mintedKeys
        /// Indexes that triggers keep, and that merging keeps in the same way.
        case keptIndexes
        /// Indexes whose triggers need a function of the program, so that they lack what others write.
        case staleIndexes

        package var name: String {
            switch self {
            case .untracked(let cause): cause.rawValue
            case .rowsWithoutKey: "rows_without_key"
            case .brokenReferences: "broken_references"
            case .keptReferences: "kept_references"
            case .mintedKeys: "minted_keys"
            case .keptIndexes: "kept_indexes"
            case .staleIndexes: "stale_indexes"
            }
        }

        /// True when rows would not replicate, or would leave their tables.
        package var asksToAccept: Bool {
            switch self {
            case .untracked(let cause): cause.losesRows
            case .rowsWithoutKey, .brokenReferences: true
            case .keptReferences, .mintedKeys, .keptIndexes, .staleIndexes: false
            }
        }

        /// The order in which findings are listed: first those that ask.
        static let all: [Kind] =
            TableRefusal.Cause.allCases.filter(\.losesRows).map(Kind.untracked)
            + [
                .rowsWithoutKey, .brokenReferences, .keptReferences, .staleIndexes, .mintedKeys, .keptIndexes,
                .untracked(.migrationNotes),
            ]
    }

    package struct Finding: Sendable {
        package let kind: Kind
        /// By name.
        package fileprivate(set) var tables: [Table]
    }

    package struct Table: Sendable {
        package let name: String
        /// How many rows (``Kind/rowsWithoutKey``) or foreign keys (``Kind/brokenReferences``, ``Kind/keptReferences``) are concerned;
        /// nil for findings about whole tables.
        package let count: Int64?
        /// As ``TableRefusal/missing``.
        package let missing: String?
    }

    /// False for a file that is not a replica yet.
    package let isReplica: Bool
    /// The tables that replicate, or would.
    package private(set) var tracked: [String] = []
    /// How many of them have foreign keys.
    package private(set) var tablesWithReferences = 0
    /// At most one for each kind.
    package private(set) var findings: [Finding] = []

    /// True when rows would not replicate or would leave their tables.
    package var asksToAccept: Bool { findings.contains(where: \.kind.asksToAccept) }

    /// - Parameter db: A connection as ``TableInspection/missing(_:)`` wants it.
    init(_ request: InitializeRequest, _ db: Database) throws {
        isReplica = try Identity.isThere(db)
        let policy =
            try isReplica
            ? TrackingPolicy(db).updated(by: request) : TrackingPolicy(ofNewReplica: request, db)
        let rule = try request.foreignKeys ?? (isReplica ? ForeignKeyRule.of(db) : request.foreignKeysOfNew)
        let tables = try TableInspection.all(db)
        try Initialization.checkNames(of: request, among: tables, db)
        _ = try CollationDeclaration(request.collations, among: tables, db)
        let refusals = try TableRefusals(tables, policy: policy, names: TableNames(db), db)
        var found: [Kind: [Table]] = [:]
        for table in tables {
            if let refusal = refusals[table.name] {
                found[.untracked(refusal.cause), default: []].append(
                    Table(name: table.name, count: nil, missing: refusal.missing))
                continue
            }
            tracked.append(table.name)
            if try !DeclaredForeignKey.all(db, of: table).isEmpty { tablesWithReferences += 1 }
            func note(_ kind: Kind, _ count: Int64) {
                if count > 0 { found[kind, default: []].append(Table(name: table.name, count: count, missing: nil)) }
            }
            note(.rowsWithoutKey, try table.rowsWithoutKey(db))
            note(rule == .keep ? .keptReferences : .brokenReferences, try table.brokenReferences(db))
            if table.hasRowidKey {
                found[.mintedKeys, default: []].append(Table(name: table.name, count: nil, missing: nil))
            }
        }
        for other in try TableInspection.untrackable(db, policy: policy) {
            found[.untracked(other.cause), default: []].append(Table(name: other.table, count: nil, missing: nil))
        }
        let merged = Set(tracked.map(SQLText.foldedName))
        for (kind, indexes) in try FileCheck.indexes(
            of: tables.filter { merged.contains(SQLText.foldedName($0.name)) }, db)
        {
            found[kind] = indexes.map { Table(name: $0, count: nil, missing: nil) }
        }
        findings = Kind.all.compactMap { kind in found[kind].map { Finding(kind: kind, tables: $0) } }
    }
}

extension FileCheck {
    /// Returns the indexes that triggers of the tables keep, by name: those that merging can keep, and the
    /// others.
    private static func indexes(of tables: [TableInspection], _ db: Database) throws -> [(Kind, [String])] {
        let triggers = Dictionary(grouping: try IndexTrigger.all(db)) { SQLText.foldedName($0.table) }
        guard !triggers.isEmpty, let connection = db.sqliteConnection else { return [] }
        _ = tandem_enable_triggers(connection, 1)
        defer { _ = tandem_enable_triggers(connection, 0) }
        var indexes: [Kind: Set<String>] = [:]
        for table in tables {
            guard let triggers = triggers[SQLText.foldedName(table.name)] else { continue }
            let kind = try table.compilesTriggers(db) ? Kind.keptIndexes : .staleIndexes
            indexes[kind, default: []].formUnion(triggers.flatMap(\.indexes))
        }
        return indexes.map { ($0.key, $0.value.sorted()) }
    }
}

extension Replica {
    /// Checks a file, whether it is a replica or not, as it would be after
    /// ``create(at:_:mayCreate:options:)`` with `request`. It changes nothing.
    ///
    /// It reads every row of tables with foreign keys, and of those whose key may be NULL.
    ///
    /// - Throws: ``JournalError``: `notFound`, `notADatabase`, `unsupportedFormat`, `corrupt`, `busy`;
    ///   `unknownTable` and `unsupportedTable` for names in `request`.
    package static func check(
        at path: String, _ request: InitializeRequest = InitializeRequest(), options: Options = Options()
    ) throws -> FileCheck {
        do {
            _ = try hasJournal(path, options, mayRollBack: true)
            let options = options.ofOneFile(mapping: request.collations)
            var configuration = Replica.configuration(options)
            configuration.foreignKeysEnabled = false
            configuration.prepareDatabase { db in
                try db.execute(sql: "PRAGMA query_only = ON")
                if let connection = db.sqliteConnection { _ = tandem_enable_triggers(connection, 0) }
            }
            // A read-only connection would leave CHECK constraints out of the schema.
            let queue = try DatabaseQueue(path: path, configuration: configuration)
            defer { try? queue.close() }
            return try queue.read { db in
                try options.collations.reload(db)
                return try FileCheck(request, db)
            }
        } catch {
            throw JournalError(error, operation: "Checking \(path)")
        }
    }
}
