import Journal
import Sync
import TestSupport

extension Fleet {
    /// Checks that no entry of the ledger is false.
    func checkLedger() throws {
        let entries = try machines[0].fixture.replica.read { try ConflictEntry.all($0) }
        // What is put aside, exchanged, or renamed back is a copy, whose writer had not seen what became of the value
        // elsewhere.
        let copies: Set = [FleetTable.log.rawValue, FleetTable.logPutAside, FleetTable.pair.rawValue]
        for entry in entries where !copies.contains(entry.table) {
            guard let keeper = try machines.firstIndex(where: { try $0.fixture.origin == entry.keptOrigin }),
                let loser = try machines.firstIndex(where: { try $0.fixture.origin == entry.lostOrigin })
            else { continue }
            for lost in entry.lost {
                // Values of migrations are not unique.
                guard let value = lost.value.plainText, value.hasPrefix("user "),
                    let winner = entry.kept.first(where: { $0.column == lost.column })?.value.plainText
                else { continue }
                let migration = migrations.firstIndex { $0.column?.name == lost.column }
                let before = migration.map { record.receivedBefore[keeper][$0] } ?? []
                // A renaming copies values. So what a user saw and wrote over under the old name can come
                // back under the new one from a machine that had not received that, and is a conflict then.
                let isCopy = migration.map { migrations[$0] == .renaming } ?? false
                guard
                    record.seen[winner] != value || isCopy && !before.contains(FleetRecord.mark(.renaming, loser))
                else {
                    throw Failure(what: "'\(value)' lost to '\(winner)', whose writer saw it")
                }
                guard record.seen[value] != winner || winner.hasPrefix("user ") || !before.contains(value) else {
                    throw Failure(
                        what: "'\(value)' lost to '\(winner)', the result of a migration that it had replaced")
                }
            }
        }
    }
}
