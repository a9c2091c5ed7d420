import CFileShim

#if canImport(Glibc)
    import Glibc
#endif

/// The calls for files that are copied, published and removed as a whole.
extension SystemFiles {
    /// As ``FileSystem/create(_:like:)``. Only root may give a file away; anyone may give it to a group of his own.
    ///
    /// - Throws: ``FileError``.
    package func create(_ path: String, like model: String) throws {
        let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw FileError("created", code: errno) }
        defer { close(descriptor) }
        var status = stat()
        guard stat(model, &status) == 0 else { return }
        if fchown(descriptor, geteuid() == 0 ? status.st_uid : uid_t.max, status.st_gid) == 0 {
            _ = fchmod(descriptor, status.st_mode & 0o666)
        }
    }

    /// As ``FileSystem/openParts(_:_:)``. A file to be written that has another name besides is left alone, and a new
    /// one takes its place: see ``renameExclusively(_:to:)``.
    ///
    /// - Throws: ``FileError``.
    package func openParts(_ path: String, _ access: PartAccess) throws -> any PartsOfFile {
        var status = stat()
        if access == .writing, lstat(path, &status) == 0, status.st_nlink > 1, unlink(path) != 0 {
            throw FileError("removed", code: errno)
        }
        let descriptor =
            access == .reading
            ? open(path, O_RDONLY | O_CLOEXEC) : open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o644)
        guard descriptor >= 0 else { throw FileError("opened", code: errno) }
        let file = PartsOfSystemFile(descriptor)
        guard access == .reading || flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            throw FileError("locked", code: errno)
        }
        return file
    }

    /// As ``FileSystem/remove(_:)``, by unlink(2).
    package func remove(_ path: String) { unlink(path) }

    /// As ``FileSystem/rename(_:to:)``, by rename(2).
    ///
    /// - Throws: ``FileError``.
    package func rename(_ path: String, to name: String) throws {
        guard Glibc.rename(path, name) == 0 else { throw FileError("renamed", code: errno) }
    }

    /// As ``FileSystem/renameExclusively(_:to:)``, by renameat2(2). Where a file system does not have that, link(2) fails
    /// for a name that exists, which rename(2) would replace. A process that is killed right behind it leaves both names.
    ///
    /// - Throws: ``FileError``.
    package func renameExclusively(_ path: String, to name: String) throws {
        guard tandem_rename_once(path, name) != 0 else { return }
        guard [EINVAL, ENOSYS, EPERM].contains(errno) else { throw FileError("renamed", code: errno) }
        guard link(path, name) != 0 else {
            unlink(path)
            return
        }
        let reason = errno
        // A file system without hard links, such as that of a memory stick.
        guard reason == EPERM || reason == ENOTSUP, access(name, F_OK) != 0, Glibc.rename(path, name) == 0 else {
            throw FileError("renamed", code: reason)
        }
    }

    /// As ``FileSystem/sync(_:)``, by fsync(2).
    ///
    /// - Throws: ``FileError``.
    package func sync(_ path: String) throws {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        defer { if descriptor >= 0 { close(descriptor) } }
        guard descriptor >= 0, fsync(descriptor) == 0 else { throw FileError("synced", code: errno) }
    }

    /// As ``FileSystem/syncNames(beside:)``.
    ///
    /// - Throws: ``FileError``.
    package func syncNames(beside path: String) throws { try sync(SystemFiles.directory(of: path)) }

    /// As ``FileSystem/paths(beginningWith:)``; none when the directory cannot be read.
    package func paths(beginningWith path: String) -> [String] {
        let directory = SystemFiles.directory(of: path)
        guard let stream = opendir(directory) else { return [] }
        defer { closedir(stream) }
        var found: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: Int(NAME_MAX) + 1) { String(cString: $0) }
            }
            let whole = path.contains("/") ? (directory == "/" ? "/" : directory + "/") + name : name
            if whole.hasPrefix(path) { found.append(whole) }
        }
        return found
    }

    /// As ``FileSystem/room(beside:)``, by statvfs(3).
    package func room(beside path: String) -> Int64? {
        var status = statvfs()
        guard statvfs(SystemFiles.directory(of: path), &status) == 0 else { return nil }
        let (bytes, overflow) = Int64(clamping: status.f_bavail).multipliedReportingOverflow(
            by: Int64(clamping: status.f_frsize))
        return overflow ? nil : bytes
    }

    static func directory(of path: String) -> String {
        path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    }
}

private final class PartsOfSystemFile: PartsOfFile {
    private let descriptor: Int32

    init(_ descriptor: Int32) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    func unlock() { flock(descriptor, LOCK_UN) }

    func size() throws -> Int64 {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw FileError("read", code: errno) }
        return Int64(status.st_size)
    }

    func resize(to bytes: Int64) throws {
        guard ftruncate(descriptor, off_t(bytes)) == 0 else { throw FileError("written", code: errno) }
    }

    func read(_ count: Int, at offset: Int64) throws -> [UInt8] {
        var reason: Int32 = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            while filled < count, let start = buffer.baseAddress {
                let got = pread(descriptor, start + filled, count - filled, off_t(offset) + off_t(filled))
                if got < 0, errno == EINTR { continue }
                if got < 0 { reason = errno }
                guard got > 0 else { return }
                filled += got
            }
        }
        guard reason == 0 else { throw FileError("read", code: reason) }
        return bytes
    }

    func write(_ bytes: [UInt8], at offset: Int64) throws {
        var written = 0
        while written < bytes.count {
            let count = bytes.withUnsafeBytes { buffer in
                buffer.baseAddress.map {
                    pwrite(descriptor, $0 + written, bytes.count - written, off_t(offset) + off_t(written))
                } ?? 0
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw FileError("written", code: count < 0 ? errno : ENOSPC) }
            written += count
        }
    }
}
