import GRDB
import Journal

extension Replica {
    /// Opens the file for a command that only reads. It writes nothing, and ``closeReader()`` leaves no
    /// trace.
    static func openReader(at path: String) throws -> Replica {
        var options = Options()
        options.maximumReaders = 1
        return try open(at: path, options: options)
    }

    /// Closes the connections without a checkpoint: checkpointing is the task of programs that write.
    func closeReader() throws { try connections.close() }
}
