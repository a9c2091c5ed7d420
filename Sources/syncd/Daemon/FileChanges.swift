import Journal

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
typealias FileMark = DescriptorStatus.Stamp

extension FileMark {
    /// - Parameter path: A symbolic link is followed.
    /// - Returns: nil when there is no file that can be looked at.
    init?(_ path: String) {
        guard let status = DescriptorStatus(at: path) else { return nil }
        self = status.stamp
    }

    /// The marks of those files that are there.
    static func all(_ paths: Set<String>) -> [String: FileMark] {
        paths.reduce(into: [:]) { marks, path in marks[path] = FileMark(path) }
    }
}
