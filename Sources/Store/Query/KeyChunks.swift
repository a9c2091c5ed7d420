import Journal

/// Splits any number of keys into conditions with few parameters each. A repeated key counts once.
struct KeyChunks<M: Model> {
    /// The number of keys in one statement: few enough for 999 parameters, the smallest limit of SQLite, with
    /// one key column. The statement of this size is prepared once and used for all full chunks.
    private static var size: Int { max(1, 500 / max(1, M.schema.key.count)) }

    private let ids: [M.ID]

    init(_ ids: some Sequence<M.ID>) {
        var seen: Set<ExactKey> = []
        self.ids = ids.filter { seen.insert(M.Fields._exact($0)).inserted }
    }

    func conditions() throws -> [Condition<M>] {
        try stride(from: 0, to: ids.count, by: KeyChunks.size).map { start in
            try condition(ids[start..<min(start + KeyChunks.size, ids.count)])
        }
    }

    private func condition(_ ids: ArraySlice<M.ID>) throws -> Condition<M> {
        let columns = M.schema.key
        // A row value's list must be VALUES (https://sqlite.org/rowvalue.html#row_value_in_operators).
        let row = columns.count == 1 ? "?" : "(" + columns.map { _ in "?" }.joined(separator: ", ") + ")"
        var list = SQL(
            raw: (columns.count == 1 ? "" : "VALUES ") + Array(repeating: row, count: ids.count).joined(separator: ", ")
        )
        do {
            list.bind(try ids.flatMap { try M.Fields._keyValues($0) })
        } catch {
            throw StoreError.unstorable(error, column: columns.first.map { M.schema.columns[$0].name })
        }
        let key = Template<M>(Array(columns.map { [Template<M>.Part.column($0)] }.joined(separator: [.sql(", ")])))
        return Condition(template: "(" + key + ") IN (" + Template(list) + ")")
    }
}
