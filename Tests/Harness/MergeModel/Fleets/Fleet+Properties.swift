import Journal
import Sync
import TestSupport

// Which rows the machines have, and what became of values in cells that stay where they are.
extension Fleet {
    /// Compares the machines of one release, which know the same.
    func checkReleases() throws {
        for (release, machines) in Dictionary(grouping: machines, by: \.release) {
            for machine in machines.dropFirst() {
                // A machine that excludes a table has its own rows in it.
                let tables = Set(machine.columns.map(\.table)).intersection(machines[0].columns.map(\.table))
                let first = try content(machines[0], of: tables)
                let other = try content(machine, of: tables)
                guard other == first else {
                    throw Failure(what: "two machines of release \(release) differ:\n  \(first)\n  \(other)")
                }
            }
        }
    }

    /// Checks that a row of a machine which has dropped a column has that column's default where the column still is.
    func checkDefaults(_ machine: Int) throws {
        guard machines[machine].columns.contains(FleetColumn(table: "item", name: "memo")) else { return }
        let rows = try machines[machine].rows("SELECT id FROM item WHERE typeof(memo) != 'text'")
        guard rows.isEmpty else { throw Failure(what: "machine \(machine) does not show the default of memo: \(rows)") }
    }

    /// Checks all properties, when all machines have run all migrations and know the same.
    func check() throws {
        let tables = Set(machines[0].columns.map(\.table))
        let ledgers = try machines.map(ledger)
        let first = try content(machines[0], of: tables)
        for (index, machine) in machines.enumerated().dropFirst() {
            let other = try content(machine, of: tables)
            guard other == first else {
                throw Failure(what: "machine 0 and \(index) differ:\n  \(first)\n  \(other)")
            }
            guard ledgers[index] == ledgers[0] else {
                let lines =
                    ledgers[0].filter { !ledgers[index].contains($0) }.map { "  - \($0)" }
                    + ledgers[index].filter { !ledgers[0].contains($0) }.map { "  + \($0)" }
                throw Failure(what: "the ledgers of 0 and \(index) differ:\n\(lines.joined(separator: "\n"))")
            }
        }
        try checkLedger()
        let lost = ledgers[0].joined(separator: "\n")
        try checkCells(lost)
        try checkTables(lost)
    }

    private func content(_ machine: FleetMachine, of tables: Set<String>) throws -> [String] {
        try tables.sorted().flatMap { table in
            let names = machine.columns.filter { $0.table == table }.map(\.name).sorted()
            return try machine.rows("SELECT id, \(names.joined(separator: ", ")) FROM \(table) ORDER BY id").map {
                row in
                "\(table) " + zip(["id"] + names, row).map { "\($0)=\($1.plain)" }.joined(separator: " ")
            }
        }
    }

    private func ledger(_ machine: FleetMachine) throws -> [String] {
        try machine.fixture.replica.read { db in
            try ConflictEntry.all(db).map { entry in
                "\(entry.table) \(entry.kind.rawValue) \(entry.lostOrigin.short):\(entry.lostVersion) "
                    + entry.lost.map { "\($0.column)=\($0.value.plain)" }.sorted().joined(separator: " ")
            }.sorted()
        }
    }

    /// - Parameter lost: What the ledger has.
    private func checkCells(_ lost: String) throws {
        let overwritten = Set(record.seen.values)
        for (cell, values) in record.written.sorted(by: { $0.value[0] < $1.value[0] }) {
            let row = try machines[0].rows("SELECT \(cell.column) FROM \(cell.table) WHERE id = \(cell.id)")
            try expectRow(cell.table, cell.id, row.isEmpty, isGone: isDeleted(cell.table, cell.id))
            guard let value = row.first?.first?.plainText else { continue }
            for text in values where text != value && !overwritten.contains(text) && !lost.contains("'\(text)'") {
                throw Failure(what: "\(cell) has '\(value)', and '\(text)' is in no ledger:\n\(lost)")
            }
        }
    }

    func isDeleted(_ table: String, _ id: Int) -> Bool {
        record.deleted.contains(.init(table: table, id: id, column: ""))
    }

    func expectRow(_ table: String, _ id: Int, _ isMissing: Bool, isGone: Bool) throws {
        guard isMissing == isGone else {
            throw Failure(what: "\(table) \(id) is \(isMissing ? "gone" : "back")")
        }
    }
}
