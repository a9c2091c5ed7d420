import Foundation

/// Decides when the files that a configuration names are read again: when one of them has changed, and all have
/// stayed the same from one look to the next. So files that are replaced one after the other, such as a certificate
/// and its key, are read together.
///
/// Pure: what the files look like is passed in.
struct FileChanges {
    /// The marks with which the files were read; a missing file has none. Files that were there from the beginning
    /// are read once more: they may have changed while they were read first.
    private var read: [String: FileMark] = [:]
    private var last: [String: FileMark] = [:]

    /// Returns true when the files are to be read now. It says so once for each change.
    mutating func look(_ marks: [String: FileMark]) -> Bool {
        defer { last = marks }
        guard marks != read, marks == last else { return false }
        read = marks
        return true
    }
}

/// What tells a file from the one that was at its path before.
struct FileMark: Sendable, Hashable {
    let device: UInt64
    let inode: UInt64
    let size: Int64
    /// The last changes of content and of status, in nanoseconds since 1970.
    let times: [Int64]

    /// - Parameter path: A symbolic link is followed.
    /// - Returns: nil when there is no file that can be looked at.
    init?(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        device = UInt64(status.st_dev)
        inode = UInt64(status.st_ino)
        size = Int64(status.st_size)
        times = [status.st_mtim, status.st_ctim].map { Int64($0.tv_sec) * 1_000_000_000 + Int64($0.tv_nsec) }
    }

    /// The marks of those files that are there.
    static func all(_ paths: Set<String>) -> [String: FileMark] {
        paths.reduce(into: [:]) { marks, path in marks[path] = FileMark(path) }
    }
}
