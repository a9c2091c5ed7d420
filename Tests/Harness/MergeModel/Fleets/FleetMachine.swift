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
    /// How many of the fleet's migrations have run here.
    private(set) var release = 0
    private(set) var columns = FleetColumn.initial
    private var time: Int64

    init(_ number: Int, path: String, clock: TestClock) throws {
        self.clock = clock
        time = HistoryReplica.start + Int64(number)
        clock.set(milliseconds: time)
        program = try RawConnection(path: path, vfs: clock.vfs)
        try program.run("CREATE TABLE item(id INTEGER PRIMARY KEY, name TEXT, memo TEXT, note TEXT)")
        var options = Replica.Options.unsynced
        options.maximumReaders = 1
        options.prepare = { try $0.execute(sql: "PRAGMA synchronous = OFF") }
        let origin = OriginID(high: UInt64(number) + 1, low: 1)
        let replica = try Replica.create(at: path, InitializeRequest(origin: origin), options: options).replica
        // Later than every clock of a fleet, and earlier than the ledger forgets.
        let now = Stamp(milliseconds: HistoryReplica.start + 86_400_000)
        fixture = try ReplicaFixture(replica, ReplicaFixture.Settings(wallClock: { now }))
    }

    /// Runs SQL in one transaction of a program.
    func run(_ sql: String, at time: Int64) throws {
        self.time = max(self.time + 1, time)
        clock.set(milliseconds: self.time)
        try program.run("BEGIN IMMEDIATE; \(sql); COMMIT")
    }

    func rows(_ sql: String) throws -> [[Value]] { try program.rows(sql) }

    func migrate(_ migration: FleetMigration, at time: Int64) throws {
        let isRebuild = migration == .rebuild || migration == .computedDefault
        try run(isRebuild ? rebuild(adding: migration.column) : migration.sql, at: time)
        columns = columns.filter { $0 != migration.dropped } + [migration.column].compactMap { $0 }
        release += 1
    }

    /// The steps that SQLite's documentation recommends (https://sqlite.org/lang_altertable.html, section 7).
    /// The default stays: without it, nothing tells a value that was written from one that was not.
    private func rebuild(adding added: FleetColumn?) -> String {
        let names = columns.filter { $0.table == "item" }.map(\.name)
        let defaults = [
            "kind": " DEFAULT 'plain'", "size": " NOT NULL DEFAULT 'none'",
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

    /// Does what a daemon does when the file has changed.
    func look() throws {
        try fixture.replica.refreshDerivedState()
        try fixture.inbox.bringBackHeldRows()
    }
}
