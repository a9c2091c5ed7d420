import Foundation
import GRDB
import GRDBSQLite

#if canImport(Glibc)
    import Glibc
#endif

/// Copies the database of an open replica, page by page, while programs write to it.
///
/// The copy shows one moment: all its pages come from one read transaction, which delays no writer
/// (https://sqlite.org/backup.html). It is a complete file without a log, so any SQLite opens it, from a
/// read-only disk, too. It has the identity of the replica, and notes up to which version the replica's
/// changes are published (``PublishedHead``).
package struct DatabaseCopy: Sendable {
    /// What a copy contains.
    package struct Content: Sendable, Hashable {
        /// The replica's origin and cluster; nil for a database without a journal.
        package let identity: Identity?
        /// The changes that the copy has.
        package let vector: VersionVector
        /// Up to where its journal is compacted.
        package let horizon: VersionVector
        /// The size of the database in bytes.
        package let bytes: Int64
    }

    /// How far copying has come.
    package struct Progress: Sendable, Hashable {
        /// Pages that are copied.
        package let completedPages: Int
        /// Pages of the database.
        package let totalPages: Int
    }

    /// The file to write. It must not exist.
    package let path: String
    /// Pages that are copied between two calls of `progress`, 1 or more.
    package var pagesPerStep = 1_000

    /// - Parameter path: The file to write. It must not exist.
    package init(to path: String) { self.path = path }

    /// Copies the database. When this returns, the copy is on the disk under its path.
    ///
    /// - Parameter progress: Called after each step. What it throws ends the copy.
    /// - Throws: What `progress` throws; ``JournalError``; errors of SQLite. An unfinished file may be left
    ///   then.
    package func run(
        of replica: Replica, progress: (Progress) throws -> Void = { _ in }
    ) throws -> Content {
        if !replica.isReadOnly { try replica.syncLog() }
        var configuration = Configuration()
        if let unlock = replica.options.unlock { configuration.prepareDatabase(unlock) }
        let files = replica.options.files
        try DatabaseCopy.create(path, like: replica.path, files)
        let target = try DatabaseQueue(path: path, configuration: configuration)
        defer { try? target.close() }
        // The file is synced as a whole at the end. Before, nobody relies on it.
        try target.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = OFF") }
        let (content, head) = try replica.read { source in
            // Reading begins the transaction whose state the backup copies.
            let content = try DatabaseCopy.content(of: source, hasJournal: replica.hasJournal)
            let head = replica.hasJournal ? try PublicationRecord.Entry(headOf: source) : nil
            try target.writeWithoutTransaction { try copyPages(from: source, to: $0, progress) }
            return (content, head)
        }
        // Handing out a copy publishes its changes, as sending them to a peer does.
        let isPublished = head != nil && !replica.isReadOnly && replica.isFile
        if let head, isPublished {
            try PublicationRecord(database: replica.path, files: files).raise(to: head)
        }
        try target.writeWithoutTransaction { db in
            _ = try String.fetchOne(db, sql: "PRAGMA journal_mode = DELETE")
            if let head, isPublished, try db.columns(in: "_journal_replica").contains(where: { $0.name == "published" })
            {
                try PublishedHead.write(head.origin, head.version, db)
            }
        }
        try target.close()
        try DatabaseCopy.sync(path, files)
        return content
    }

    /// Reads what a finished copy contains.
    ///
    /// - Throws: As ``JournalReader/init(_:)``; errors of SQLite for a file that is no database.
    package static func content(at path: String) throws -> Content {
        var configuration = Configuration()
        configuration.readonly = true
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        defer { try? queue.close() }
        return try queue.read { db in try content(of: db, hasJournal: Identity.isThere(db)) }
    }

    private static func content(of db: Database, hasJournal: Bool) throws -> Content {
        let bytes =
            try Int64.fetchOne(db, sql: "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size") ?? 0
        guard hasJournal else {
            return Content(identity: nil, vector: VersionVector(), horizon: VersionVector(), bytes: bytes)
        }
        let reader = try JournalReader(db)
        return Content(
            identity: reader.identity, vector: reader.vector(), horizon: try Horizon(db).vector, bytes: bytes)
    }

    private func copyPages(
        from source: Database, to target: Database, _ progress: (Progress) throws -> Void
    ) throws {
        guard let backup = sqlite3_backup_init(target.sqliteConnection, "main", source.sqliteConnection, "main") else {
            throw DatabaseError(
                resultCode: ResultCode(rawValue: sqlite3_errcode(target.sqliteConnection)),
                message: String(cString: sqlite3_errmsg(target.sqliteConnection)))
        }
        var result = SQLITE_OK
        var refusal: (any Error)?
        repeat {
            result = sqlite3_backup_step(backup, CInt(clamping: max(1, pagesPerStep)))
            guard result == SQLITE_OK || result == SQLITE_DONE else { break }
            let total = Int(sqlite3_backup_pagecount(backup))
            let left = Int(sqlite3_backup_remaining(backup))
            do {
                try progress(Progress(completedPages: total - left, totalPages: total))
            } catch {
                refusal = error
            }
        } while result == SQLITE_OK && refusal == nil
        let end = sqlite3_backup_finish(backup)
        if let refusal { throw refusal }
        guard result == SQLITE_DONE, end == SQLITE_OK else {
            let code = end == SQLITE_OK ? result : end
            throw DatabaseError(resultCode: ResultCode(rawValue: code), message: String(cString: sqlite3_errstr(code)))
        }
    }

    /// Creates an empty file that those may read and write who may do so with `database`. SQLite would let
    /// everyone read the copy of a secret file.
    ///
    /// - Throws: ``JournalError``: `invalid` when the file exists; `readOnly`.
    static func create(_ path: String, like database: String, _ files: any FileSystem = SystemFiles()) throws {
        // A database in memory has no file, and its copy gets the mode that SQLite gives to files.
        guard files.exists(database) else { return }
        do {
            try files.create(path, like: database)
        } catch let error as FileError {
            throw JournalError(
                error.code == EEXIST ? .invalid : .readOnly,
                "\(path) cannot be created: \(String(cString: strerror(error.code)))",
                hint: error.code == EEXIST
                    ? "Remove the file if nothing uses it." : "The directory must exist and be writable.")
        }
    }

    /// Checks that a new database can get a name.
    ///
    /// - Throws: ``JournalError/Code/invalid`` when a file has it, or when a log lies beside it.
    package static func checkFree(_ path: String, _ files: any FileSystem = SystemFiles()) throws {
        guard !files.exists(path) else {
            throw JournalError(
                .invalid, "A file exists already at \(path)", hint: "Name another one; nothing was changed.")
        }
        for suffix in ["-wal", "-journal"] where files.exists(path + suffix) {
            throw JournalError(
                .invalid, "There is a log of another database at \(path + suffix)",
                hint: "SQLite would add it to the new file. Move it away, or name another file.")
        }
    }

    // MARK: - The finished file

    /// Checks that SQLite can read the whole copy.
    ///
    /// - Throws: ``JournalError/Code/corrupt`` when SQLite finds damage; errors of SQLite.
    package static func verify(_ path: String, unlock: (@Sendable (Database) throws -> Void)? = nil) throws {
        var configuration = Configuration()
        configuration.readonly = true
        if let unlock { configuration.prepareDatabase(unlock) }
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        defer { try? queue.close() }
        try queue.read { try Initialization.checkContent($0) }
    }

    /// Returns once the content of the file survives a power loss. Nobody may have it open by SQLite: closing
    /// another descriptor drops SQLite's locks.
    ///
    /// - Throws: ``JournalError/Code/readOnly``.
    package static func sync(_ path: String, _ files: any FileSystem = SystemFiles()) throws {
        do {
            try files.sync(path)
        } catch let error as FileError {
            throw DatabaseCopy.failedSync(path, error)
        }
    }

    /// Gives a complete file its name, which must be free. The name is on the disk when this returns.
    ///
    /// - Throws: ``JournalError``: `invalid` when a file has the name already; `readOnly` when the directory
    ///   cannot be written. The file keeps its former name then.
    package static func publish(_ partial: String, as path: String, _ files: any FileSystem = SystemFiles()) throws {
        do {
            try files.renameExclusively(partial, to: path)
        } catch let error as FileError {
            guard error.code != EEXIST else {
                throw JournalError(
                    .invalid, "A file exists already at \(path)", hint: "Name another one; nothing was changed.")
            }
            throw JournalError(
                .readOnly, "The file cannot get the name \(path): \(String(cString: strerror(error.code)))",
                hint: "The directory must exist and be writable.")
        }
        do {
            try files.syncNames(beside: path)
        } catch let error as FileError {
            throw DatabaseCopy.failedSync("The directory of \(path)", error)
        }
    }

    private static func failedSync(_ what: String, _ error: FileError) -> JournalError {
        JournalError(
            .readOnly, "\(what) cannot be synced: \(String(cString: strerror(error.code)))",
            hint: "Look at the disk that it is on.")
    }

    /// Removes a database file that nobody has open, with the files that SQLite makes beside it.
    package static func remove(_ path: String, _ files: any FileSystem = SystemFiles()) {
        files.remove(path)
        removeLogs(of: path, files)
    }

    /// Removes the files that SQLite makes beside a database file that nobody has open. What they hold is not
    /// applied to it.
    package static func removeLogs(of path: String, _ files: any FileSystem = SystemFiles()) {
        for suffix in ["-wal", "-shm", "-journal"] { files.remove(path + suffix) }
    }
}
