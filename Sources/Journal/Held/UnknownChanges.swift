import GRDB

/// Finds received changes that tables cannot show, because their table or one of its columns is not in this
/// file.
///
/// Left out is what waits for nothing: changes that a table here has shown before it, or the column, was
/// dropped; and changes of a machine that has since written rows of the table without the column.
///
/// It costs one walk over the journal when the journal has such shapes, and no walk otherwise.
struct UnknownChanges {
    let db: Database
    let registry: ShapeRegistry
    /// The folded names of the tables here that are not tracked because only their own program can write
    /// them.
    private let ofPrograms: Set<String>

    init(_ db: Database, _ registry: ShapeRegistry) throws {
        self.db = db
        self.registry = registry
        let tracked = Set(registry.entries.values.filter(\.isTracked).map(\.table))
        // Looking through the schema takes time in proportion to its tables.
        guard registry.entries.values.contains(where: { !tracked.contains($0.table) }) else {
            ofPrograms = []
            return
        }
        let untracked = try TableCoverage(db).untracked.filter { $0.cause == .needsProgram }
        ofPrograms = Set(untracked.map { registry.names.folded($0.table) })
    }

    func all() throws -> [HeldEntry] {
        var shapes: [(reason: HoldReason, entry: ShapeRegistry.Entry)] = []
        for entry in registry.entries.values {
            if let reason = reason(entry) { shapes.append((reason, entry)) }
        }
        guard !shapes.isEmpty else { return [] }
        let counts = try changes(of: shapes.map(\.entry.id))
        shapes = shapes.filter { counts[$0.entry.id] != nil }.sorted { $0.entry.id < $1.entry.id }
        let lines = Dictionary(grouping: shapes) { "\($0.entry.table) \($0.reason.rawValue)" }
        return try lines.values.sorted { $0[0].entry.id < $1[0].entry.id }.map { group in
            try line(
                group[0].reason, group.map(\.entry), changes: group.reduce(0) { $0 + counts[$1.entry.id, default: 0] })
        }
    }

    private func reason(_ entry: ShapeRegistry.Entry) -> HoldReason? {
        guard !entry.shape.isHidden else { return nil }
        guard let tracked = registry.tracked(table: entry.shape.table) else {
            return ofPrograms.contains(registry.names.folded(entry.shape.table)) ? .needsProgram : .missingTable
        }
        // The last merge found that rows can show no column of the table.
        if tracked.shownColumns == [] { return .needsProgram }
        guard !entry.isTracked else { return nil }
        let here = tracked.shape
        guard here.keyColumns.map(SQLText.foldedName) == entry.shape.keyColumns.map(SQLText.foldedName) else {
            return .differentKey
        }
        return missing(entry.shape, here).isEmpty ? nil : .missingColumn
    }

    private func missing(_ shape: TableShape, _ here: TableShape) -> [String] {
        let known = Set(here.columns.map(SQLText.foldedName))
        return shape.columns.filter { !known.contains(SQLText.foldedName($0)) }
    }

    private func changes(of shapes: [Int64]) throws -> [Int64: Int] {
        let list = shapes.sorted().map(String.init).joined(separator: ", ")
        let statement = try RawStatement(
            db,
            """
            WITH later AS (
              SELECT s.tbl, n.origin, max(n.seq) AS seq FROM _journal AS n JOIN _journal_tables AS s USING (shape)
              WHERE s.tracked = 1 AND n.origin IS NOT NULL
                AND s.tbl IN (SELECT tbl FROM _journal_tables WHERE shape IN (\(list)))
              GROUP BY s.tbl, n.origin)
            SELECT j.shape, count(*) FROM _journal AS j JOIN _journal_tables AS t USING (shape)
              LEFT JOIN later ON later.tbl = t.tbl AND later.origin = j.origin
            WHERE j.origin IS NOT NULL AND j.shape IN (\(list))
              AND j.seq > max(ifnull(t.dropped, 0), ifnull(t.gone, 0), ifnull(later.seq, 0))
            GROUP BY j.shape
            """)
        var counts: [Int64: Int] = [:]
        while try statement.step() { counts[statement.int64(0)] = Int(statement.int64(1)) }
        return counts
    }

    private func line(_ reason: HoldReason, _ shapes: [ShapeRegistry.Entry], changes: Int) throws -> HeldEntry {
        let name = shapes[0].shape.table
        switch reason {
        case .missingTable:
            let detail =
                try TableInspection.named(name, db) == nil
                ? "there is no such table in this file" : "the table is here, but is not tracked"
            return entry(name, reason, detail, columns: [], changes: changes)
        case .needsProgram:
            return entry(
                name, reason,
                "only the table's own program can write it: it has a function or a collation that SQLite lacks",
                columns: [], changes: changes)
        case .differentKey:
            let key = shapes.map { "(\($0.shape.keyColumns.joined(separator: ", ")))" }
            return entry(
                name, reason, "the table has another primary key there: \(Set(key).sorted().joined(separator: ", "))",
                columns: [], changes: changes)
        case .missingColumn:
            let here = registry.tracked(table: name)?.shape
            var columns: [String] = []
            for shape in shapes {
                for column in here.map({ missing(shape.shape, $0) }) ?? [] where !columns.contains(column) {
                    columns.append(column)
                }
            }
            return entry(
                name, reason, "not in this file: \(columns.joined(separator: ", "))", columns: columns,
                changes: changes)
        default: preconditionFailure("\(reason) is a reason of rows")
        }
    }

    private func entry(_ table: String, _ reason: HoldReason, _ detail: String, columns: [String], changes: Int)
        -> HeldEntry
    {
        HeldEntry(
            table: table, reason: reason.rawValue, detail: detail,
            subject: .changes(HeldEntry.Changes(count: changes, columns: columns)))
    }
}
