import GRDBSQLite

#if canImport(Glibc)
    import Glibc
#endif

/// Inspects a path before SQLite works on it, so that a wrong file gives a clear error and stays unchanged.
enum FileInspection {
    /// - Parameter isReadable: False for an encrypted file, whose header cannot be read.
    /// - Throws: ``JournalError`` when `path` is not a file that can be a SQLite database.
    /// - Returns: False when there is no such file.
    static func check(_ path: String, isReadable: Bool = true, files: any FileSystem) throws -> Bool {
        guard let status = try status(path, files) else { return false }
        switch status.kind {
        case .file: break
        case .directory:
            throw JournalError(.notADatabase, "\(path) is a directory", hint: "Name the SQLite file inside of it.")
        case .other:
            throw JournalError(
                .notADatabase, "\(path) is not a regular file", hint: "Name a SQLite file on a local disk.")
        }
        if isReadable, status.size > 0 { try checkHeader(path, size: status.size, files) }
        return true
    }

    /// True while a program commits without a write-ahead log, and after such a program was killed during a
    /// commit.
    static func hasRollbackJournal(_ path: String, files: any FileSystem) throws -> Bool {
        // SQLite keeps the journal next to the file itself, not next to a symbolic link.
        try status(files.resolved(path) + "-journal", files).map { $0.size > 0 } ?? false
    }

    private static func status(_ path: String, _ files: any FileSystem) throws -> FileStatus? {
        do {
            return try files.status(of: path)
        } catch let error as FileError {
            throw JournalError(
                .notFound, "\(path) cannot be read: \(String(cString: strerror(error.code)))",
                hint: "Check the path and the permissions of its directories.")
        }
    }

    /// Checks the fields of https://sqlite.org/fileformat2.html, section 1.3, that reveal a truncated or
    /// foreign file.
    private static func checkHeader(_ path: String, size: Int64, _ files: any FileSystem) throws {
        let header = try header(of: path)
        // A commit is running, or was interrupted and will be rolled back.
        let isUnderWay = try hasRollbackJournal(path, files: files)
        // The first commit to a new file writes page 1 last.
        if isUnderWay, header.allSatisfy({ $0 == 0 }) { return }
        guard size >= header.count, header.starts(with: "SQLite format 3\0".utf8) else {
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
        // With a write-ahead log the newest pages may not be in the file yet.
        if isPageCountValid, number(at: 28) * pageSize > size, !isUnderWay,
            try status(files.resolved(path) + "-wal", files) == nil
        {
            throw JournalError(
                .corrupt, "\(path) is truncated: it has \(size) of \(number(at: 28) * pageSize) bytes",
                hint: "Restore the file from a backup or make a new replica and sync it with a peer.")
        }
    }

    /// Returns the first 100 bytes, with zeros for missing ones, through SQLite's own file handle.
    ///
    /// This process may have the database open. Closing another descriptor of the file would drop the POSIX
    /// locks that show this to other processes, and the last of them to close would then remove the log
    /// (https://sqlite.org/howtocorrupt.html, section 2.2).
    private static func header(of path: String) throws -> [UInt8] {
        var connection: OpaquePointer?
        let code = sqlite3_open_v2(path, &connection, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, nil)
        defer { sqlite3_close_v2(connection) }
        var file: UnsafeMutablePointer<sqlite3_file>?
        guard code == SQLITE_OK,
            sqlite3_file_control(connection, "main", SQLITE_FCNTL_FILE_POINTER, &file) == SQLITE_OK,
            let file, let read = file.pointee.pMethods?.pointee.xRead
        else {
            let number = sqlite3_system_errno(connection)
            let reason = String(cString: number == 0 ? sqlite3_errstr(code) : UnsafePointer(strerror(number)))
            throw JournalError(
                .readOnly, "\(path) cannot be opened: \(reason)",
                hint: "The file must be readable and writable by this user.")
        }
        var header = [UInt8](repeating: 0, count: 100)
        // SQLite fills with zeros what it cannot read: bytes after the end, and after an I/O error.
        _ = read(file, &header, 100, 0)
        return header
    }
}
