import GRDB
import Journal

/// What applying keeps between transactions on one merge connection: tables, statements, the index of concurrent changes.
///
/// Belongs to one connection, and is thrown away when the schema changes or a transaction fails.
final class ApplySession {
    private let db: Database
    private let schemaVersion: Int64
    private let origin: OriginID
    private let inspections: [String: TableInspection]
    private var contexts: [Int64: TableContext] = [:]
    private var writers: [Int64: RowWriter] = [:]
    private var uniqueIndexes: [Int64: [UniqueIndex]] = [:]
    let foreignKeys: ForeignKeyMap
    let concurrent = ConcurrentChanges()

    init(_ db: Database) throws {
        self.db = db
        schemaVersion = try ApplySession.schemaVersion(db)
        origin = try Identity(db).origin
        let registry = try ShapeRegistry(db)
        let tables = try TableInspection.all(db).filter { registry.tracked(table: $0.name) != nil }
        inspections = Dictionary(tables.map { (SQL.foldedName($0.name), $0) }, uniquingKeysWith: { first, _ in first })
        foreignKeys = try ForeignKeyMap(db, tables: tables)
    }

    /// False after a schema change, and when another process gave the replica a new name: changes are remembered by name.
    func isCurrent() throws -> Bool {
        try ApplySession.schemaVersion(db) == schemaVersion && Identity(db).origin == origin
    }

    func context(of entry: ShapeRegistry.Entry) -> TableContext {
        if let context = contexts[entry.table] { return context }
        let inspection = inspections[SQL.foldedName(entry.shape.table)]
        let context = TableContext(
            tableID: entry.table, inspection: inspection, collations: inspection?.keyCollations ?? entry.collations,
            foreignKeys: inspection.map { foreignKeys.foreignKeys(of: $0.name) } ?? [],
            references: inspection.map { foreignKeys.references(to: $0.name) } ?? [])
        contexts[entry.table] = context
        return context
    }

    func context(ofTable name: String, registry: ShapeRegistry) -> TableContext? {
        registry.tracked(table: name).map(context)
    }

    func writer(of context: TableContext, _ table: TableInspection) -> RowWriter {
        if let writer = writers[context.tableID] { return writer }
        let writer = RowWriter(db, table: table)
        writers[context.tableID] = writer
        return writer
    }

    func uniqueIndexes(of context: TableContext, _ table: TableInspection) throws -> [UniqueIndex] {
        if let known = uniqueIndexes[context.tableID] { return known }
        let indexes = try UniqueIndex.all(db, table: table.name)
        uniqueIndexes[context.tableID] = indexes
        return indexes
    }

    private static func schemaVersion(_ db: Database) throws -> Int64 {
        try Int64.fetchOne(db, sql: "PRAGMA schema_version") ?? 0
    }
}
