import Foundation
import GRDB

/// The parameters of `syncd init`.
public struct InitializeRequest: Sendable {
    /// The tables to track; nil for every ordinary table, including later ones.
    public var tables: [String]?
    /// Tables to exclude. Each must exist. Excluding a table that cannot be tracked says that it is meant to
    /// stay local.
    public var excluding: [String]
    /// Tables that have, or will have, another name in this file than on other machines; see ``TableNames``.
    public var renamed: [TableNames.Renaming]
    /// The name of the cluster. Replicas of different clusters refuse each other.
    public var cluster: String
    /// The origin of a new replica; ignored when the file already is one.
    public var origin: OriginID
    /// What merging does with rows whose parent is missing; nil for the rule that the file has, and for
    /// ``ForeignKeyRule/enforce`` in a new replica.
    public var foreignKeys: ForeignKeyRule?
    /// True to compare the rows of a replica with its journal, and to take each difference as a change of this
    /// replica: a program wrote it past capture. Such a change is written now: it has seen what came from peers
    /// before.
    public var recaptures = false
    /// The rule of a new replica for which ``foreignKeys`` gives none.
    package var foreignKeysOfNew = ForeignKeyRule.enforce
    /// The program's collations that are mapped to known ones from now on; those without a target are mapped no
    /// more. See ``CollationMap``.
    package var collations: [(name: String, target: KeyCollation?)] = []

    /// Tracks all ordinary tables in the default cluster with a random origin, except for what is given.
    public init(
        tables: [String]? = nil, excluding: [String] = [], renamed: [TableNames.Renaming] = [],
        cluster: String = InitializeRequest.defaultCluster,
        origin: OriginID = .random(), foreignKeys: ForeignKeyRule? = nil
    ) {
        self.tables = tables
        self.excluding = excluding
        self.renamed = renamed
        self.cluster = cluster
        self.origin = origin
        self.foreignKeys = foreignKeys
    }

    /// The cluster of a replica for which none is given.
    public static let defaultCluster = "main"
}

extension OriginID {
    /// Creates an origin from 16 bytes of the system's random generator.
    public static func random() -> OriginID {
        var generator = SystemRandomNumberGenerator()
        return OriginID(high: generator.next() | 1, low: generator.next())
    }

    /// Creates an origin from 16 bytes of SQLite's random generator, which the operating system seeds.
    ///
    /// - Throws: Errors of SQLite.
    package static func random(_ db: Database) throws -> OriginID {
        guard let bytes = try Data.fetchOne(db, sql: "SELECT randomblob(16)"), let drawn = OriginID(bytes: bytes) else {
            return .random()
        }
        return OriginID(high: drawn.high | 1, low: drawn.low)
    }
}

/// Installs the journal in a file, inside of the transaction of ``Replica/create(at:_:mayCreate:options:)``.
enum Initialization {
    /// Installs or updates the journal, and refreshes capture.
    ///
    /// - Parameter fingerprint: The fingerprint of the file, to which a new identity belongs.
    static func run(
        _ request: InitializeRequest, _ db: Database, fingerprint: FileFingerprint? = nil
    ) throws -> CaptureReport {
        let tables = try TableInspection.all(db)
        let existing = try checkNames(of: request, among: tables, db)
        var before: TrackingPolicy?
        if try Identity.isThere(db) {
            try checkLeaf(request, db)
            before = try TrackingPolicy(db)
            try update(request, db)
        } else {
            try install(request, db, fingerprint)
            try request.foreignKeysOfNew.set(db)
        }
        try request.foreignKeys?.set(db)
        try CollationDeclaration(request.collations, among: tables, db).run(db)
        for renaming in request.renamed {
            let registry = try ShapeRegistry(db)
            let isKnown = [renaming.old, renaming.new].contains { name in
                existing.contains(SQLText.foldedName(name)) || registry.tableID(named: name) != nil
            }
            guard isKnown else {
                throw JournalError(
                    .unknownTable, "There is no table named \(renaming.old) or \(renaming.new)",
                    hint: "Check the spelling; one of the two must be here, or must have come from a peer.")
            }
            _ = try TableNames.declare(renaming, db)
        }
        return try Capture.refresh(db, after: before, recaptures: before != nil && request.recaptures)
    }

    /// Checks the tables that a request names.
    ///
    /// - Parameter tables: All ordinary tables of the file.
    /// - Returns: The folded names of `tables`.
    /// - Throws: ``JournalError``: `unknownTable`, `unsupportedTable`.
    @discardableResult
    static func checkNames(
        of request: InitializeRequest, among tables: [TableInspection], _ db: Database
    ) throws -> Set<String> {
        let existing = Set(tables.map { SQLText.foldedName($0.name) })
        let untrackable = try TableInspection.untrackable(db)
        for name in (request.tables ?? []) + request.excluding where !existing.contains(SQLText.foldedName(name)) {
            if let other = untrackable.first(where: { SQLText.foldedName($0.table) == SQLText.foldedName(name) }) {
                // To exclude what cannot be tracked says that it is meant to stay local.
                guard request.tables?.contains(name) == true else { continue }
                throw JournalError(
                    .unsupportedTable, "\(other.table) cannot be tracked: \(other.reason)",
                    hint: "Leave it out of the list.")
            }
            throw JournalError(
                .unknownTable, "There is no ordinary table named \(name)",
                hint: existing.isEmpty
                    ? "The database has no tables." : "Check the spelling; `.tables` in the sqlite3 shell lists them.")
        }
        // A table that was named explicitly must not be left out silently.
        let named = Set((request.tables ?? []).map { SQLText.foldedName($0) })
        for table in tables where named.contains(SQLText.foldedName(table.name)) {
            guard let refusal = table.refusal else { continue }
            throw JournalError(
                .unsupportedTable, "The table \(table.name) cannot be tracked: \(refusal.reason)",
                hint: "Change the table, or leave it out of the list.")
        }
        return existing
    }

