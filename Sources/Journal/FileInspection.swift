import GRDB

#if canImport(Glibc)
    import Glibc
#endif

/// What a path is, looked at before SQLite opens it, so that a wrong file gets a clear sentence and stays untouched.
enum FileInspection {
    /// - Parameter isReadable: False for an encrypted file, whose header tells nothing.
    /// - Throws: ``JournalError`` when `path` is not a file that can be a SQLite database.
    /// - Returns: False when there is no such file.
    static func check(_ path: String, isReadable: Bool = true) throws -> Bool {
        var status = stat()
        guard stat(path, &status) == 0 else {
            if errno == ENOENT { return false }
            throw JournalError(
                .notFound, "\(path) cannot be read: \(String(cString: strerror(errno)))",
                hint: "Check the path and the permissions of its directories.")
        }
        switch status.st_mode & S_IFMT {
        case S_IFREG: break
        case S_IFDIR:
            throw JournalError(.notADatabase, "\(path) is a directory", hint: "Name the SQLite file inside of it.")
        default:
            throw JournalError(
                .notADatabase, "\(path) is not a regular file", hint: "Name a SQLite file on a local disk.")
        }
        if isReadable { try checkHeader(path, size: Int64(status.st_size)) }
        return true
    }

    /// True while a program commits without a write-ahead log, and after it was killed in that.
    static func hasRollbackJournal(_ path: String) -> Bool {
        var status = stat()
        return stat(path + "-journal", &status) == 0 && status.st_size > 0
    }

    /// The fields of https://sqlite.org/fileformat2.html, section 1.3, that tell a truncated or foreign file.
    private static func checkHeader(_ path: String, size: Int64) throws {
        guard size > 0 else { return }
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            throw JournalError(
                .readOnly, "\(path) cannot be opened: \(String(cString: strerror(errno)))",
                hint: "The file must be readable and writable by this user.")
        }
        defer { close(descriptor) }
        var header = [UInt8](repeating: 0, count: 100)
        let count = read(descriptor, &header, 100)
        guard count == 100, header.starts(with: "SQLite format 3\0".utf8) else {
            throw JournalError(
                .notADatabase, "\(path) is not a SQLite database",
                hint: "The file holds something else, or it is encrypted; Tandem works on plain SQLite files.")
        }
        func number(at offset: Int) -> Int64 {
            header[offset..<(offset + 4)].reduce(0) { $0 << 8 | Int64($1) }
        }
        let rawPageSize = Int64(header[16]) << 8 | Int64(header[17])
        let pageSize = rawPageSize == 1 ? 65_536 : rawPageSize
        let isPageCountValid = number(at: 24) == number(at: 92)
        // With a write-ahead log the newest pages may not be in the file yet; with a rollback journal a commit is under way, or
        // was interrupted and will be rolled back.
        if isPageCountValid, number(at: 28) * pageSize > size, access(path + "-wal", F_OK) != 0,
            !hasRollbackJournal(path)
        {
            throw JournalError(
                .corrupt, "\(path) is truncated: it has \(size) of \(number(at: 28) * pageSize) bytes",
                hint: "Restore the file from a backup or clone it from a peer.")
        }
    }
}
