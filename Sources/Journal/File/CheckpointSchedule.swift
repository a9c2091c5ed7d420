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

    /// Records that a checkpoint ran, complete or not.
    ///
    /// - Parameter log: The log after the checkpoint.
    mutating func checkpointed(_ log: LogPosition) { left = log.unmovedBytes }
}
