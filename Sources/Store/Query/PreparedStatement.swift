import GRDB
import GRDBSQLite

/// A statement from GRDB's cache that is run through its raw handle: columns and parameters are read and
/// bound directly in SQLite.
///
/// Valid inside the access that made it. All rows are read before any code of the caller runs, so a cached
/// statement is never used twice at the same time.
struct PreparedStatement {
    let handle: OpaquePointer
    private let owner: Statement

    init(_ db: GRDB.Database, _ sql: String, cached: Bool = true) throws {
        do {
            owner = cached ? try db.cachedStatement(sql: sql) : try db.makeStatement(sql: sql)
        } catch {
            throw StoreError.wrapping(error)
        }
        handle = owner.sqliteStatement
    }

    /// The SQL, with `?` for bound values.
    var text: String { sqlite3_sql(handle).map { String(cString: $0) } ?? "" }
    var parameters: ParameterCursor { ParameterCursor(statement: handle) }
    var row: RowCursor { RowCursor(statement: handle) }
    /// The tables and columns that the statement reads.
    var region: DatabaseRegion { owner.databaseRegion }
    func isNull(_ column: Int) -> Bool { sqlite3_column_type(handle, Int32(truncatingIfNeeded: column)) == SQLITE_NULL }
    var isReadOnly: Bool { sqlite3_stmt_readonly(handle) != 0 }

    /// Binds `values` to the parameters.
    ///
    /// - Throws: ``StoreError/Code/argumentCount`` when the number of values differs from the number of
    ///   parameters.
    func bind(_ values: [any ColumnValue]) throws {
        let count = Int(sqlite3_bind_parameter_count(handle))
        guard count == values.count else {
            throw StoreError(
                .argumentCount,
                "The SQL has \(StoreError.count(count, "parameter")), and "
                    + "\(StoreError.count(values.count, "value")) \(values.count == 1 ? "was" : "were") given",
                hint: "Give one value for each `?`.", sql: text)
        }
        for (position, value) in values.enumerated() {
            do {
                try value.bind(to: parameters, at: position)
            } catch {
                throw StoreError.unstorable(error, column: nil)
            }
        }
    }

    /// Moves to the next row; false at the end.
    func step() throws -> Bool {
        switch sqlite3_step(handle) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        default: throw StoreError(statement: handle)
        }
    }

    /// Resets the statement for its next run. Bound values stay until they are bound again.
    func reset() { sqlite3_reset(handle) }

    func clearBindings() { sqlite3_clear_bindings(handle) }

    /// Runs `body`, then resets the statement and clears its bindings, also after an error.
    func run<Result>(_ body: (PreparedStatement) throws -> Result) rethrows -> Result {
        defer {
            sqlite3_reset(handle)
            sqlite3_clear_bindings(handle)
        }
        return try body(self)
    }

    /// The number of rows changed by the last INSERT, UPDATE or DELETE on the connection, without those of
    /// triggers.
    var changes: Int { Int(sqlite3_changes(sqlite3_db_handle(handle))) }

    /// The number of all rows ever changed on the connection, including those of triggers and foreign-key
    /// actions.
    var totalChanges: Int { Int(sqlite3_total_changes(sqlite3_db_handle(handle))) }

    /// Like GRDB's property, without its check of the queue, because this is called for each row of a bulk
    /// insert.
    var isInsideTransaction: Bool { sqlite3_get_autocommit(sqlite3_db_handle(handle)) == 0 }

    /// The rowid of the row that the connection inserted last.
    var lastRowid: Int64 { sqlite3_last_insert_rowid(sqlite3_db_handle(handle)) }
}
