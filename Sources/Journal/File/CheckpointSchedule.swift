/// Decides whether a checkpoint follows a commit: each time ``JournalLimits/walBytesPerCheckpoint`` more
/// bytes of the log are not in the database.
///
/// The schedule counts what the log holds, not the size of the log's file. The file keeps the greatest length
/// that the log ever had. After a restart the log refills the same file, so the file's size would change only
/// when the log exceeds that length.
struct CheckpointSchedule: Sendable, Hashable {
    /// The bytes that the last checkpoint could not copy, because a reader still used an older state of the
    /// database.
    private var left: Int64 = 0

    mutating func isDue(_ log: LogPosition) -> Bool {
        // Other processes checkpoint too.
        left = min(left, log.unmovedBytes)
        return log.unmovedBytes - left >= JournalLimits.walBytesPerCheckpoint
    }

    /// True when a reader has been there for so long that no short wait ends it.
    ///
    /// A log is restarted by a writer that no reader is ahead of, so a checkpoint that waits for readers holds
    /// the write lock. Programs wait for that lock. Behind a long reader they would wait for nothing.
    ///
    /// - Parameter log: The log after a checkpoint that copied what it could.
    static func isHeld(_ log: LogPosition) -> Bool { log.unmovedBytes >= JournalLimits.walBytesPerRestart }

    /// Records that a checkpoint ran, complete or not.
    ///
    /// - Parameter log: The log after the checkpoint.
    mutating func checkpointed(_ log: LogPosition) { left = log.unmovedBytes }
}
