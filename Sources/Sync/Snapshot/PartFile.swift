import Journal

#if canImport(Glibc)
    import Glibc
#endif

/// A file that is read and written in parts, with errors for people.
final class PartFile: Sendable {
    private let file: any PartsOfFile
    private let path: String

    private init(_ file: any PartsOfFile, path: String) {
        self.file = file
        self.path = path
    }

    /// Opens a file for reading.
    ///
    /// - Throws: ``SyncError/Code/storage``.
    static func reading(_ path: String, _ files: any FileSystem = SystemFiles()) throws(SyncError) -> PartFile {
        PartFile(try translated(path) { try files.openParts(path, .reading) }, path: path)
    }

    /// Opens a file for writing, and creates it when it is missing. No other process may write it meanwhile.
    ///
    /// - Throws: ``SyncError``: `busy` when another process writes it; `storage`.
    static func writing(_ path: String, _ files: any FileSystem = SystemFiles()) throws(SyncError) -> PartFile {
        PartFile(try translated(path) { try files.openParts(path, .writing) }, path: path)
    }

    /// Lets other processes write the file. This one must not write it any more.
    func unlock() { file.unlock() }

    /// The size in bytes.
    func size() throws(SyncError) -> Int64 { try PartFile.translated(path) { try file.size() } }

    /// Cuts or extends the file. What is added is zeros and takes no room on the disk yet.
    func resize(to bytes: Int64) throws(SyncError) { try PartFile.translated(path) { try file.resize(to: bytes) } }

    /// Returns `count` bytes at an offset, or fewer at the end of the file.
    func read(_ count: Int, at offset: Int64) throws(SyncError) -> [UInt8] {
        try PartFile.translated(path) { try file.read(count, at: offset) }
    }

    /// Writes all bytes at an offset.
    func write(_ bytes: [UInt8], at offset: Int64) throws(SyncError) {
        try PartFile.translated(path) { try file.write(bytes, at: offset) }
    }

    private static func translated<T>(_ path: String, _ body: () throws -> T) throws(SyncError) -> T {
        do {
            return try body()
        } catch let error as FileError where error.code == EWOULDBLOCK {
            throw SyncError(
                .busy, "Another program is writing \(path)", hint: "Wait until it has finished, or stop it.")
        } catch {
            let code = (error as? FileError)?.code ?? EIO
            throw SyncError(
                .storage,
                "\(path) cannot be \((error as? FileError)?.operation ?? "used"): \(String(cString: strerror(code)))",
                hint: code == ENOSPC
                    ? "Free some space on the disk, and run the command again."
                    : "Look at the disk and the permissions.")
        }
    }
}
