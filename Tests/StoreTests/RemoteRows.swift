import GRDB
import Journal

/// Writes as the replication does: rows on a connection without triggers, and their journal entries under
/// another machine's origin.
struct RemoteRows {
    private static let origin = OriginID(high: 0xAFA6, low: 1)

    let db: GRDB.Database
    private let number: Int64
    private let shapes: ShapeRegistry

    static func apply(to path: String, _ body: (RemoteRows) throws -> Void) throws {
        let replica = try Replica.open(at: path)
        let connection = try replica.openMergeConnection()
        try connection.write { db in
            var origins = try OriginTable(db)
            let number = try origins.number(of: origin, in: db)
            try body(RemoteRows(db: db, number: number, shapes: ShapeRegistry(db)))
        }
        try connection.close()
        try replica.close()
    }

    func write(_ table: String, insert: Bool, key: [Value], _ columns: [String: Value]) throws {
        let entry = try entry(table)
        let names = entry.shape.columns
        let keys = zip(entry.shape.keyColumns, key)
        let changed = columns.map { (position: names.firstIndex(of: $0.key) ?? 0, name: $0.key, value: $0.value) }
        if insert {
            let all = keys.map { ($0, $1) } + changed.map { ($0.name, $0.value) }
            try run(
                "INSERT INTO \"\(table)\" (\(all.map { "\"\($0.0)\"" }.joined(separator: ", "))) VALUES (\(all.map { _ in "?" }.joined(separator: ", ")))",
                all.map(\.1))
        } else {
            try run(
                "UPDATE \"\(table)\" SET \(changed.map { "\"\($0.name)\" = ?" }.joined(separator: ", ")) WHERE "
                    + keys.map { "\"\($0.0)\" = ?" }.joined(separator: " AND "), changed.map(\.value) + key)
        }
        let mask = changed.reduce(Int64(0)) { $0 | 1 << Int64($1.position) }
        try journal(
            entry, operation: insert ? 1 : 2, mask: insert ? .null : .integer(mask), key: key,
            changed.map { ($0.position, $0.value) })
    }

    func delete(_ table: String, key: [Value]) throws {
        let entry = try entry(table)
        try run(
            "DELETE FROM \"\(table)\" WHERE "
                + entry.shape.keyColumns.map { "\"\($0)\" = ?" }.joined(separator: " AND "), key)
        try journal(entry, operation: 3, mask: .null, key: key, [])
    }

    private func entry(_ table: String) throws -> ShapeRegistry.Entry {
        guard let entry = shapes.tracked(table: table) else {
            throw JournalError(.unknownTable, "\(table) is not tracked")
        }
        return entry
    }

    private func journal(
        _ entry: ShapeRegistry.Entry, operation: Int64, mask: Value, key: [Value], _ values: [(Int, Value)]
    ) throws {
        let columns = key.indices.map { "v\($0)" } + values.map { "v\($0.0)" }
        let bound: [Value] = [.integer(number), .integer(entry.id), .integer(operation), mask] + key + values.map(\.1)
        try run(
            """
            INSERT INTO _journal (version, tx, stamp, origin, shape, op, mask, \(columns.joined(separator: ", ")))
            VALUES ((SELECT count(*) + 1 FROM _journal WHERE origin IS NOT NULL), 1, 1, \(bound.map { _ in "?" }.joined(separator: ", ")))
            """, bound)
    }

    private func run(_ sql: String, _ values: [Value]) throws {
        let statement = try RawStatement(db, sql)
        for (index, value) in values.enumerated() { try statement.bind(value, at: Int32(index + 1)) }
        try statement.run()
    }
}
