import Journal

#if canImport(Glibc)
    import Glibc
#endif

extension Inbox {
    /// Brings what the write-ahead log holds to the disk, where commits are to survive a loss of power.
    ///
    /// A process that dies between the writes of its commit and their sync leaves a commit that nobody was
    /// told of. SQLite finds it in the log when the file is opened next (https://sqlite.org/walformat.html),
    /// so everybody sees it, and a loss of power takes it. What is seen here peers are told to be here, also
    /// when nothing is committed any more before the answer.
    ///
    /// - Throws: ``JournalError`` with `readOnly` when that cannot be done. Nothing may be confirmed then.
    static func syncLog(of replica: Replica) throws {
        guard replica.options.durability == .full else { return }
        let files = replica.options.files
        let path = files.resolved(replica.path) + "-wal"
        do {
            // The log may be so new that its name was not synced either.
            _ = try files.withFile(path, .reading) { log in
                try log.sync()
                try log.syncName()
            }
        } catch let error as FileError {
            throw JournalError(
                .readOnly,
                "the write-ahead log \(path) cannot be \(error.operation): \(String(cString: strerror(error.code)))",
                hint: "Look at the disk; nothing is exchanged with peers until the log can be written to it.")
        }
    }
}
