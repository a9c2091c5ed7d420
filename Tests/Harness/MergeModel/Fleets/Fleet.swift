import Foundation
import GRDB
import Journal
import Sync
import TestSupport

/// A fleet whose machines run the same migrations, each at a time of its own, while users write.
///
/// Each value that a user writes is unique and begins with `user`. So it is known of each what became of it.
/// Properties, when all machines have run all migrations and know the same:
/// 1. All have the same rows, and the same ledger. The machines of one release have the same rows also before,
///    whenever they know the same.
/// 2. Each value that a user wrote stands, or a user saw it and wrote over it, or it is in the ledger, or its
///    row was deleted by a user.
/// 3. A row that a user deleted is gone.
/// 4. No entry of a ledger is false: a value that its writer saw and wrote over did not lose a conflict, and
///    the result of a migration did not win over a value that was written over that same result, and that the
///    migrating machine had received.
/// 5. No row shows a value that neither a user nor a migration wrote.
struct Fleet {
    private struct Cell: Hashable {
        let table: String
        let id: Int
        /// The name after all migrations.
        let column: String
    }

    private let seed: UInt64
    private let machines: [FleetMachine]
    private let migrations: [FleetMigration]
    private var random: SplitMix
    /// Draws compactions, apart from everything else; nil for a fleet that compacts nothing.
    private var compactions: SplitMix?
    private var time = HistoryReplica.start
    private var written: [Cell: [String]] = [:]
    /// What the writer of each value saw in its place.
    private var seen: [String: String] = [:]
    /// What users wrote and each machine has received.
    private var received: [Set<String>] = []
    /// The same when each machine ran each migration.
    private var receivedBefore: [[Set<String>]] = []
    private var deleted: Set<Cell> = []
    private var nextID = 100
    private(set) var story: [String] = []

    init(seed: UInt64, directory: TemporaryDirectory, clocks: [TestClock]) throws {
        self.seed = seed
        var random = SplitMix(seed: seed)
        let count = 2 + random.below(3)
        machines = try (0..<count).map {
            try FleetMachine($0, path: directory.file("\($0).sqlite"), clock: clocks[$0])
        }
        var all = FleetMigration.allCases
        migrations = (0..<(1 + random.below(3))).map { _ in all.remove(at: random.below(all.count)) }
        self.random = random
        var compactions = SplitMix(seed: seed ^ 0xC0_4BAC_7104)
        self.compactions = compactions.chance(60) ? compactions : nil
        received = Array(repeating: [], count: count)
        receivedBefore = Array(repeating: [], count: count)
    }

    func close() throws { for machine in machines { try machine.fixture.close() } }

    /// - Throws: ``Failure`` when a property does not hold; errors of the engine.
    mutating func run() throws {
        story.append("\(machines.count) machines: \(migrations.map(\.rawValue).joined(separator: ", "))")
        if compactions != nil {
            // A machine that nobody has heard of could only be cloned.
            for machine in machines {
                for other in machines where other !== machine { try machine.fixture.hear(other.fixture) }
            }
        }
        try write("INSERT INTO item SELECT value, 'first', 'first', 'first' FROM json_each('[1, 2, 3, 4]')", on: 0)
        try converge()
        for _ in 0..<(20 + random.below(50)) { try step() }
        if random.chance(50) {
            try converge()
            try checkReleases()
        }
        for machine in machines.indices {
            while machines[machine].release < migrations.count { try migrate(machine) }
        }
        try converge()
        try check()
    }

    // MARK: - Steps

    private mutating func step() throws {
        if compactions?.chance(15) == true, let machine = compactions?.below(machines.count) { try compact(machine) }
        let machine = random.below(machines.count)
        switch random.below(20) {
        case 0...1 where machines[machine].release < migrations.count: try migrate(machine)
        case 2...9: try edit(machine)
        case 10: try insert(machine)
        case 11: try delete(machine)
        case 12: try look(machine)
        default: try pull(machine, from: (machine + 1 + random.below(machines.count - 1)) % machines.count)
        }
    }

