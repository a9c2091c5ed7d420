#if canImport(Glibc)
    import Glibc
#endif

/// The type and the permissions of a file: of an open one, even when its name was removed or refers to another file, or
/// of the one at a path.
package struct DescriptorStatus: Sendable {
    package let isRegularFile: Bool
    /// True when neither the group nor others may read, write or execute it.
    package let isPrivate: Bool
    /// Differs when the file was replaced, written to or given other permissions since.
    package let stamp: Stamp

    package struct Stamp: Sendable, Hashable {
        let device: UInt64
        let inode: UInt64
        let size: Int64
        /// The last changes of content and of status, in seconds and nanoseconds since 1970.
        let times: [Int64]
    }

    /// - Parameter descriptor: An open file.
    /// - Returns: nil when fstat(2) fails.
    package init?(_ descriptor: Int32) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return nil }
        self.init(status)
    }

    /// - Parameter path: A symbolic link is followed.
    /// - Returns: nil when stat(2) fails, also because there is no file.
    package init?(at path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        self.init(status)
    }

    private init(_ status: stat) {
        isRegularFile = status.st_mode & S_IFMT == S_IFREG
        isPrivate = status.st_mode & 0o077 == 0
        stamp = Stamp(
            device: UInt64(status.st_dev), inode: UInt64(status.st_ino), size: Int64(status.st_size),
            times: [status.st_mtim, status.st_ctim].flatMap { [Int64($0.tv_sec), Int64($0.tv_nsec)] })
    }
}
