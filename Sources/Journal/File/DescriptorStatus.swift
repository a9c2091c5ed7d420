#if canImport(Glibc)
    import Glibc
#endif

/// The type and the permissions of an open file, even when its name was removed or refers to another file.
package struct DescriptorStatus: Sendable {
    package let isRegularFile: Bool
    /// True when neither the group nor others may read, write or execute it.
    package let isPrivate: Bool

    /// - Parameter descriptor: An open file.
    /// - Returns: nil when fstat(2) fails.
    package init?(_ descriptor: Int32) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return nil }
        isRegularFile = status.st_mode & S_IFMT == S_IFREG
        isPrivate = status.st_mode & 0o077 == 0
    }
}
