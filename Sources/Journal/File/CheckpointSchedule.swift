/// When a commit is to be followed by a checkpoint: once for each ``JournalLimits/walBytesPerCheckpoint`` that is not in the database.
///
/// Counted in what the log holds, never in the size of its file: that stays as large as the log ever was, so a log that begins anew within
/// it would have to grow beyond it each time before the next checkpoint.
struct CheckpointSchedule: Sendable, Hashable {
    /// What the last checkpoint could not move, because somebody still read what was there before.
    private var left: Int64 = 0

    mutating func isDue(_ log: LogPosition) -> Bool {
        // Others move pages, too.
        left = min(left, log.unmovedBytes)
        return log.unmovedBytes - left >= JournalLimits.walBytesPerCheckpoint
    }

    /// - Parameter log: As it is after a checkpoint, whatever came of it.
    mutating func checkpointed(_ log: LogPosition) { left = log.unmovedBytes }
}
