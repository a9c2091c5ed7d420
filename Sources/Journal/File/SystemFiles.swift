#if canImport(Glibc)
    import Glibc
#endif

/// The operating system's file system.
package struct SystemFiles: FileSystem {
    /// Runs a sync of an open file, and throws what that throws.
    package typealias Syncing = @Sendable (() throws -> Void) throws -> Void

    private let syncing: Syncing

    /// Each call asks the operating system; the value keeps no state.
    ///
    /// - Parameter syncing: Called for each sync of a file that ``withFile(_:_:_:)`` has opened, for example to measure
    ///   its time.
    package init(syncing: @escaping Syncing = { try $0() }) { self.syncing = syncing }

    /// As ``FileSystem/status(of:)``, by stat(2).
    ///
    /// - Throws: ``FileError`` for any failure except a missing file, for example for a directory on the path
    ///   without search permission.
    package func status(of path: String) throws -> FileStatus? {
        var status = stat()
        guard stat(path, &status) == 0 else {
            if errno == ENOENT { return nil }
            throw FileError("read", code: errno)
        }
        let kind: FileStatus.Kind =
            switch status.st_mode & S_IFMT {
            case S_IFREG: .file
            case S_IFDIR: .directory
            default: .other
            }
        return FileStatus(
            kind: kind, size: Int64(status.st_size), device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
    }

    /// As ``FileSystem/fingerprint(of:)``.
    package func fingerprint(of path: String) -> FileFingerprint? { FileFingerprint(path: path) }

    /// As ``FileSystem/resolved(_:)``, by realpath(3).
    package func resolved(_ path: String) -> String {
        guard let pointer = realpath(path, nil) else { return path }
        defer { free(pointer) }
        return String(cString: pointer)
    }

    /// As ``FileSystem/withFile(_:_:_:)``, with flock(2). Closing the file releases the lock. Who
    /// may write the database may use a file that this function creates; see ``SideFile``.
    ///
    /// - Throws: ``FileError`` when the file cannot be opened or locked, and what `body` throws.
    package func withFile<T>(
        _ path: String, _ access: FileAccess, _ body: (any OpenFile) throws -> T
    ) throws -> T? {
        let descriptor =
            access == .reading ? open(path, O_RDONLY | O_CLOEXEC) : SideFile.open(path)
        guard descriptor >= 0 else {
            if errno == ENOENT, access == .reading { return nil }
            throw FileError("opened", code: errno)
        }
        defer { close(descriptor) }
        let lock =
            switch access {
            case .reading: LOCK_SH
            case .updating: LOCK_EX
            case .exclusiveOrNothing: LOCK_EX | LOCK_NB
            }
        guard flock(descriptor, lock) == 0 else {
            if errno == EWOULDBLOCK { return nil }
            throw FileError("locked", code: errno)
        }
        return try body(OpenSystemFile(path: path, descriptor: descriptor, syncing: syncing))
    }
}

private struct OpenSystemFile: OpenFile {
    let path: String
    let descriptor: Int32
    let syncing: SystemFiles.Syncing

    func read(_ count: Int) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        let got = pread(descriptor, &bytes, count, 0)
        guard got >= 0 else { throw FileError("read", code: errno) }
        return Array(bytes.prefix(got))
    }

    func write(_ bytes: [UInt8], at offset: Int) throws {
        let written = pwrite(descriptor, bytes, bytes.count, off_t(offset))
        // A short write without an error means that the disk is full.
        guard written == bytes.count else { throw FileError("written", code: written < 0 ? errno : ENOSPC) }
    }

    func sync() throws {
        try syncing {
            guard fdatasync(descriptor) == 0 else { throw FileError("synced", code: errno) }
        }
    }

    func syncName() throws {
        let slash = path.lastIndex(of: "/")
        let directory = slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        let descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw FileError("synced", code: errno) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw FileError("synced", code: errno) }
    }
}
