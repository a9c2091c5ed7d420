import Journal
import MergeModel
import SimulatedDisk
import TestSupport

extension Machine {
    /// A bit on the medium changes, in a value of a row. All processes die first; the daemon is down afterwards.
    ///
    /// - Returns: What has changed; nil when no bit was found of which only a value would change.
    func bitRot(_ random: inout SplitMix) throws -> RottenValue? {
        _ = try crash()
        // SQLite reads a page from the log while the log has it.
        let isMoved = try rows("PRAGMA wal_checkpoint(TRUNCATE)").first?.first == .integer(0) && logBytes == 0
        let value = try isMoved ? RottenValue.find(in: history.reference.tables, on: disk, &random) : nil
        if let value {
            disk.flipBit(of: ReplicaFiles.database, at: value.offset, bit: value.bit)
            // No connection has the page in memory any more.
            try restartWriter()
        }
        // GRDB begins with a change of the schema where it finds no log.
        try writer.run("UPDATE _journal_replica SET id = id")
        return value
    }
}
