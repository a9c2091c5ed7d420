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
        /// Rows whose foreign keys lead to no row: the first exchange takes them out of their tables.
        case brokenReferences
        /// Tables whose keys SQLite generates, so that two machines can generate the same.
        case mintedKeys

        package var name: String {
            switch self {
            case .untracked(let cause): cause.rawValue
            case .rowsWithoutKey: "rows_without_key"
            case .brokenReferences: "broken_references"
            case .mintedKeys: "minted_keys"
            }
        }

        /// True when rows would not replicate, or would leave their tables.
        package var asksToAccept: Bool {
            switch self {
            case .untracked(let cause): cause.losesRows
            case .rowsWithoutKey, .brokenReferences: true
            case .mintedKeys: false
            }
        }

        /// The order in which findings are listed: first those that ask.
        static let all: [Kind] =
            TableRefusal.Cause.allCases.filter(\.losesRows).map(Kind.untracked)
            + [.rowsWithoutKey, .brokenReferences, .mintedKeys, .untracked(.migrationNotes)]
    }

    package struct Finding: Sendable {
        package let kind: Kind
        /// By name.
        package fileprivate(set) var tables: [Table]
    }

    package struct Table: Sendable {
        package let name: String
        /// How many rows (``Kind/rowsWithoutKey``) or foreign keys (``Kind/brokenReferences``) are concerned;
        /// nil for findings about whole tables.
        package let count: Int64?
        /// As ``TableRefusal/missing``.
        package let missing: String?
    }

    /// False for a file that is not a replica yet.
    package let isReplica: Bool
    /// The tables that replicate, or would.
    package private(set) var tracked: [String] = []
    /// At most one for each kind.
    package private(set) var findings: [Finding] = []

    /// True when rows would not replicate or would leave their tables.
    package var asksToAccept: Bool { findings.contains(where: \.kind.asksToAccept) }

    /// - Parameter db: A connection as ``TableInspection/missing(_:)`` wants it.
    init(_ request: InitializeRequest, _ db: Database) throws {
        isReplica = try db.tableExists("_journal_replica")
        let policy =
            try isReplica
            ? TrackingPolicy(db).updated(by: request) : TrackingPolicy(ofNewReplica: request, db)
        let tables = try TableInspection.all(db)
        try Initialization.checkNames(of: request, among: tables, db)
        let refusals = try TableRefusals(tables, policy: policy, names: TableNames(db), db)
        var found: [Kind: [Table]] = [:]
        for table in tables {
            if let refusal = refusals[table.name] {
                found[.untracked(refusal.cause), default: []].append(
                    Table(name: table.name, count: nil, missing: refusal.missing))
                continue
            }
            tracked.append(table.name)
            func note(_ kind: Kind, _ count: Int64) {
                if count > 0 { found[kind, default: []].append(Table(name: table.name, count: count, missing: nil)) }
            }
            note(.rowsWithoutKey, try table.rowsWithoutKey(db))
            note(.brokenReferences, try table.brokenReferences(db))
            if table.hasRowidKey {
                found[.mintedKeys, default: []].append(Table(name: table.name, count: nil, missing: nil))
            }
        }
        for other in try TableInspection.untrackable(db, policy: policy) {
            found[.untracked(other.cause), default: []].append(Table(name: other.table, count: nil, missing: nil))
        }
        findings = Kind.all.compactMap { kind in found[kind].map { Finding(kind: kind, tables: $0) } }
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
            var configuration = Replica.configuration(options)
            configuration.foreignKeysEnabled = false
            configuration.prepareDatabase { db in
                try db.execute(sql: "PRAGMA query_only = ON")
                if let connection = db.sqliteConnection { _ = tandem_enable_triggers(connection, 0) }
            }
            // A read-only connection would leave CHECK constraints out of the schema.
            let queue = try DatabaseQueue(path: path, configuration: configuration)
            defer { try? queue.close() }
            return try queue.read { try FileCheck(request, $0) }
        } catch {
            throw JournalError(error, operation: "Checking \(path)")
        }
    }
}
