import GRDB

/// The changes of others that stand in the journal only, because their table or a column of it is not in this file.
///
/// Costs one walk over the journal when there are such shapes, and nothing otherwise.
struct UnknownChanges {
    let db: Database
    let registry: ShapeRegistry

    func all() throws -> [HeldEntry] {
        let foreign = registry.entries.values.filter { !$0.isTracked && isUnknown($0) }
        guard !foreign.isEmpty else { return [] }
        let counts = try changes(of: foreign.map(\.id))
        let tables = Dictionary(grouping: foreign.filter { counts[$0.id] != nil }, by: \.table)
        return try tables.values.sorted { $0[0].table < $1[0].table }.map { shapes in
            try line(shapes.sorted { $0.id < $1.id }, changes: shapes.reduce(0) { $0 + counts[$1.id, default: 0] })
        }
    }

    private func isUnknown(_ entry: ShapeRegistry.Entry) -> Bool {
        guard let here = registry.tracked(table: entry.shape.table) else { return true }
        return !missing(entry.shape, here.shape).isEmpty
    }

    private func missing(_ shape: TableShape, _ here: TableShape) -> [String] {
        let known = Set(here.columns.map(SQLText.foldedName))
        return shape.columns.filter { !known.contains(SQLText.foldedName($0)) }
    }

    private func changes(of shapes: [Int64]) throws -> [Int64: Int] {
        let list = shapes.sorted().map(String.init).joined(separator: ", ")
        let statement = try RawStatement(
            db,
            "SELECT shape, count(*) FROM _journal WHERE origin IS NOT NULL AND shape IN (\(list)) GROUP BY shape")
        var counts: [Int64: Int] = [:]
        while try statement.step() { counts[statement.int64(0)] = Int(statement.int64(1)) }
        return counts
    }

    private func line(_ shapes: [ShapeRegistry.Entry], changes: Int) throws -> HeldEntry {
        let name = shapes[0].shape.table
        guard let here = registry.tracked(table: name) else {
            let detail =
                try TableInspection.named(name, db) == nil
                ? "there is no such table in this file" : "the table is here, but is not tracked"
            return entry(name, "missing_table", detail, columns: [], changes: changes)
        }
        var columns: [String] = []
        for shape in shapes {
            for column in missing(shape.shape, here.shape) where !columns.contains(column) { columns.append(column) }
        }
        return entry(
            name, "missing_column", "not in this file: \(columns.joined(separator: ", "))", columns: columns,
            changes: changes)
    }

    private func entry(_ table: String, _ reason: String, _ detail: String, columns: [String], changes: Int)
        -> HeldEntry
    {
        HeldEntry(
            id: nil, table: table, key: [], reason: reason, detail: detail,
            columns: columns.map { (column: $0, value: .null) }, isShown: false, changes: changes)
    }
}
