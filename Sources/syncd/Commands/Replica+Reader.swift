import GRDB
import Journal

extension Replica {
    /// Opens the file for a command that only reads, and writes no byte of it.
    ///
    /// Only a file with an interrupted commit, or with the journal of an earlier release, is opened for
    /// writing: its content cannot be read before it is brought up to date.
    static func openReader(at path: String) throws -> Replica {
        var options = Options()
        options.maximumReaders = 1
        if let reader = try? reading(path, options: options) {
            if reader.hasCurrentJournal { return reader }
            try reader.close()
        }
        return try open(at: path, options: options)
    }

    /// Opens the file for one exchange or comparison, which changes no byte of it when there is no news.
    static func openOnce(at path: String) throws -> Replica {
        var options = Options()
        options.hasOneConnection = true
        return try open(at: path, options: options)
    }

    /// Closes the connections without a checkpoint: checkpointing is the task of programs that write.
    func closeReader() throws { try connections.close() }
}
