import Foundation
import GRDB
import Journal

#if canImport(Glibc)
    import Glibc
#endif

/// The progress of a backup.
public struct BackupProgress: Hashable, Sendable {
    /// The number of pages copied so far. A page usually has 4 096 bytes.
    public let completedPages: Int
    /// The number of pages of the whole database when the copy began.
    public let totalPages: Int
    /// The copied fraction, 0...1.
    public var fraction: Double { totalPages == 0 ? 1 : Double(completedPages) / Double(totalPages) }
}

extension Database {
    /// Copies the database to another file while it is in use. The copy shows one consistent state, whatever
    /// is written during the backup (https://sqlite.org/backup.html).
    ///
    /// The copy is read through before it gets its name. It is a single file that any SQLite opens. `syncd
    /// restore` makes a replica of it again; `syncd clone` makes a further replica from a running one.
    ///
    /// ```swift
    /// try db.backup(to: "/backups/people.sqlite") { print("\(Int($0.fraction * 100)) %") }
    /// ```
    ///
    /// - Parameters:
    ///   - path: The new file. It appears under this name when it is complete; after a failure it does not
    ///     appear.
    ///   - replacing: True to replace an existing file.
    ///   - pagesPerStep: The number of pages copied between two calls of `progress`; less than 1 counts as 1.
    ///   - progress: Called after each step. An error that it throws ends the backup.
    /// - Throws: What `progress` throws, and ``StoreError``: `alreadyExists`; `busy` inside an access to this
    ///   database, and when any process has the file to be replaced open; `notFound` when the directory is
    ///   missing or not writable; `full`; `closed`; `sqlite` when the copy cannot be renamed. An existing
    ///   file stays intact then.
    public func backup(
        to path: String, replacing: Bool = false, pagesPerStep: Int = 1_000,
        progress: @escaping (BackupProgress) throws -> Void = { _ in }
    ) throws {
        try outside("backing up") {
            guard replacing || !FileManager.default.fileExists(atPath: path) else {
                throw StoreError(
                    .alreadyExists, "A file exists already at \(path)",
                    hint: "Name another one, or pass `replacing: true`.")
            }
            let partial = path + ".partial"
            Database.remove(partial)
            do {
                try copy(to: partial, pagesPerStep, progress)
                // SQLite would replay the old file's log into the new file, so the log is removed. Opening
                // the old file first checkpoints its log, so that the old file is complete if the machine
                // stops here.
                if FileManager.default.fileExists(atPath: path) { try Database.refuseOpen(path, "backing up") }
                Database.removeLogs(path)
                guard rename(partial, path) == 0 else {
                    throw StoreError(
                        .sqlite, "The copy could not be renamed: \(String(cString: strerror(errno)))",
                        hint: "Name a file, not a directory, in a directory that the program may write to.")
                }
            } catch {
                Database.remove(partial)
                throw error
            }
        }
    }

    private func copy(
        to path: String, _ pagesPerStep: Int, _ progress: @escaping (BackupProgress) throws -> Void
    ) throws {
        var copy = DatabaseCopy(to: path)
        copy.pagesPerStep = pagesPerStep
        _ = try copy.run(of: replica) { step in
            try progress(BackupProgress(completedPages: step.completedPages, totalPages: step.totalPages))
        }
        try DatabaseCopy.verify(path, unlock: replica.options.unlock)
    }

    /// Deletes a database file with its log and its lock file. No process may have it open.
    ///
    /// ```swift
    /// try db.close()
    /// try Database.deleteFiles(at: db.path)
    /// ```
    ///
    /// - Returns: False when there was no file.
    /// - Throws: ``StoreError/Code/busy`` when this process or another one has the file open; nothing is
    ///   deleted then.
    @discardableResult
    public static func deleteFiles(at path: String) throws -> Bool {
        guard FileManager.default.fileExists(atPath: path) else { return false }
        // The log lies beside the target of a symbolic link, not beside the link.
        let file = SystemFiles().resolved(path)
        try refuseOpen(file, "deleting files")
        remove(file)
        _ = unlink(path)
        return true
    }

    private static func refuseOpen(_ path: String, _ operation: String) throws {
        do {
            let queue = try DatabaseQueue(path: path)
            defer { try? queue.close() }
            // In WAL mode an exclusive lock is granted only when no other connection is open
            // (https://sqlite.org/wal.html#use_of_wal_without_shared_memory).
            try queue.writeWithoutTransaction { db in
                try db.execute(sql: "PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; ROLLBACK")
            }
        } catch let error as DatabaseError where [.SQLITE_BUSY, .SQLITE_LOCKED].contains(error.resultCode) {
            throw StoreError(
                .busy, "The database is open", hint: "Close it in every process first.", operation: operation,
                sqliteCode: error.extendedResultCode.rawValue)
        } catch {
            // A file that is damaged or is no database can be deleted too.
        }
    }

    private static func remove(_ path: String) {
        removeLogs(path)
        for suffix in ["", "-checkpoint"] { _ = unlink(path + suffix) }
    }

    private static func removeLogs(_ path: String) {
        for suffix in ["-wal", "-shm", "-journal"] { _ = unlink(path + suffix) }
    }
}
