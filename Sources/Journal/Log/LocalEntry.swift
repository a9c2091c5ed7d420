import GRDB

/// A change of this replica that no trigger captures. Its entry is appended in the form that a trigger would
/// append.
///
/// The reader derives its version, stamp and life, as for every local entry.
package struct LocalEntry {
    /// The shape of the row.
    let shape: ShapeRegistry.Entry
    let operation: Operation
    /// The values of the row in the order of the shape. A delete needs only the key.
    let values: [Value]
    /// The columns besides the key that the entry carries, ascending.
    let columns: [Int]

    package static func insert(_ row: [Value], _ shape: ShapeRegistry.Entry) -> LocalEntry {
        LocalEntry(
            shape: shape, operation: .insert, values: row, columns: Array(shape.shape.keyCount..<row.count))
    }

    /// An insert of a living row that only spells its key anew, by a text that the key's collation takes for
    /// the same.
    static func respelling(_ row: [Value], _ shape: ShapeRegistry.Entry) -> LocalEntry {
        LocalEntry(shape: shape, operation: .insert, values: row, columns: [])
    }

    /// - Parameter columns: The columns besides the key that were changed, ascending; not empty.
    package static func update(_ row: [Value], columns: [Int], _ shape: ShapeRegistry.Entry) -> LocalEntry {
        LocalEntry(shape: shape, operation: .update, values: row, columns: columns)
    }

    /// - Parameter key: The values of the primary key. Other values may follow.
    package static func delete(_ key: [Value], _ shape: ShapeRegistry.Entry) -> LocalEntry {
        LocalEntry(shape: shape, operation: .delete, values: key, columns: [])
    }

    /// Appends the entry to the journal.
    ///
    /// - Throws: ``JournalError`` with the code for the SQLite error; the transaction must then be rolled
    ///   back.
    package func append(_ db: Database) throws {
        var names = ["shape", "op"]
        var bound: [Value] = [.integer(shape.id), .integer(operation.rawValue)]
        let isPart = operation == .insert && shape.shape.keyCount + columns.count < shape.shape.columns.count
        if operation == .update || isPart {
            let carried = isPart ? Array(0..<shape.shape.keyCount) + columns : columns
            let mask = carried.reduce(into: ColumnMask()) { $0.insert($1) }
            for (word, bits) in mask.words.enumerated() {
                names.append(JournalSchema.maskColumn(word))
                bound.append(.integer(Int64(bitPattern: bits)))
            }
        }
        for column in Array(0..<shape.shape.keyCount) + columns {
            names.append("v\(column)")
            bound.append(values[column])
        }
        let insert = try RawStatement(
            db,
            "INSERT INTO _journal (stamp, \(names.joined(separator: ", "))) VALUES (julianday('now'), "
                + bound.map { _ in "?" }.joined(separator: ", ") + ")")
        for (index, value) in bound.enumerated() { try insert.bind(value, at: Int32(index + 1)) }
        try insert.run()
    }
}