    private mutating func migrate(_ machine: Int) throws {
        let migration = migrations[machines[machine].release]
        story.append("\(machine) migrates: \(migration.rawValue)")
        receivedBefore[machine].append(received[machine])
        received[machine].insert(Fleet.mark(migration, machine))
        try machines[machine].migrate(migration, at: tick())
        // The triggers tell the former names of columns, and a table that is built anew has none.
        if random.chance(70) || migrations.contains(.renaming) { try look(machine) }
    }

    /// Stands in ``received`` for what a machine's migration wrote.
    private static func mark(_ migration: FleetMigration, _ machine: Int) -> String { "\(migration) on \(machine)" }

    /// A user writes a column of a row that is here.
    private mutating func edit(_ machine: Int) throws {
        let column = random.pick(machines[machine].columns)
        // What a user writes with the new schema is about what a daemon shows. Otherwise the user overwrites
        // what he cannot see, and the ledger is not asked.
        try look(machine)
        let ids = try machines[machine].rows("SELECT id FROM \(column.table) ORDER BY id")
        guard !ids.isEmpty, case .integer(let id) = random.pick(ids)[0] else { return }
        let shown = try machines[machine].rows("SELECT \(column.name) FROM \(column.table) WHERE id = \(id)")
        if case .blob? = shown.first?.first { throw Failure(what: "\(column) of row \(id) shows what nobody wrote") }
        let value = "user \(seed).\(story.count)"
        seen[value] = shown.first?.first?.plainText
        note(value, Cell(table: column.table, id: Int(id), column: column.name), on: machine)
        try write("UPDATE \(column.table) SET \(column.name) = '\(value)' WHERE id = \(id)", on: machine)
    }

    private mutating func insert(_ machine: Int) throws {
        let columns = machines[machine].columns.filter { $0.table == "item" }
        nextID += 1
        var values: [String] = []
        for column in columns {
            values.append("user \(seed).\(story.count).\(values.count)")
            note(values[values.count - 1], Cell(table: "item", id: nextID, column: column.name), on: machine)
        }
        try write(
            "INSERT INTO item(id, \(columns.map(\.name).joined(separator: ", "))) VALUES(\(nextID), \(values.map { "'\($0)'" }.joined(separator: ", ")))",
            on: machine)
    }

    private mutating func delete(_ machine: Int) throws {
        try look(machine)
        let table = random.pick(machines[machine].columns).table
        let ids = try machines[machine].rows("SELECT id FROM \(table) ORDER BY id")
        guard ids.count > 1, case .integer(let id) = random.pick(ids)[0] else { return }
        deleted.insert(Cell(table: table, id: Int(id), column: ""))
        try write("DELETE FROM \(table) WHERE id = \(id)", on: machine)
    }

    private mutating func compact(_ machine: Int) throws {
        story.append("\(machine) compacts its journal")
        try machines[machine].look()
        try machines[machine].fixture.compactWhatIsStable()
    }

    private mutating func look(_ machine: Int) throws {
        story.append("\(machine) looks")
        try machines[machine].look()
    }

    private mutating func pull(_ target: Int, from source: Int) throws {
        story.append("\(target) pulls from \(source)")
        received[target].formUnion(received[source])
        if compactions != nil { try machines[target].fixture.hear(machines[source].fixture) }
        try machines[target].fixture.pull(from: machines[source].fixture)
    }

    private mutating func write(_ sql: String, on machine: Int) throws {
        story.append("\(machine): \(sql)")
        try machines[machine].run(sql, at: tick())
    }

    /// Clocks agree to some milliseconds.
    private mutating func tick() -> Int64 {
        time += Int64(random.below(20))
        return time + Int64(random.below(5))
    }

    private mutating func note(_ value: String, _ cell: Cell, on machine: Int) {
        received[machine].insert(value)
        guard !migrations.contains(where: { $0 != .renaming && $0.dropped?.name == cell.column }) else { return }
        let isRenamed = migrations.contains(.renaming) && cell.column == "name"
        written[Cell(table: cell.table, id: cell.id, column: isRenamed ? "title" : cell.column), default: []]
            .append(value)
    }

