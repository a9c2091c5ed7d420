import Journal
import TestSupport

// What users do: each writes on one machine, with the schema that it has.
extension Fleet {
    /// A user writes a column of a row that is here.
    mutating func edit(_ machine: Int) throws {
        let column = random.pick(machines[machine].columns)
        // What a user writes with the new schema is about what a daemon shows. Otherwise the user overwrites
        // what he cannot see, and the ledger is not asked.
        try look(machine)
        guard let id = try pickRow(of: column.table, on: machine) else { return }
        let shown = try machines[machine].rows("SELECT \(column.name) FROM \(column.table) WHERE id = \(id)")
        if case .blob? = shown.first?.first { throw Failure(what: "\(column) of row \(id) shows what nobody wrote") }
        let value = newValue()
        note(value, column, id: id, replacing: shown.first?.first?.plainText, on: machine)
        try write("UPDATE \(column.table) SET \(column.name) = '\(value)' WHERE id = \(id)", on: machine)
    }

    mutating func insert(_ machine: Int) throws {
        let here = Set(machines[machine].columns.map(\.table))
        let table = random.pick(["item"] + tables.map(\.rawValue).filter(here.contains))
        try insert(into: table, machines[machine].columns.filter { $0.table == table }, on: machine)
    }

    mutating func insert(into table: String, _ columns: [FleetColumn], on machine: Int) throws {
        // A program lets SQLite choose the numbers of a log.
        let isMinted = table == FleetTable.log.rawValue && random.chance(50)
        nextID += 1
        let id = isMinted ? nil : nextID
        var values: [String] = []
        for column in columns {
            values.append(newValue(values.count))
            note(values[values.count - 1], column, id: id, isInsert: true, on: machine)
        }
        try write(
            """
            INSERT INTO \(table)(id, \(columns.map(\.name).joined(separator: ", "))) \
            VALUES(\(id.map(String.init) ?? "NULL"), \(values.map { "'\($0)'" }.joined(separator: ", ")))
            """, on: machine)
    }

    mutating func delete(_ machine: Int) throws {
        try look(machine)
        try delete(from: random.pick(machines[machine].columns).table, on: machine)
    }

    mutating func delete(from table: String, on machine: Int) throws {
        guard let id = try pickRow(of: table, on: machine, atLeast: 2) else { return }
        let shown = try machines[machine].rows("SELECT * FROM \(table) WHERE id = \(id)").joined()
        record.delete(.init(table: table, id: id, column: ""), showing: shown.compactMap(\.plainText), on: machine)
        try write("DELETE FROM \(table) WHERE id = \(id)", on: machine)
    }

    /// - Returns: The key of a row; nil when the table has fewer than `least`.
    mutating func pickRow(of table: String, on machine: Int, atLeast least: Int = 1) throws -> Int? {
        let ids = try machines[machine].rows("SELECT id FROM \(table) ORDER BY id")
        guard ids.count >= least, case .integer(let id) = random.pick(ids)[0] else { return nil }
        return Int(id)
    }

    /// A value that no one has written.
    func newValue(_ index: Int? = nil) -> String {
        "user \(seed).\(story.count)\(index.map { ".\($0)" } ?? "")"
    }

    private mutating func note(
        _ value: String, _ column: FleetColumn, id: Int?, isInsert: Bool = false, replacing shown: String? = nil,
        on machine: Int
    ) {
        record.note(value, replacing: shown, on: machine)
        guard column.table == "item" || column.table == "team" else {
            let rotation: FleetRecord.Rotation =
                machines[machine].has(.rotation, of: migrations)
                ? .done : record.knows(.rotation, on: machine) ? .received : .unknown
            return record.write(
                .init(value: value, table: column.table, id: id, isInsert: isInsert, rotation: rotation))
        }
        guard let id, !migrations.contains(where: { $0 != .renaming && $0.dropped == column }) else { return }
        let isRenamed = migrations.contains(.renaming) && column.name == "name"
        record.write(value, .init(table: column.table, id: id, column: isRenamed ? "title" : column.name))
    }
}

extension Value {
    var plainText: String? {
        guard case .text(let bytes) = self else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }
}
