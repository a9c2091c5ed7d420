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
///
/// What holds for tables that migrations treat as a whole: see ``checkTables()``.
struct Fleet {
    let seed: UInt64
    let machines: [FleetMachine]
    let migrations: [FleetMigration]
    let tables: [FleetTable]
    var random: SplitMix
    var record: FleetRecord
    /// The machine that excludes ``FleetTable/draft`` at times; nil for a fleet without that table.
    var exclusion: FleetExclusion?
    var nextID = 100
    /// Draws compactions, apart from everything else; nil for a fleet that compacts nothing.
    private var compactions: SplitMix?
    /// Draws whether a row is inserted after a column was dropped and before the daemon's next look, apart from
    /// everything else; nil for a fleet in which nobody does that on purpose.
    private var insertsAfterRemoval: SplitMix?
    private var time = HistoryReplica.start
    private(set) var story: [String] = []

    init(seed: UInt64, directory: TemporaryDirectory, clocks: [TestClock]) throws {
        self.seed = seed
        var random = SplitMix(seed: seed)
        let count = 2 + random.below(3)
        let migrations = Fleet.drawMigrations(&random)
        let exclusion = random.chance(25) ? FleetExclusion(machine: random.below(count), isOn: random.chance(40)) : nil
        var tables: [FleetTable] = []
        for table in migrations.compactMap(\.table) where !tables.contains(table) { tables.append(table) }
        if exclusion != nil { tables.append(.draft) }
        machines = try (0..<count).map { number in
            try FleetMachine(
                number, path: directory.file("\(number).sqlite"), clock: clocks[number], tables: tables,
                excluding: exclusion?.isOn == true && exclusion?.machine == number ? .draft : nil)
        }
        self.migrations = migrations
        self.tables = tables
        self.exclusion = exclusion
        self.random = random
        var compactions = SplitMix(seed: seed ^ 0xC0_4BAC_7104)
        self.compactions = compactions.chance(60) ? compactions : nil
        var inserts = SplitMix(seed: seed ^ 0xD2_0C01_03A7)
        insertsAfterRemoval = inserts.chance(40) ? inserts : nil
        record = FleetRecord(machines: count)
    }

    private static func drawMigrations(_ random: inout SplitMix) -> [FleetMigration] {
        var ofItems = FleetMigration.ofItems
        var migrations = (0..<(1 + random.below(3))).map { _ in ofItems.remove(at: random.below(ofItems.count)) }
        guard random.chance(60) else { return migrations }
        var groups = FleetMigration.groups
        for _ in 0..<(1 + random.below(2)) {
            var place = 0
            for migration in groups.remove(at: random.below(groups.count)) {
                place += random.below(migrations.count - place + 1)
                migrations.insert(migration, at: place)
                place += 1
            }
        }
        return migrations
    }

    func close() throws { for machine in machines { try machine.fixture.close() } }

    /// - Throws: ``Failure`` when a property does not hold; errors of the engine.
    mutating func run() throws {
        story.append("\(machines.count) machines: \(migrations.map(\.rawValue).joined(separator: ", "))")
        if let exclusion { story.append("\(exclusion.machine) excludes draft\(exclusion.isOn ? "" : " at times")") }
        if compactions != nil {
            // A machine that nobody has heard of could only be cloned.
            for machine in machines {
                for other in machines where other !== machine { try machine.fixture.hear(other.fixture) }
            }
        }
        try write("INSERT INTO item SELECT value, 'first', 'first', 'first' FROM json_each('[1, 2, 3, 4]')", on: 0)
        for table in tables {
            let writer = table == .draft && exclusion?.machine == 0 ? 1 : 0
            try write(table.firstRows, on: writer)
        }
        try converge()
        for _ in 0..<(20 + random.below(50) + 15 * tables.count) { try step() }
        if random.chance(50) {
            try converge()
            try checkReleases()
        }
        for machine in machines.indices {
            while machines[machine].release < migrations.count { try migrate(machine) }
        }
        if exclusion?.isOn == true { try switchExclusion() }
        try converge()
        try check()
    }

    // MARK: - Steps

    private mutating func step() throws {
        if compactions?.chance(15) == true, let machine = compactions?.below(machines.count) { try compact(machine) }
        if exclusion != nil, random.chance(12) { try stepOfExclusion() }
        let machine = random.below(machines.count)
        switch random.below(20) {
        case 0...1 where machines[machine].release < migrations.count: try migrate(machine)
        case 2...9: try edit(machine)
        case 10: try insert(machine)
        case 11: try delete(machine)
        case 12: try look(machine)
        default: try pull(machine, from: another(than: machine))
        }
    }

    private mutating func another(than machine: Int) -> Int {
        (machine + 1 + random.below(machines.count - 1)) % machines.count
    }

    private mutating func migrate(_ machine: Int) throws {
        let migration = migrations[machines[machine].release]
        story.append("\(machine) migrates: \(migration.rawValue)")
        record.begin(migration, on: machine)
        for (index, sql) in machines[machine].steps(of: migration).enumerated() {
            if index > 0 { try interlude(machine) }
            try machines[machine].run(sql, at: tick())
        }
        machines[machine].complete(migration)
        if migration == .remaking { record.drop(on: machine) }
        if migration == .removal, insertsAfterRemoval?.chance(70) == true {
            try insert(into: "item", machines[machine].columns.filter { $0.table == "item" }, on: machine)
        }
        // The triggers tell the former names of columns, and a table that is built anew has none.
        if random.chance(70) || migrations.contains(.renaming) { try look(machine) }
    }

    /// What happens between two steps of a migration.
    private mutating func interlude(_ machine: Int) throws {
        for _ in 0..<random.below(3) {
            switch random.below(3) {
            case 0: try look(machine)
            case 1: try pull(machine, from: another(than: machine))
            default: try pull(another(than: machine), from: machine)
            }
        }
    }

    private mutating func compact(_ machine: Int) throws {
        story.append("\(machine) compacts its journal")
        try machines[machine].look()
        try machines[machine].fixture.compactWhatIsStable()
    }

    mutating func look(_ machine: Int) throws {
        story.append("\(machine) looks")
        try machines[machine].look()
        try checkDefaults(machine)
    }

    private mutating func pull(_ target: Int, from source: Int) throws {
        story.append("\(target) pulls from \(source)")
        record.pull(target, from: source)
        if compactions != nil { try machines[target].fixture.hear(machines[source].fixture) }
        try machines[target].fixture.pull(from: machines[source].fixture)
    }

    mutating func write(_ sql: String, on machine: Int) throws {
        tell("\(machine): \(sql)")
        try machines[machine].run(sql, at: tick())
    }

    mutating func tell(_ line: String) { story.append(line) }

    /// Clocks agree to some milliseconds.
    private mutating func tick() -> Int64 {
        time += Int64(random.below(20))
        return time + Int64(random.below(5))
    }

    private mutating func converge() throws {
        story.append("all converge")
        let isDone = try machines.map(\.fixture).converge { target, source in
            try machines[target].fixture.pull(from: machines[source].fixture)
        }
        if !isDone { throw Failure(what: "the machines do not converge") }
        for machine in machines { try machine.look() }
        record.converge()
    }

    struct Failure: Error, CustomStringConvertible {
        let what: String
        var description: String { what }
    }
}