    private func converge() throws {
        let isDone = try machines.map(\.fixture).converge { target, source in
            try machines[target].fixture.pull(from: machines[source].fixture)
        }
        if !isDone { throw Failure(what: "the machines do not converge") }
        for machine in machines { try machine.look() }
    }

    // MARK: - Properties

    struct Failure: Error, CustomStringConvertible {
        let what: String
        var description: String { what }
    }

    private func content(_ machine: FleetMachine) throws -> [String] {
        try Set(machine.columns.map(\.table)).sorted().flatMap { table in
            let names = machine.columns.filter { $0.table == table }.map(\.name).sorted()
            return try machine.rows("SELECT id, \(names.joined(separator: ", ")) FROM \(table) ORDER BY id").map {
                row in
                "\(table) " + zip(["id"] + names, row).map { "\($0)=\($1.plain)" }.joined(separator: " ")
            }
        }
    }

    /// Compares the machines of one release, which know the same.
    private func checkReleases() throws {
        for (release, machines) in Dictionary(grouping: machines, by: \.release) {
            let first = try content(machines[0])
            for machine in machines.dropFirst() where try content(machine) != first {
                throw Failure(
                    what: "two machines of release \(release) differ:\n  \(first)\n  \(try content(machine))")
            }
        }
    }

    private func check() throws {
        let ledgers = try machines.map { machine in
            try machine.fixture.replica.read { db in
                try ConflictEntry.all(db).map { entry in
                    "\(entry.table) \(entry.kind.rawValue) \(entry.lostOrigin.short):\(entry.lostVersion) "
                        + entry.lost.map { "\($0.column)=\($0.value.plain)" }.sorted().joined(separator: " ")
                }.sorted()
            }
        }
        let first = try content(machines[0])
        for (index, machine) in machines.enumerated().dropFirst() {
            let other = try content(machine)
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
        let overwritten = Set(seen.values)
        let lost = ledgers[0].joined(separator: "\n")
        for (cell, values) in written.sorted(by: { $0.value[0] < $1.value[0] }) {
            let row = try machines[0].rows("SELECT \(cell.column) FROM \(cell.table) WHERE id = \(cell.id)")
            let isDeleted = deleted.contains(Cell(table: cell.table, id: cell.id, column: ""))
            guard isDeleted == row.isEmpty else {
                throw Failure(what: "\(cell.table) \(cell.id) is \(row.isEmpty ? "gone" : "back")")
            }
            guard let value = row.first?.first?.plainText else { continue }
            for text in values where text != value && !overwritten.contains(text) && !lost.contains("'\(text)'") {
                throw Failure(what: "\(cell) has '\(value)', and '\(text)' is in no ledger:\n\(lost)")
            }
        }
    }
}

extension Fleet {
    fileprivate func checkLedger() throws {
        let entries = try machines[0].fixture.replica.read { try ConflictEntry.all($0) }
        for entry in entries {
            guard let keeper = try machines.firstIndex(where: { try $0.fixture.origin == entry.keptOrigin }),
                let loser = try machines.firstIndex(where: { try $0.fixture.origin == entry.lostOrigin })
            else { continue }
            for lost in entry.lost {
                // Values of migrations are not unique.
                guard let value = lost.value.plainText, value.hasPrefix("user "),
                    let winner = entry.kept.first(where: { $0.column == lost.column })?.value.plainText
                else { continue }
                let migration = migrations.firstIndex { $0.column?.name == lost.column }
                let before = migration.map { receivedBefore[keeper][$0] } ?? []
                // A renaming copies values. So what a user saw and wrote over under the old name can come
                // back under the new one from a machine that had not received that, and is a conflict then.
                let isCopy = migration.map { migrations[$0] == .renaming } ?? false
                guard seen[winner] != value || isCopy && !before.contains(Fleet.mark(.renaming, loser)) else {
                    throw Failure(what: "'\(value)' lost to '\(winner)', whose writer saw it")
                }
                guard seen[value] != winner || winner.hasPrefix("user ") || !before.contains(value) else {
                    throw Failure(
                        what: "'\(value)' lost to '\(winner)', the result of a migration that it had replaced")
                }
            }
        }
    }
}

extension Value {
    var plainText: String? {
        guard case .text(let bytes) = self else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }
}
