import Journal

// What holds for the tables that migrations treat as a whole.
extension Fleet {
    /// Checks the tables that are dropped, put aside or excluded, and those whose columns exchange their names.
    ///
    /// 1. Each value that a user wrote stands in some row, or a user saw it and wrote over it, or its row was deleted or
    ///    its table was dropped on a machine that had received it, or it is in the ledger.
    /// 2. A value that was deleted does not stand in the table where it was.
    /// 3. A table that was dropped and made again has lost the rows that it had where it was dropped, and no others,
    ///    but for those that others changed while it was gone.
    /// 4. What was written to a log by a machine that had put it aside stays in the table in which it was written. A row
    ///    that was inserted by a machine that knew nothing of that is in the log that was put aside. Each value stands
    ///    once.
    /// 5. What was written to a copy of a row while its table was excluded stands nowhere. New rows do.
    /// 6. No value is NULL: no program wrote that.
    ///
    /// - Parameter lost: What the ledger has.
    func checkTables(_ lost: String) throws {
        var places: [String: [String]] = [:]
        for table in tables.map(\.rawValue) + (tables.contains(.log) ? [FleetTable.logPutAside] : []) {
            for row in try machines[0].rows("SELECT * FROM \(table)") {
                for value in row.dropFirst() {
                    guard let text = value.plainText else { throw Failure(what: "a row of \(table) has no value") }
                    places[text, default: []].append(table)
                }
            }
        }
        let excused = record.dropped.union(record.seen.values).union(record.removed.values.joined())
        for writing in record.writings where places[writing.value] == nil && !excused.contains(writing.value) {
            guard lost.contains("'\(writing.value)'") else {
                throw Failure(what: "'\(writing.value)' of \(writing.table) is in no table and in no ledger:\n\(lost)")
            }
        }
        for (table, values) in record.removed {
            if let value = values.first(where: { $0.hasPrefix("user ") && places[$0]?.contains(table) == true }) {
                throw Failure(what: "'\(value)' was deleted from \(table), and stands there")
            }
        }
        if let value = record.stale.first(where: { places[$0] != nil }) {
            throw Failure(what: "'\(value)' was written to an old copy, and stands")
        }
        try checkLog(places)
        try checkRows()
    }

    private func checkLog(_ places: [String: [String]]) throws {
        let overwritten = Set(record.seen.values)
        let names = [FleetTable.log.rawValue, FleetTable.logPutAside]
        for writing in record.writings where names.contains(writing.table) {
            guard let tables = places[writing.value] else { continue }
            guard tables.count == 1 else {
                throw Failure(what: "'\(writing.value)' stands \(tables.count) times: in \(tables)")
            }
            let isOld =
                writing.rotation == .unknown && writing.isInsert && !overwritten.contains(writing.value)
            let isPlaced = writing.rotation == .done || isOld
            let expected = isOld ? FleetTable.logPutAside : writing.table
            guard !isPlaced || tables == [expected] else {
                throw Failure(what: "'\(writing.value)' stands in \(tables[0]), not in \(expected)")
            }
        }
    }

    /// Checks which rows are there, in tables whose keys programs give.
    private func checkRows() throws {
        for table in tables where table != .log {
            let inserted = record.writings.filter { $0.table == table.rawValue && $0.isInsert }.compactMap(\.id)
            // The migration inserts the first row of the table that it makes again.
            for id in Set(inserted + [2, 3, 4] + (table == .cache ? [] : [1])).sorted() {
                let row = try machines[0].rows("SELECT id FROM \(table.rawValue) WHERE id = \(id)")
                let isGone = isDeleted(table.rawValue, id) || table == .cache && record.droppedRows.contains(id)
                try expectRow(table.rawValue, id, row.isEmpty, isGone: isGone)
            }
        }
    }
}
