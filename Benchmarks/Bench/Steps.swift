/// The steps of the table in docs/PERFORMANCE.md on a plain connection, with and without capture.
struct LocalSteps {
    let work: Workload
    let database: PlainDatabase

    func bulkInsert() throws {
        let statement = try database.prepare(Workload.insertSQL)
        try database.execute("BEGIN IMMEDIATE")
        for index in 0..<work.rows {
            work.bindRow(index, to: statement)
            try statement.run()
        }
        try database.execute("COMMIT")
    }

    func singleInserts() throws {
        let statement = try database.prepare(Workload.insertSQL)
        for index in work.rows..<work.total {
            work.bindRow(index, to: statement)
            try statement.run()
        }
    }

    func bulkUpdate() throws { try database.execute("UPDATE person SET age = age + 1") }

    func singleUpdates() throws {
        let statement = try database.prepare("UPDATE person SET score = ? WHERE id = ?")
        for index in 0..<work.single {
            statement.bind(Double(index) + 0.25, at: 1)
            work.bindKey(index * 5, to: statement, at: 2)
            try statement.run()
        }
    }

    func bulkDelete() throws { try database.execute("DELETE FROM person WHERE rowid % 2 = 0") }

    /// Sets one column of the first `count` rows, one statement for each row, in one transaction.
    func keyedUpdates(_ column: String, count: Int, offset: Double) throws {
        let statement = try database.prepare("UPDATE person SET \(column) = ? WHERE id = ?")
        try database.execute("BEGIN IMMEDIATE")
        for index in 0..<count {
            statement.bind(Double(index) + offset, at: 1)
            work.bindKey(index, to: statement, at: 2)
            try statement.run()
        }
        try database.execute("COMMIT")
    }
}
