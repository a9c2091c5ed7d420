/// What Tandem asks of the file system besides what SQLite does through its VFS (https://sqlite.org/vfs.html).
///
/// A database that lies elsewhere than in the system's files has a VFS of its own and one of these, which see the same files. See
/// docs/decisions/0012-simulated-disk.md.
public protocol FileSystem: Sendable {
    /// What is at `path`; nil when nothing is. A symbolic link is followed.
    ///
    /// - Throws: ``FileError`` when that cannot be told.
    func status(of path: String) throws -> FileStatus?

    /// What tells the file at `path` from its copies; nil when there is none.
    func fingerprint(of path: String) -> FileFingerprint?

    /// The path without symbolic links, so that two names of one file become one; `path` itself when there is no such file.
    func resolved(_ path: String) -> String

    /// Opens a small file that is not SQLite's, or its log to sync it, locks it against other processes, and runs `body`.
    ///
    /// - Returns: nil without a run, when the file is missing and not to be made, or when its lock is taken and not to be waited for.
    /// - Throws: ``FileError`` when the file cannot be opened or locked, and what `body` throws.
    func withFile<T>(_ path: String, _ access: FileAccess, _ body: (any OpenFile) throws -> T) throws -> T?
}

/// What a file is opened for, and how it is locked meanwhile.
public enum FileAccess: Hashable, Sendable {
    /// With others that read; waits for one that updates.
    case reading
    /// Alone; waits for others. A missing file is made.
    case updating
    /// Alone, or not at all. A missing file is made.
    case exclusiveOrNothing
}

/// A file that ``FileSystem/withFile(_:_:_:)`` has open. All of its functions throw ``FileError``.
public protocol OpenFile {
    /// The first `count` bytes, fewer if the file is shorter.
    ///
    /// - Throws: ``FileError``.
    func read(_ count: Int) throws -> [UInt8]

    /// In one call of the system, so that a crash of the process leaves all of it or nothing.
    ///
    /// - Throws: ``FileError``, `ENOSPC` for a write that came to an end early; a part of the bytes may stand there
    ///   then.
    func write(_ bytes: [UInt8], at offset: Int) throws

    /// Returns when a loss of power cannot take the bytes any more.
    ///
    /// - Throws: ``FileError``. Whether the bytes are durable is not known then, and no later sync makes them so.
    func sync() throws

    /// Returns when a loss of power cannot take the file's name any more.
    ///
    /// - Throws: ``FileError``.
    func syncName() throws
}

/// What a path leads to.
public struct FileStatus: Hashable, Sendable {
    /// What it is, after symbolic links.
    public enum Kind: Hashable, Sendable {
        /// A regular file.
        case file
        /// A directory.
        case directory
        /// Anything else: a device, a socket, a pipe.
        case other
    }

    /// What it is.
    public var kind: Kind
    /// Bytes.
    public var size: Int64
    /// The number of its device. With ``inode`` it tells which file it is, for as long as it is there.
    public var device: UInt64
    /// Its number on the device.
    public var inode: UInt64

    /// - Parameters:
    ///   - kind: What it is.
    ///   - size: Bytes.
    ///   - device: The number of its device.
    ///   - inode: Its number on the device.
    public init(kind: Kind, size: Int64, device: UInt64, inode: UInt64) {
        self.kind = kind
        self.size = size
        self.device = device
        self.inode = inode
    }
}

/// Why an operation on a file failed.
public struct FileError: Error, Hashable, Sendable {
    /// What could not be done with the file: "opened", "synced".
    public var operation: String
    /// `errno`.
    public var code: Int32

    /// - Parameters:
    ///   - operation: What could not be done with the file: "opened", "synced".
    ///   - code: `errno`.
    public init(_ operation: String, code: Int32) {
        self.operation = operation
        self.code = code
    }
}