    /// A leaf has the changes of its tables from the beginning, and of other tables none.
    ///
    /// - Throws: ``JournalError/Code/refused``.
    private static func checkLeaf(_ request: InitializeRequest, _ db: Database) throws {
        guard let leaf = try Identity(db).leaf, let asked = TableScope(request.tables ?? []) else { return }
        let others = leaf.scope.lacking(asked, try TableNames(db))
        guard !others.isEmpty else { return }
        throw JournalError(
            .refused,
            "This replica is a leaf: it has only \(leaf.scope.list), so \(others.joined(separator: ", ")) cannot be tracked",
            hint: "Make the file anew with `syncd clone` and a token for these tables; until then they stay local.")
    }

    private static func install(
        _ request: InitializeRequest, _ db: Database, _ fingerprint: FileFingerprint?
    ) throws {
        try checkContent(db)
        try JournalLeftovers(db).remove(db)
        let local = MigrationTables.excluded(unless: request.tables ?? [])
        for (_, sql) in Array(JournalSchema.tables) + JournalSchema.indexes { try db.execute(sql: sql) }
        try db.execute(
            sql: """
                INSERT INTO _journal_replica (id, format, origin, cluster, include, exclude, fingerprint)
                VALUES (1, ?, ?, ?, ?, ?, ?)
                """,
            arguments: [
                JournalSchema.format, Data(request.origin.bytes), request.cluster,
                request.tables.map(NameList.encode), NameList.encode(request.excluding + local), fingerprint?.text,
            ])
        try db.execute(
            sql: "INSERT INTO _journal_origins (id, origin) VALUES (0, ?)", arguments: [Data(request.origin.bytes)])
        try db.execute(
            sql: "INSERT INTO _journal_runs (first_seq, origin, first_version, floor, known) VALUES (1, 0, 1, 0, x'')")
    }

    /// - Throws: ``JournalError/Code/corrupt`` when SQLite finds damage.
    static func checkContent(_ db: Database) throws {
        guard try !isChecked(db, "PRAGMA quick_check(1000000)") else { return }
        // A table that only its own program can read stops the check of the whole file, so each table is
        // checked separately.
        for table in try TableInspection.all(db) {
            _ = try isChecked(db, "PRAGMA quick_check(\(SQLText.quote(identifier: table.name)))")
        }
    }

    /// - Returns: False when the check needs something that only the table's own program has; see
    ///   ``ApplicationDefined``.
    private static func isChecked(_ db: Database, _ pragma: String) throws -> Bool {
        do {
            let problems = try String.fetchCursor(db, sql: pragma)
            while let problem = try problems.next(), problem != "ok" {
                // SQLite 3.40 reports this for intact WITHOUT ROWID tables whose key is not their first
                // column.
                if problem.hasPrefix("NULL value in ") { continue }
                throw JournalError(
                    .corrupt, "The database is damaged: \(problem)", hint: "Repair it or restore a backup first.")
            }
            return true
        } catch let error as DatabaseError {
            guard ApplicationDefined.missing(error) != nil else { throw error }
            return false
        }
    }

    private static func update(_ request: InitializeRequest, _ db: Database) throws {
        let identity = try Identity(db)
        guard request.cluster == identity.cluster || request.cluster == InitializeRequest.defaultCluster else {
            throw JournalError(
                .clusterMismatch, "The database belongs to the cluster \(identity.cluster), not to \(request.cluster)",
                hint: "Leave the cluster out to refresh it.")
        }
        // Exclusions accumulate, because a program may have excluded tables that it keeps local. A table is
        // included again only by naming it.
        let names = try TableNames(db)
        let named = Set((request.tables ?? []).map(names.folded))
        let before = try NameList.decode(
            String.fetchOne(db, sql: "SELECT exclude FROM _journal_replica") ?? "[]")
        let kept = before.filter { !named.contains(names.folded($0)) }
        // Where all other tables are tracked, naming excluded ones adds them, and takes none away.
        let onlyAdds = try named.isSubset(of: before.map(names.folded)) && TrackingPolicy(db).include == nil
        if let tables = request.tables, !onlyAdds {
            try db.execute(sql: "UPDATE _journal_replica SET include = ?", arguments: [NameList.encode(tables)])
        }
        if kept != before {
            try db.execute(sql: "UPDATE _journal_replica SET exclude = ?", arguments: [NameList.encode(kept)])
        }
        _ = try Capture.exclude(request.excluding, db)
    }
}
