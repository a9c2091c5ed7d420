import CSimDisk
import Glibc
import Journal

/// Tandem's own files on a simulated disk. Paths elsewhere use the real file system.
struct SimulatedFiles: FileSystem {
    let disk: SimulatedDisk
    private let elsewhere = SystemFiles()

    init(disk: SimulatedDisk) { self.disk = disk }

    private func name(_ path: String) -> String? {
        let start = disk.directory + "/"
        return path.hasPrefix(start) ? String(path.dropFirst(start.count)) : nil
    }

    func status(of path: String) throws -> FileStatus? {
        guard let name = name(path) else { return try elsewhere.status(of: path) }
        return disk.size(of: name).map {
            FileStatus(kind: .file, size: $0, device: 0, inode: simdisk_file_inode(disk.disk, name))
        }
    }

    func fingerprint(of path: String) -> FileFingerprint? {
        guard let name = name(path) else { return elsewhere.fingerprint(of: path) }
        let inode = simdisk_file_inode(disk.disk, name)
        guard inode != 0 else { return nil }
        return FileFingerprint(machine: simdisk_machine(disk.disk), inode: inode, birth: Int64(clamping: inode))
    }

    func resolved(_ path: String) -> String { name(path) == nil ? elsewhere.resolved(path) : path }

    func withFile<T>(_ path: String, _ access: FileAccess, _ body: (any OpenFile) throws -> T) throws -> T? {
        guard let name = name(path) else { return try elsewhere.withFile(path, access, body) }
        let isThere = disk.size(of: name) != nil
        if access == .reading, !isThere { return nil }
        if !isThere { try check(simdisk_file_create(disk.disk, name), "opened") }
        guard try lock(name, access) else { return nil }
        defer { simdisk_file_unlock(disk.disk, name) }
        return try body(OpenSimulatedFile(disk: disk, name: name))
    }

    /// - Returns: False when another process holds the lock and `access` does not wait.
    private func lock(_ name: String, _ access: FileAccess) throws -> Bool {
        // The holder of a lock works in memory. A longer wait is a lock that a fault holds.
        for _ in 0..<100_000 {
            let code = simdisk_file_lock(disk.disk, name)
            if code == 0 { return true }
            guard code == EWOULDBLOCK else { throw FileError("locked", code: code) }
            if access == .exclusiveOrNothing { return false }
            sched_yield()
        }
        throw FileError("locked", code: EDEADLK)
    }
}

private struct OpenSimulatedFile: OpenFile {
    let disk: SimulatedDisk
    let name: String

    func read(_ count: Int) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var got = 0
        try check(simdisk_file_read(disk.disk, name, 0, &bytes, count, &got), "read")
        return Array(bytes.prefix(got))
    }

    func write(_ bytes: [UInt8], at offset: Int) throws {
        try check(simdisk_file_write(disk.disk, name, Int64(offset), bytes, bytes.count), "written")
    }

    func sync() throws { try check(simdisk_file_sync(disk.disk, name), "synced") }

    func syncName() throws { try check(simdisk_names_sync(disk.disk), "synced") }
}

private func check(_ code: Int32, _ operation: String) throws {
    if code != 0 { throw FileError(operation, code: code) }
}
