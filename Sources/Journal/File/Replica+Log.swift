#if canImport(Glibc)
    import Glibc
#endif

extension Replica {
    /// Syncs the write-ahead log to the disk, if commits have to survive a loss of power.
    ///
    /// A process that dies between writing a commit and syncing it leaves a commit that was never confirmed.
    /// SQLite finds it in the log at the next open (https://sqlite.org/walformat.html), so every reader sees
    /// it, but a loss of power removes it. Peers and copies are given everything that is visible here, even
    /// if no further commit syncs the log before.
    ///
    /// - Throws: ``JournalError`` with `readOnly` when the log cannot be synced. Nothing may be confirmed or
    ///   handed out then.
    package func syncLog() throws {
        guard options.durability == .full else { return }
        let files = options.files
        let path = files.resolved(path) + "-wal"
        do {
            // The log may be so new that its directory entry was not synced either.
            _ = try files.withFile(path, .reading) { log in
                try log.sync()
                try log.syncName()
            }
        } catch let error as FileError {
            throw JournalError(
                .readOnly,
                "The write-ahead log \(path) cannot be \(error.operation): \(String(cString: strerror(error.code)))",
                hint: "Look at the disk; nothing leaves this file until the log can be written to it.")
        }
    }
}
