/// Limits and thresholds of the journal.
package enum JournalLimits {
    /// The most stored columns of a tracked table. SQLite allows 2 000 columns a table (SQLITE_MAX_COLUMN),
    /// and `_journal` needs some of them for its own.
    package static let columnsPerTable = 1_900

    /// The most rows of a table, about, that are compared with the journal at a time. Each takes about 900 bytes. Every
    /// further part reads the journal and the table once more.
    package static let comparedRows: Int64 = 250_000

    /// The distance between positions where the fold of local changes may start.
    static let changesPerSeal: Int64 = 4_096

    /// The number of local changes after which the derived state (lives, stamps) is materialized, so that
    /// readers start from a recent position. Each time is a commit that a program did not ask for.
    static let tailPerSeal: Int64 = 16_384

    /// The most local changes that are folded in one snapshot. A snapshot that stays open keeps the log from
    /// starting again.
    static let changesPerFold: Int64 = 16_384

    /// The bytes of the write-ahead log missing from the database at which a commit starts a checkpoint.
    static let walBytesPerCheckpoint: Int64 = 4 << 20

    /// The bytes in the write-ahead log at which a checkpoint waits for readers in order to restart the log,
    /// and the size at which a log that nobody writes is truncated.
    static let walBytesPerRestart: Int64 = 8 << 20

    /// How long such a checkpoint waits for others, in milliseconds. It holds the write lock meanwhile.
    static let restartMilliseconds = 50
}
