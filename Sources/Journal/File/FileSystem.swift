/// File system operations of Tandem outside of SQLite's VFS (https://sqlite.org/vfs.html).
///
/// A database that is not in the system's file system has its own VFS and its own conforming type, and both
/// must see the same files. See docs/decisions/0012-simulated-disk.md.
package protocol FileSystem: Sendable {
    /// Returns the status of the file at `path`; nil when there is none. A symbolic link is followed.
    ///
    /// - Throws: ``FileError`` when the status cannot be read.
    func status(of path: String) throws -> FileStatus?

    /// Returns what distinguishes the file at `path` from its copies; nil when there is no file.
    func fingerprint(of path: String) -> FileFingerprint?

    /// Returns the path without symbolic links, so that two names of one file become equal; `path` itself
    /// when there is no such file.
    func resolved(_ path: String) -> String

    /// Opens a file, locks it against other processes, and runs `body`. The file is a small one that SQLite
    /// does not use, or SQLite's log in order to sync it.
    ///
    /// - Returns: nil without calling `body` when `access` is `reading` and the file is missing, and when
    ///   `access` is `exclusiveOrNothing` and another process holds the lock.
    /// - Throws: ``FileError`` when the file cannot be opened or locked, and what `body` throws.
    func withFile<T>(_ path: String, _ access: FileAccess, _ body: (any OpenFile) throws -> T) throws -> T?

    // MARK: Whole databases

    /// Creates an empty file that those may read and write who may do so with the file `model`.
    ///
    /// - Throws: ``FileError``, with `EEXIST` when the file exists.
    func create(_ path: String, like model: String) throws

    /// Opens a file at whose offsets any number of threads may read and write. It stays readable when its name is
    /// removed.
    ///
    /// - Throws: ``FileError``, with `EWOULDBLOCK` when `access` is `writing` and another process writes the file.
    func openParts(_ path: String, _ access: PartAccess) throws -> any PartsOfFile

    /// Removes a name; nothing happens when it is missing or cannot be removed.
    func remove(_ path: String)

    /// Gives a file another name, and takes that from the file that has it.
    ///
    /// - Throws: ``FileError``. The file keeps its name then.
    func rename(_ path: String, to name: String) throws

    /// Gives a file another name that is free.
    ///
    /// - Throws: ``FileError``, with `EEXIST` when the name is not free. The file keeps its name then.
    func renameExclusively(_ path: String, to name: String) throws

    /// Returns once the content of a file survives a power loss. Nobody may have it open by SQLite: closing another
    /// descriptor drops SQLite's locks.
    ///
    /// - Throws: ``FileError``.
    func sync(_ path: String) throws

    /// Returns once all names in the directory of `path` survive a power loss.
    ///
    /// - Throws: ``FileError``.
    func syncNames(beside path: String) throws

    /// The paths of all files in the directory of `path` that begin with `path`.
    func paths(beginningWith path: String) -> [String]

    /// The bytes that a file in the directory of `path` may still grow by; nil when the system does not say.
    func room(beside path: String) -> Int64?
}

extension FileSystem {
    /// True when there is something at `path` that the system shows.
    package func exists(_ path: String) -> Bool { (try? status(of: path)) != nil }
}

/// How ``FileSystem/openParts(_:_:)`` opens a file.
package enum PartAccess: Hashable, Sendable {
    /// The file must exist.
    case reading
    /// Creates a missing file. No other process may write it meanwhile.
    case writing
}

/// A file that is read and written in parts, by any number of threads.
package protocol PartsOfFile: AnyObject, Sendable {
    /// The size in bytes.
    ///
    /// - Throws: ``FileError``.
    func size() throws -> Int64

    /// Cuts or extends the file. What is added is zeros and takes no room on the disk yet.
    ///
    /// - Throws: ``FileError``.
    func resize(to bytes: Int64) throws

    /// Returns `count` bytes at an offset, or fewer at the end of the file.
    ///
    /// - Throws: ``FileError``.
    func read(_ count: Int, at offset: Int64) throws -> [UInt8]

    /// Writes all bytes at an offset.
    ///
    /// - Throws: ``FileError``. A part of the bytes may be written then.
    func write(_ bytes: [UInt8], at offset: Int64) throws

    /// Lets other processes write the file. This one must not write it any more.
    func unlock()
}

/// How a file is opened, and how it is locked while it is open.
package enum FileAccess: Hashable, Sendable {
    /// Shared with other readers; waits for a writer.
    case reading
    /// Exclusive; waits for others. A missing file is created.
    case updating
    /// Exclusive; does not wait when another process holds the lock. A missing file is created.
    case exclusiveOrNothing
}

/// A file that ``FileSystem/withFile(_:_:_:)`` has opened.
package protocol OpenFile {
    /// Returns the first `count` bytes, or fewer when the file is shorter.
    ///
    /// - Throws: ``FileError``.
    func read(_ count: Int) throws -> [UInt8]

    /// Writes `bytes` in one system call, so that a crash of the process leaves all of them or none.
    ///
    /// - Throws: ``FileError``, with `ENOSPC` for a short write. A part of the bytes may be written then.
    func write(_ bytes: [UInt8], at offset: Int) throws

    /// Returns once the written bytes survive a power loss.
    ///
    /// - Throws: ``FileError``. It is then unknown whether the bytes are durable, and no later sync makes
    ///   them so.
    func sync() throws

    /// Returns once the file's name in its directory survives a power loss.
    ///
    /// - Throws: ``FileError``.
    func syncName() throws
}

/// The file that a path leads to.
package struct FileStatus: Hashable, Sendable {
    /// The type of the file, after following symbolic links.
    package enum Kind: Hashable, Sendable {
        /// A regular file.
        case file
        /// A directory.
        case directory
        /// Anything else: a device, a socket, a pipe.
        case other
    }

    /// The type of the file.
    package var kind: Kind
    /// The length in bytes.
    package var size: Int64
    /// The number of the file's device. Together with ``inode`` it identifies the file as long as the file
    /// exists.
    package var device: UInt64
    /// The file's inode number on its device.
    package var inode: UInt64

    /// - Parameters:
    ///   - kind: The type of the file.
    ///   - size: The length in bytes.
    ///   - device: The number of the file's device.
    ///   - inode: The file's inode number on its device.
    package init(kind: Kind, size: Int64, device: UInt64, inode: UInt64) {
        self.kind = kind
        self.size = size
        self.device = device
        self.inode = inode
    }
}

/// Why an operation on a file failed.
package struct FileError: Error, Hashable, Sendable {
    /// What failed, as a participle that completes "the file cannot be": "opened", "synced".
    package var operation: String
    /// `errno`.
    package var code: Int32

    /// - Parameters:
    ///   - operation: What failed, as a participle that completes "the file cannot be": "opened", "synced".
    ///   - code: `errno`.
    package init(_ operation: String, code: Int32) {
        self.operation = operation
        self.code = code
    }
}
