#if canImport(Glibc)
    import Glibc
#endif

/// What an open file is, whatever has become of its name meanwhile.
package struct DescriptorStatus: Sendable {
    package let isRegularFile: Bool
    /// True when neither the group nor others may read, write or run it.
    package let isPrivate: Bool

    /// - Parameter descriptor: An open file.
    /// - Returns: nil when the system does not tell.
    package init?(_ descriptor: Int32) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return nil }
        isRegularFile = status.st_mode & S_IFMT == S_IFREG
        isPrivate = status.st_mode & 0o077 == 0
    }
}
