import Journal

extension Database {
    /// Calls `body` with the rows of any SELECT, `size` rows at a time. Only one batch is in memory, whatever the
    /// number of rows.
    ///
    /// All batches are of one snapshot, in which `body` runs, as in `read(_:)`. Inside a transaction they are of
    /// that transaction; `body` may write then, but whether rows that it changes are met is undefined.
    ///
    /// ```swift
    /// try db.forEachRow(batch: 500, "SELECT name, age FROM Person WHERE age > ?", 60) { rows in
    ///     for row in rows { print(try row.value(String.self, "name")) }
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - size: The maximum number of rows in a batch; less than 1 counts as 1.
    ///   - sql: One statement that does not write. Interpolated values are bound.
    ///   - arguments: The values of the `?` placeholders that are not interpolated.
    ///   - body: Receives each batch; it is not called without rows.
    /// - Throws: What `body` and ``rows(_:_:)`` throw, and ``StoreError/Code/readOnly`` for a statement that writes;
    ///   no more batches are read then.
    public func forEachRow(
        batch size: Int, _ sql: SQL, _ arguments: (any ColumnValue)?..., body: ([SQLRow]) throws -> Void
    ) throws {
        try forEach(batch: size, RowReading(sql.binding(arguments)), body)
    }

    /// Calls `body` with the rows of any SELECT as values of a struct, `size` at a time; otherwise like
    /// ``forEachRow(batch:_:_:body:)``. Columns are matched to properties by name.
    ///
    /// - Throws: What `body` and ``rows(as:_:_:)`` throw, and ``StoreError/Code/readOnly`` for a statement that
    ///   writes; no more batches are read then.
    public func forEachRow<Row: ValueModel>(
        as type: Row.Type, batch size: Int, _ sql: SQL, _ arguments: (any ColumnValue)?...,
        body: ([Row]) throws -> Void
    ) throws {
        try forEach(batch: size, RowReading(as: type, sql.binding(arguments)), body)
    }

    func forEach<Element>(
        batch size: Int, _ reading: RowReading<Element>, operation: String = "querying", table: String? = nil,
        _ body: ([Element]) throws -> Void
    ) throws {
        // An error of the caller's own code is not one of the query.
        var isCallers = false
        do {
            try access(operation: operation, table: table, showingSnapshot: true) { context in
                try (context as? WriteContext)?.confirm()
                var select = try OpenSelect(reading, context)
                while !select.isAtEnd {
                    let rows = try select.next(Swift.max(1, size), context)
                    if rows.isEmpty { break }
                    isCallers = true
                    try body(rows)
                    isCallers = false
                    try (context as? WriteContext)?.checkOpen()
                }
            }
        } catch let error as StoreError where !isCallers {
            throw error.during(operation, table: table)
        }
    }

    /// A sequence of the rows of any SELECT, `size` rows at a time. All batches are of one snapshot, the newest one
    /// when the first batch is asked for.
    ///
    /// ```swift
    /// for try await rows in db.rowBatches(of: 500, "SELECT name, age FROM Person") { try await send(rows) }
    /// ```
    ///
    /// Each batch is read on a separate thread when it is asked for. An iterator has a connection of its own until its
    /// end or its release, so code between two batches may read and write, and any number of iterators may be open.
    /// While one is, the file's log keeps what is written and grows. A database in memory has only one connection: all
    /// rows are read with the first batch.
    ///
    /// - Parameters:
    ///   - size: The maximum number of rows in a batch; less than 1 counts as 1.
    ///   - sql: One statement that does not write. Interpolated values are bound.
    ///   - arguments: The values of the `?` placeholders that are not interpolated.
    public func rowBatches(
        of size: Int, _ sql: SQL, _ arguments: (any ColumnValue)?...
    ) -> RowBatches<SQLRow> {
        RowBatches(database: self, size: size, operation: "querying", table: nil) {
            RowReading(try sql.binding(arguments))
        }
    }

    /// A sequence of the rows of any SELECT as values of a struct, `size` at a time; otherwise like
    /// ``rowBatches(of:_:_:)``. Columns are matched to properties by name.
    public func rowBatches<Row: ValueModel>(
        as type: Row.Type, of size: Int, _ sql: SQL, _ arguments: (any ColumnValue)?...
    ) -> RowBatches<Row> {
        RowBatches(database: self, size: size, operation: "querying", table: nil) {
            RowReading(as: type, try sql.binding(arguments))
        }
    }
}

extension Query where M: ValueModel {
    /// Calls `body` with the rows as values, `size` at a time, in one snapshot; see
    /// ``Database/forEachRow(batch:_:_:body:)``.
    ///
    /// - Throws: What `body` and `all(in:)` throw; no more batches are read then.
    public func forEach(batch size: Int, in database: Database, _ body: ([M]) throws -> Void) throws {
        try database.forEach(
            batch: size, RowReading(as: M.self, select(Query.everyColumn)), table: M.schema.table, body)
    }

    /// A sequence of the rows as values, `size` at a time, of one snapshot; see ``Database/rowBatches(of:_:_:)``.
    ///
    /// ```swift
    /// for try await people in PersonRow.query.batches(of: 500, in: db) { try await send(people) }
    /// ```
    public func batches(of size: Int, in database: Database) -> RowBatches<M> {
        RowBatches(database: database, size: size, operation: "querying", table: M.schema.table) {
            RowReading(as: M.self, try select(Query.everyColumn))
        }
    }
}
