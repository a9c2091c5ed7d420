import Foundation
import GRDB
import Journal
import Sync
import TestSupport

/// One machine of a fleet: its file, the programs that write it, and the release that it runs.
final class FleetMachine {
    let fixture: ReplicaFixture
    private let program: RawConnection
    private let clock: TestClock
    private let path: String
    /// How many of the fleet's migrations have run here.
    private(set) var release = 0
    /// The columns of the tables that replicate.
    private(set) var columns: [FleetColumn]
    private var time: Int64

    /// - Parameters:
    ///   - tables: The tables besides `item`.
    ///   - excluded: The table among them that does not replicate here, for now.
    init(_ number: Int, path: String, clock: TestClock, tables: [FleetTable], excluding excluded: FleetTable?) throws {
        self.clock = clock
        self.path = path
        time = HistoryReplica.start + Int64(number)
        clock.set(milliseconds: time)
        program = try RawConnection(path: path, vfs: clock.vfs)
        try program.run("CREATE TABLE item(id INTEGER PRIMARY KEY, name TEXT, memo TEXT DEFAULT 'none', note TEXT)")
        for table in tables { try program.run(table.sql) }
        columns = FleetColumn.ofItems + tables.filter { $0 != excluded }.flatMap(\.columns)
        let request = InitializeRequest(
            excluding: [excluded].compactMap { $0?.rawValue }, origin: OriginID(high: UInt64(number) + 1, low: 1))
        let replica = try Replica.create(at: path, request, options: FleetMachine.options).replica
        // Later than every clock of a fleet, and earlier than the ledger forgets.
        let now = Stamp(milliseconds: HistoryReplica.start + 86_400_000)
        fixture = try ReplicaFixture(replica, ReplicaFixture.Settings(wallClock: { now }))
    }

    private static var options: Replica.Options {
        var options = Replica.Options.unsynced
        options.maximumReaders = 1
        options.prepare = { try $0.execute(sql: "PRAGMA synchronous = OFF") }
        return options
    }

    /// Runs SQL in one transaction of a program.
    func run(_ sql: String, at time: Int64) throws {
        self.time = max(self.time + 1, time)
        clock.set(milliseconds: self.time)
        try program.run("BEGIN IMMEDIATE; \(sql); COMMIT")
    }

    func rows(_ sql: String) throws -> [[Value]] { try program.rows(sql) }

    /// True when this migration has run here, as one of `migrations`.
    func has(_ migration: FleetMigration, of migrations: [FleetMigration]) -> Bool {
        migrations.prefix(release).contains(migration)
    }

    // MARK: - Migrations

    /// The transactions of a migration.
    func steps(of migration: FleetMigration) -> [String] {
        let isRebuild = migration == .rebuild || migration == .computedDefault
        return isRebuild ? [rebuild(adding: migration.column)] : migration.steps
    }

    /// Notes that the steps of a migration have run.
    func complete(_ migration: FleetMigration) {
        columns = columns.filter { $0 != migration.dropped } + [migration.column].compactMap { $0 }
        release += 1
    }

    /// The steps that SQLite's documentation recommends (https://sqlite.org/lang_altertable.html, section 7).
    /// The default stays: without it, nothing tells a value that was written from one that was not.
    private func rebuild(adding added: FleetColumn?) -> String {
        let names = columns.filter { $0.table == "item" }.map(\.name)
        let defaults = [
            "memo": " DEFAULT 'none'", "kind": " DEFAULT 'plain'", "size": " NOT NULL DEFAULT 'none'",
            "token": " NOT NULL DEFAULT (hex(randomblob(8)) || CURRENT_TIMESTAMP)",
        ]
        let definitions = (names + [added].compactMap { $0?.name }).map { "\($0) TEXT\(defaults[$0] ?? "")" }
        let list = (["id"] + names).joined(separator: ", ")
        return """
            CREATE TABLE item_new(id INTEGER PRIMARY KEY, \(definitions.joined(separator: ", ")));
            INSERT INTO item_new(\(list)) SELECT \(list) FROM item;
            DROP TABLE item;
            ALTER TABLE item_new RENAME TO item
            """
    }

    // MARK: - Tandem

    /// Does what a daemon does when the file has changed.
    func look() throws {
        try fixture.replica.refreshDerivedState()
        try fixture.inbox.bringBackHeldRows()
    }

    /// Does what `init --exclude` does.
    func exclude(_ table: FleetTable) throws {
        try initialize(InitializeRequest(excluding: [table.rawValue]))
        columns.removeAll { $0.table == table.rawValue }
    }

    /// Does what `init --table` does.
    func include(_ table: FleetTable) throws {
        try initialize(InitializeRequest(tables: [table.rawValue]))
        columns += table.columns
    }

    private func initialize(_ request: InitializeRequest) throws {
        try Replica.create(at: path, request, options: FleetMachine.options).replica.close()
    }
}
