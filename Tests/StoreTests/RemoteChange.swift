import GRDB
import Journal

/// Writes what the replication writes: a changed row, and its entry in the journal under another machine's
/// origin.
enum RemoteChange {
    static func apply(to path: String, id: Int64, age: Int, origin: OriginID) throws {
        let replica = try Replica.open(at: path)
        let connection = try replica.openMergeConnection()
        try connection.write { db in
            var origins = try OriginTable(db)
            let number = try origins.number(of: origin, in: db)
            let shapes = try ShapeRegistry(db)
            guard let shape = shapes.tracked(table: "Person"), let column = shape.shape.columns.firstIndex(of: "age")
            else {
                throw JournalError(.unknownTable, "Person is not tracked")
            }
            try db.execute(sql: "UPDATE Person SET age = ? WHERE id = ?", arguments: [age, id])
            try db.execute(
                sql: """
                    INSERT INTO _journal (origin, version, tx, shape, op, stamp, mask, v0, v\(column))
                    VALUES (?, 1, 1, ?, 2, 1, ?, ?, ?)
                    """, arguments: [number, shape.id, 1 << column, id, age])
        }
        try connection.close()
        try replica.close()
    }
}
