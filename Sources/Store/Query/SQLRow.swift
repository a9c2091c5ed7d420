import GRDBSQLite
import Journal

/// One row of any SELECT.
public struct SQLRow: Sendable {
    /// The names of the columns in the SELECT. A name may occur several times.
    public let columns: [String]
    /// The values of ``columns``, with SQLite's storage classes and exact bytes.
    public let values: [Value]

    /// The value of the first column of this name, as SQLite compares names; nil when there is none.
    public subscript(column: String) -> Value? {
        let name = SQLText.foldedName(column)
        return columns.firstIndex { SQLText.foldedName($0) == name }.map { values[$0] }
    }

    /// Reads a column as a Swift value.
    ///
    /// - Throws: ``StoreError`` with `missingColumn` or `undecodable`.
    public func value<T: ColumnValue>(_ type: T.Type, _ column: String) throws -> T {
        guard let value = self[column] else {
            throw StoreError(
                .missingColumn, "The query returns no column \(column)",
                hint: StoreError.names(("column", "columns"), columns), column: column)
        }
        do {
            return try T(columnValue: value)
        } catch {
            throw StoreError.undecodable(column: column, error).ofResult
        }
    }
}

extension PreparedStatement {
    var columnNames: [String] {
        (0..<sqlite3_column_count(handle)).map { index in
            sqlite3_column_name(handle, index).map { String(cString: $0) } ?? ""
        }
    }

    /// The current row.
    var values: [Value] {
        (0..<sqlite3_column_count(handle)).map { ColumnCursor(statement: handle, index: $0).value }
    }
}
