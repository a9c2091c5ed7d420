import Journal
import MergeModel
import SimulatedDisk
import TestSupport

extension SimulatedMachine {
    /// Flips a bit on the medium in a value of a row. All processes die first; the daemon is down afterwards.
    ///
    /// - Returns: The value; nil when no bit was found that changes only a value.
    func bitRot(_ random: inout SplitMix) throws -> RottenValue? {
        _ = try crash()
        // SQLite reads a page from the log while the log has it.
        let isMoved = try rows("PRAGMA wal_checkpoint(TRUNCATE)").first?.first == .integer(0) && logBytes == 0
        let value = try isMoved ? RottenValue.find(in: history.reference.tables, on: disk, &random) : nil
        if let value {
            disk.flipBit(of: ReplicaFiles.database, at: value.offset, bit: value.bit)
            // A new connection has no page in memory.
            try restartWriter()
        }
        // When GRDB finds no log, it begins with a change of the schema.
        try writer.run("UPDATE _journal_replica SET id = id")
        return value
    }
}
