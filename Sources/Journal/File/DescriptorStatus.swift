#if canImport(Glibc)
    import Glibc
#endif

/// The type and the permissions of an open file, even when its name was removed or refers to another file.
package struct DescriptorStatus: Sendable {
    package let isRegularFile: Bool
    /// True when neither the group nor others may read, write or execute it.
    package let isPrivate: Bool
    /// Differs when the file was replaced or written to since.
    package let stamp: Stamp

    package struct Stamp: Sendable, Hashable {
        let inode: UInt64
        let size: Int64
        let seconds: Int64
        let nanoseconds: Int64
    }

    /// - Parameter descriptor: An open file.
    /// - Returns: nil when fstat(2) fails.
    package init?(_ descriptor: Int32) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return nil }
        isRegularFile = status.st_mode & S_IFMT == S_IFREG
        isPrivate = status.st_mode & 0o077 == 0
        stamp = Stamp(
            inode: UInt64(status.st_ino), size: Int64(status.st_size), seconds: Int64(status.st_mtim.tv_sec),
            nanoseconds: Int64(status.st_mtim.tv_nsec))
    }
}
