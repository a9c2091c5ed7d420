import Journal

#if canImport(Glibc)
    import Glibc
#endif

/// A file that is read and written in parts, by any number of threads.
final class PartFile: Sendable {
    private let descriptor: Int32
    private let path: String

    private init(descriptor: Int32, path: String) {
        self.descriptor = descriptor
        self.path = path
    }

    deinit { close(descriptor) }

    /// Opens a file for reading.
    ///
    /// - Throws: ``SyncError/Code/storage``.
    static func reading(_ path: String) throws(SyncError) -> PartFile {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure("opened", path, errno) }
        return PartFile(descriptor: descriptor, path: path)
    }

    /// Opens a file for writing, and creates it when it is missing. No other process may write it meanwhile.
    ///
    /// - Throws: ``SyncError``: `busy` when another process writes it; `storage`.
    static func writing(_ path: String) throws(SyncError) -> PartFile {
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o644)
        guard descriptor >= 0 else { throw failure("opened", path, errno) }
        let file = PartFile(descriptor: descriptor, path: path)
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            throw SyncError(
                .busy, "Another program is writing \(path)", hint: "Wait until it has finished, or stop it.")
        }
        return file
    }

    /// Lets other processes write the file. This one must not write it any more.
    func unlock() { flock(descriptor, LOCK_UN) }

    /// The size in bytes.
    func size() throws(SyncError) -> Int64 {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw PartFile.failure("read", path, errno) }
        return Int64(status.st_size)
    }

    /// Cuts or extends the file. What is added is zeros and takes no room on the disk yet.
    func resize(to bytes: Int64) throws(SyncError) {
        guard ftruncate(descriptor, off_t(bytes)) == 0 else { throw PartFile.failure("written", path, errno) }
    }

    /// Returns `count` bytes at an offset, or fewer at the end of the file.
    func read(_ count: Int, at offset: Int64) throws(SyncError) -> [UInt8] {
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
        guard reason == 0 else { throw PartFile.failure("read", path, reason) }
        return bytes
    }

    /// Writes all bytes at an offset.
    func write(_ bytes: [UInt8], at offset: Int64) throws(SyncError) {
        var written = 0
        while written < bytes.count {
            let count = bytes.withUnsafeBytes { buffer in
                buffer.baseAddress.map {
                    pwrite(descriptor, $0 + written, bytes.count - written, off_t(offset) + off_t(written))
                } ?? 0
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw PartFile.failure("written", path, count < 0 ? errno : ENOSPC) }
            written += count
        }
    }

    private static func failure(_ operation: String, _ path: String, _ reason: Int32) -> SyncError {
        SyncError(
            .storage, "\(path) cannot be \(operation): \(String(cString: strerror(reason)))",
            hint: reason == ENOSPC
                ? "Free some space on the disk, and run the command again." : "Look at the disk and the permissions.")
    }

    /// The bytes that a file in that directory may still grow by; nil when the system does not say.
    static func room(beside path: String) -> Int64? {
        var status = statvfs()
        let directory = path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        guard statvfs(directory, &status) == 0 else { return nil }
        let (bytes, overflow) = Int64(clamping: status.f_bavail).multipliedReportingOverflow(
            by: Int64(clamping: status.f_frsize))
        return overflow ? nil : bytes
    }
}
