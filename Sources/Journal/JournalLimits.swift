/// Limits and thresholds of the journal.
package enum JournalLimits {
    /// The most stored columns of a tracked table. SQLite allows 2 000 columns a table (SQLITE_MAX_COLUMN),
    /// and `_journal` needs some of them for its own.
    package static let columnsPerTable = 1_900

    /// The number of local changes after which the derived state (lives, stamps) is materialized, so that
    /// readers start from a recent position.
    static let changesPerSeal: Int64 = 4_096

    /// The bytes of the write-ahead log missing from the database at which a commit starts a checkpoint.
    static let walBytesPerCheckpoint: Int64 = 4 << 20

    /// The bytes in the write-ahead log at which a checkpoint waits for readers in order to restart the log.
    static let walBytesPerRestart: Int64 = 64 << 20
}
