import Journal

/// Some consecutive rows of a query, as live objects, and the place where the next ones begin.
public struct Page<M: Model>: Sendable {
    /// The objects, in the order of the query.
    public let objects: [M]
    /// The place after the last row; nil when the query had no more rows.
    public let next: PageCursor?
}

extension Query where M: Model {
    /// Returns the first rows, or those after another page. A page is found by the values of the row before
    /// it, so it costs as much as the first one where an index has the order, and rows that are inserted or
    /// deleted before it do not move it.
    ///
    /// ```swift
    /// let people = Person.query.order(by: \.name)
    /// let first = try people.page(size: 50, in: db)
    /// if let next = first.next { let second = try people.page(size: 50, after: next, in: db) }
    /// ```
    ///
    /// - Parameters:
    ///   - size: The maximum number of rows; less than 1 counts as 1.
    ///   - cursor: ``Page/next`` of the page before, of the same query; nil for the first page.
    ///   - database: The database of the rows.
    /// - Throws: ``StoreError``: `sql` for a query with an order in raw SQL, a limit or an offset;
    ///   `invalidInput` for a cursor of another order; otherwise as described at ``Query``.
    public func page(size: Int, after cursor: PageCursor? = nil, in database: Database) throws -> Page<M> {
        let keyset = try Keyset(self)
        return try database.access(operation: "fetching", table: M.schema.table) { context in
            let page = try keyset.read(Swift.max(1, size), after: cursor, in: context)
            return Page(objects: try context.objects(for: page.rows, of: M.self), next: page.next)
        }
    }

    /// Calls `body` with all rows, `size` objects at a time, in the order of the query and of the key. Only one
    /// batch is in memory, whatever the number of rows.
    ///
    /// Each batch is read on a snapshot of its own, and `body` runs outside of it, so `body` may write. A row
    /// that is inserted, deleted or moved in the order meanwhile is met when it lies ahead, and a row that
    /// moves forward past the batch is met again. Inside `db.read` or `db.transaction` all batches are of that
    /// snapshot or transaction.
    ///
    /// ```swift
    /// try Person.where(\.age > 60).forEach(batch: 500, in: db) { people in
    ///     try db.transaction { for person in people { try person.save { $0.visits += 1 } } }
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - size: The maximum number of objects in a batch; less than 1 counts as 1.
    ///   - database: The database of the rows.
    ///   - body: Receives each batch; it is not called for a query without rows.
    /// - Throws: What `body` and ``page(size:after:in:)`` throw; no more batches are read then.
    public func forEach(batch size: Int, in database: Database, _ body: ([M]) throws -> Void) throws {
        var cursor: PageCursor?
        repeat {
            let page = try page(size: size, after: cursor, in: database)
            if !page.objects.isEmpty { try body(page.objects) }
            cursor = page.next
        } while cursor != nil
    }

    /// Calls `body` with the values of all rows, `size` rows at a time, without making objects. For exports,
    /// inside `db.read` where they must be of one snapshot; otherwise like `forEach(batch:in:_:)`.
    ///
    /// ```swift
    /// try db.read { try Person.query.forEachValues(batch: 500, in: db) { people in try export(people) } }
    /// ```
    ///
    /// - Throws: What `body` and ``page(size:after:in:)`` throw; no more batches are read then.
    public func forEachValues(batch size: Int, in database: Database, _ body: ([M.Fields]) throws -> Void) throws {
        let keyset = try Keyset(self)
        var cursor: PageCursor?
        repeat {
            let page = try valuePage(keyset, size: size, after: cursor, in: database)
            if !page.rows.isEmpty { try body(page.rows) }
            cursor = page.next
        } while cursor != nil
    }

    func valuePage(
        _ keyset: Keyset<M>, size: Int, after cursor: PageCursor?, in database: Database
    ) throws -> (rows: [M.Fields], next: PageCursor?) {
        try database.access(operation: "fetching", table: M.schema.table) {
            try keyset.read(Swift.max(1, size), after: cursor, in: $0)
        }
    }

    /// A sequence of all rows, `size` objects at a time. Each batch is read on a separate thread when it is
    /// asked for, on a snapshot of its own; see `forEach(batch:in:_:)` for what that means.
    ///
    /// ```swift
    /// for try await people in Person.query.batches(of: 500, in: db) { try await send(people.map(\.values)) }
    /// ```
    public func batches(of size: Int, in database: Database) -> Batches<M> {
        Batches(query: self, size: size, database: database)
    }

    /// A sequence of the values of all rows, `size` rows at a time, without making objects; otherwise like
    /// `batches(of:in:)`. For rows of one snapshot, see ``Database/rowBatches(of:_:_:)``.
    ///
    /// ```swift
    /// for try await people in Person.query.valueBatches(of: 500, in: db) { try await send(people) }
    /// ```
    public func valueBatches(of size: Int, in database: Database) -> ValueBatches<M> {
        ValueBatches(query: self, size: size, database: database)
    }
}
