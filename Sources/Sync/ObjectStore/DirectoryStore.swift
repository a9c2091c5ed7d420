import CFileShim
import Foundation
import Journal

#if canImport(Glibc)
    import Glibc
#endif

/// Objects as files below a directory: on a disk, a network share or a removable disk.
///
/// An object is written to a file of another name, synced, and then gets its name in one step, so a reader never
/// sees a part of one, and a loss of power leaves all of it or nothing.
package struct DirectoryStore: ObjectStore {
    /// The address: `file://` and the path.
    package let name: String
    private let root: String

    /// What the names of unfinished files begin with. No key does.
    private static let unfinished = "_"
    /// Objects in one answer to ``list(_:after:)``.
    private static let mostListed = 1_000

    /// - Parameter path: The directory, which must exist: an empty mount point must not become an archive.
    package init(_ path: String) {
        root = path
        name = "file://" + path
    }

    package func create(_ key: String, _ bytes: [UInt8]) async throws -> Bool {
        try await DirectoryStore.blocking {
            let file = try path(of: key)
            guard access(file, F_OK) != 0 else { return false }
            let (unfinished, directory) = try write(bytes, beside: file)
            defer { unlink(unfinished) }
            // A link fails when the name is taken, on network shares too.
            if link(unfinished, file) != 0 {
                guard errno != EEXIST else { return false }
                guard errno == EPERM || errno == EOPNOTSUPP || errno == ENOSYS else {
                    throw failure("written", file, errno)
                }
                // A file system without links, such as FAT.
                guard tandem_rename_once(unfinished, file) == 0 else {
                    guard errno != EEXIST else { return false }
                    throw failure("written", file, errno)
                }
            }
            try sync(directory)
            return true
        }
    }

    package func replace(_ key: String, _ bytes: [UInt8]) async throws {
        try await DirectoryStore.blocking {
            let file = try path(of: key)
            let (unfinished, directory) = try write(bytes, beside: file)
            guard rename(unfinished, file) == 0 else {
                let reason = errno
                unlink(unfinished)
                throw failure("written", file, reason)
            }
            try sync(directory)
        }
    }

    package func get(_ key: String, range: Range<Int>?) async throws -> [UInt8]? {
        try await DirectoryStore.blocking {
            let file = try path(of: key)
            let descriptor = open(file, O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0 else {
                guard errno == ENOENT || errno == ENOTDIR else { throw failure("read", file, errno) }
                try checkRoot()
                return nil
            }
            defer { close(descriptor) }
            var status = stat()
            guard fstat(descriptor, &status) == 0 else { throw failure("read", file, errno) }
            let size = Int(status.st_size)
            let wanted = (range ?? 0..<size).clamped(to: 0..<size)
            var reason: Int32 = 0
            let bytes = [UInt8](unsafeUninitializedCapacity: wanted.count) { buffer, filled in
                while filled < wanted.count, let start = buffer.baseAddress {
                    let got = pread(
                        descriptor, start + filled, wanted.count - filled, off_t(wanted.lowerBound) + off_t(filled))
                    if got < 0, errno == EINTR { continue }
                    if got < 0 { reason = errno }
                    guard got > 0 else { return }
                    filled += got
                }
            }
            guard reason == 0 else { throw failure("read", file, reason) }
            return bytes
        }
    }

    package func list(_ prefix: String, after: String?) async throws -> Listing {
        try await DirectoryStore.blocking {
            try checkRoot()
            var found: [StoredObject] = []
            let directory = prefix.lastIndex(of: "/").map { String(prefix[...$0]) } ?? ""
            try collect(directory, prefix: prefix, after: after ?? "", &found)
            found.sort { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
            return Listing(
                objects: Array(found.prefix(DirectoryStore.mostListed)), isCut: found.count > DirectoryStore.mostListed)
        }
    }

    package func delete(_ key: String) async throws {
        try await DirectoryStore.blocking {
            let file = try path(of: key)
            guard unlink(file) == 0 || errno == ENOENT else { throw failure("removed", file, errno) }
        }
    }

    // MARK: - Pieces

    /// Runs `body` on a thread that may block, unless the task is cancelled.
    private static func blocking<T: Sendable>(_ body: @escaping @Sendable () throws -> T) async throws -> T {
        guard !Task.isCancelled else { throw SyncError(.cancelled, "The work with the directory was stopped") }
        return try await Sync.blocking(body)
    }

    /// - Throws: ``SyncError/Code/failed`` for a key that is none.
    private func path(of key: String) throws(SyncError) -> String {
        guard ObjectKey.isValid(key) else { throw SyncError(.failed, "\"\(key)\" is no key of an object store") }
        return root + "/" + key
    }

    private func checkRoot() throws(SyncError) {
        var status = stat()
        if stat(root, &status) == 0, status.st_mode & S_IFMT != S_IFDIR {
            throw SyncError(
                .configuration, "\(root) is not a directory", hint: "An archive is a directory: file:///DIRECTORY.")
        }
        guard access(root, X_OK) != 0 else { return }
        throw SyncError(
            .unreachable, "The directory \(root) cannot be reached: \(String(cString: strerror(errno)))",
            hint: "Make it, or mount its disk. An archive is never begun in a directory that does not exist.")
    }

    /// Writes a file that has no name of an object yet, and syncs it.
    ///
    /// - Returns: Its path, and its directory.
    private func write(_ bytes: [UInt8], beside file: String) throws -> (path: String, directory: String) {
        try checkRoot()
        let directory = (file as NSString).deletingLastPathComponent
        do {
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        } catch {
            throw failure("written", directory, errno)
        }
        let path = "\(directory)/\(DirectoryStore.unfinished)\(OriginID.random())"
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw failure("written", path, errno) }
        defer { close(descriptor) }
        do {
            var written = 0
            while written < bytes.count {
                let count = bytes.withUnsafeBytes { buffer in
                    buffer.baseAddress.map { Glibc.write(descriptor, $0 + written, bytes.count - written) } ?? 0
                }
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { throw failure("written", path, count < 0 ? errno : ENOSPC) }
                written += count
            }
            guard fsync(descriptor) == 0 else { throw failure("written", path, errno) }
        } catch {
            unlink(path)
            throw error
        }
        return (path, directory)
    }

    /// Makes the names in a directory survive a loss of power.
    private func sync(_ directory: String) throws(SyncError) {
        let descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure("written", directory, errno) }
        defer { close(descriptor) }
        // Some network shares cannot sync a directory, and need not.
        guard fsync(descriptor) == 0 || errno == EINVAL else { throw failure("written", directory, errno) }
    }

    private func collect(
        _ directory: String, prefix: String, after: String, _ found: inout [StoredObject]
    ) throws {
        let path = root + "/" + directory
        guard let stream = opendir(path) else {
            guard errno == ENOENT || errno == ENOTDIR else { throw failure("read", path, errno) }
            return
        }
        defer { closedir(stream) }
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: Int(NAME_MAX) + 1) { String(cString: $0) }
            }
            guard !name.hasPrefix("."), !name.hasPrefix(DirectoryStore.unfinished) else { continue }
            let key = directory + name
            var status = stat()
            // It may have been removed since.
            guard stat(root + "/" + key, &status) == 0 else { continue }
            if status.st_mode & S_IFMT == S_IFDIR {
                let inner = key + "/"
                let isWanted = inner.hasPrefix(prefix) || prefix.hasPrefix(inner)
                if isWanted { try collect(inner, prefix: prefix, after: after, &found) }
            } else if key.hasPrefix(prefix), after.utf8.lexicographicallyPrecedes(key.utf8) {
                let time = Int64(status.st_mtim.tv_sec) * 1_000_000_000 + Int64(status.st_mtim.tv_nsec)
                found.append(
                    StoredObject(
                        key: key, size: Int(status.st_size), tag: "\(status.st_ino)-\(time)-\(status.st_size)",
                        milliseconds: time / 1_000_000))
            }
        }
    }

    private func failure(_ operation: String, _ path: String, _ reason: Int32) -> SyncError {
        SyncError(
            .storage, "\(path) cannot be \(operation): \(String(cString: strerror(reason)))",
            hint: reason == ENOSPC
                ? "Free some space there; what was not written is kept in the journal, and follows."
                : "Look at the disk and at the permissions of the directory.")
    }
}
