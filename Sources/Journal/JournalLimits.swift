/// Sizes that the journal's floor is built for.
public enum JournalLimits {
    /// The most stored columns of a tracked table. SQLite's own limit is 2 000 columns a table (SQLITE_MAX_COLUMN), of which
    /// the journal needs some for itself.
    public static let columnsPerTable = 1_900

    /// Local changes after which the derived state (lives, stamps) is written down, so that no reader starts further back.
    static let changesPerSeal: Int64 = 4_096

    /// What the write-ahead log holds and the database does not, in bytes, from which on a commit asks for a checkpoint.
    static let walBytesPerCheckpoint: Int64 = 4 << 20

    /// What the write-ahead log holds, in bytes, from which on a checkpoint waits for readers in order to restart the log.
    static let walBytesPerRestart: Int64 = 64 << 20
}
