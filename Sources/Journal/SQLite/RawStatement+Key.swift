import GRDBSQLite

extension Key {
    /// Appends the canonical bytes of a key whose values are `count` columns of a statement's current row,
    /// from column `first` on.
    static func append(
        _ statement: RawStatement, from first: Int32, count: Int, collations: [KeyCollation], to bytes: inout [UInt8]
    ) {
        for index in 0..<count {
            let column = first + Int32(index)
            let collation = index < collations.count ? collations[index] : .binary
            switch statement.type(column) {
            case SQLITE_INTEGER: append(.integer(statement.int64(column)), collation: collation, to: &bytes)
            case SQLITE_TEXT: statement.withBytes(column) { append(text: $0, collation: collation, to: &bytes) }
            default: append(statement.column(column), collation: collation, to: &bytes)
            }
        }
    }
}
