#if canImport(Glibc)
    import Glibc
#endif

/// A small file beside a database, with the database's name and a suffix: `<database>-identity`.
package enum SideFile {
    /// Opens the file at `path` for reading and writing, and creates it when it is missing.
    ///
    /// Who may write the database may read and write a new file, whoever creates it; others may do neither,
    /// because a lock takes no more than reading. SQLite gives its log the database's owner in the same way.
    ///
    /// - Parameter flags: Further flags of open(2), for example `O_NOFOLLOW`.
    /// - Returns: A descriptor; -1 with `errno` when the file cannot be opened.
    package static func open(_ path: String, flags: Int32 = 0) -> Int32 {
        // Another process may create or remove it between two calls. A link to nothing stays in the way.
        for _ in 0..<3 {
            let known = Glibc.open(path, O_RDWR | O_CLOEXEC | flags)
            guard known < 0, errno == ENOENT else { return known }
            let new = Glibc.open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | flags, 0o600)
            if new >= 0 {
                share(new, as: database(of: path))
                return new
            }
            guard errno == EEXIST else { return new }
        }
        return -1
    }

    private static func database(of path: String) -> String {
        path.lastIndex(of: "-").map { String(path[..<$0]) } ?? path
    }

    /// Gives a file the owner of the database, and lets those use it who may write the database. Where the
    /// system does not allow that, the file stays this user's own.
    private static func share(_ descriptor: Int32, as database: String) {
        var status = stat()
        guard stat(database, &status) == 0 else { return }
        // Only root may give a file away; anyone may give it to a group of his own.
        if fchown(descriptor, geteuid() == 0 ? status.st_uid : uid_t.max, status.st_gid) != 0 { return }
        var mode: mode_t = 0o600
        if status.st_mode & 0o020 != 0 { mode |= 0o060 }
        if status.st_mode & 0o002 != 0 { mode |= 0o006 }
        _ = fchmod(descriptor, mode)
    }
}
