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

extension SimulatedFiles {
    func create(_ path: String, like model: String) throws {
        guard let name = name(path) else { return try elsewhere.create(path, like: model) }
        guard disk.size(of: name) == nil else { throw FileError("created", code: EEXIST) }
        try check(simdisk_file_create(disk.disk, name), "created")
    }

    func openParts(_ path: String, _ access: PartAccess) throws -> any PartsOfFile {
        guard let name = name(path) else { return try elsewhere.openParts(path, access) }
        if access == .writing, disk.size(of: name) == nil { try check(simdisk_file_create(disk.disk, name), "opened") }
        guard let open = simdisk_open(disk.disk, name) else {
            throw FileError("opened", code: disk.isDown ? EIO : ENOENT)
        }
        let file = PartsOfSimulatedFile(open)
        if access == .writing { try check(simdisk_open_lock(open), "locked") }
        return file
    }

    func remove(_ path: String) {
        guard let name = name(path) else { return elsewhere.remove(path) }
        if disk.size(of: name) != nil { disk.deleteFile(name) }
    }

    func rename(_ path: String, to new: String) throws {
        guard let name = name(path), let new = self.name(new) else { return try elsewhere.rename(path, to: new) }
        try check(simdisk_file_rename(disk.disk, name, new), "renamed")
    }

    func renameExclusively(_ path: String, to new: String) throws {
        guard let name = name(path), let new = self.name(new) else {
            return try elsewhere.renameExclusively(path, to: new)
        }
        guard disk.size(of: new) == nil else { throw FileError("renamed", code: EEXIST) }
        try check(simdisk_file_rename(disk.disk, name, new), "renamed")
    }

    func sync(_ path: String) throws {
        guard let name = name(path) else { return try elsewhere.sync(path) }
        try check(simdisk_file_sync(disk.disk, name), "synced")
    }

    func syncNames(beside path: String) throws {
        guard name(path) != nil else { return try elsewhere.syncNames(beside: path) }
        try check(simdisk_names_sync(disk.disk), "synced")
    }

    func paths(beginningWith path: String) -> [String] {
        guard name(path) != nil else { return elsewhere.paths(beginningWith: path) }
        var names: [String] = []
        while let name = simdisk_name(disk.disk, Int32(names.count)) { names.append(String(cString: name)) }
        return names.map { disk.path($0) }.filter { $0.hasPrefix(path) }
    }

    func room(beside path: String) -> Int64? { name(path) == nil ? elsewhere.room(beside: path) : nil }
}

/// Unchecked: the C side has its own lock, and only `deinit` closes the file.
private final class PartsOfSimulatedFile: PartsOfFile, @unchecked Sendable {
    private let file: OpaquePointer

    init(_ file: OpaquePointer) { self.file = file }

    deinit { simdisk_close(file) }

    func unlock() { simdisk_open_unlock(file) }

    func size() throws -> Int64 { simdisk_open_size(file) }

    func resize(to bytes: Int64) throws { try check(simdisk_open_resize(file, bytes), "written") }

    func read(_ count: Int, at offset: Int64) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var got = 0
        try check(simdisk_open_read(file, offset, &bytes, count, &got), "read")
        return Array(bytes.prefix(got))
    }

    func write(_ bytes: [UInt8], at offset: Int64) throws {
        try check(simdisk_open_write(file, offset, bytes, bytes.count), "written")
    }
}

private func check(_ code: Int32, _ operation: String) throws {
    if code != 0 { throw FileError(operation, code: code) }
}
