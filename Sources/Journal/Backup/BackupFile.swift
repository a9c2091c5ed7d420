import Foundation

/// Writes a backup of an open replica: a checked copy under a name of its own.
package enum BackupFile {
    /// Copies the database to `path`. The name appears when the copy is complete, was read through, and is on
    /// the disk; after an error it does not appear, and an existing file stays as it was.
    ///
    /// - Parameters:
    ///   - isReplacing: True to replace an existing file. No program may have it open.
    ///   - progress: Called after each step. What it throws ends the backup.
    /// - Throws: What `progress` throws; ``JournalError``: `invalid` when the file exists, `corrupt` when the
    ///   database is damaged, `readOnly` when the directory cannot be written; errors of SQLite.
    package static func write(
        _ replica: Replica, to path: String, replacing isReplacing: Bool = false,
        progress: (DatabaseCopy.Progress) throws -> Void = { _ in }
    ) throws -> DatabaseCopy.Content {
        let exists = FileManager.default.fileExists(atPath: path)
        guard isReplacing || !exists else {
            throw JournalError(
                .invalid, "A file exists already at \(path)", hint: "Name another one, or replace it with --replace.")
        }
        guard !exists || !SystemFiles().isSameFile(path, replica.path) else {
            throw JournalError(.invalid, "\(path) is the database itself", hint: "Name another file.")
        }
        let partial = path + "-partial"
        DatabaseCopy.remove(partial)
        do {
            let content = try DatabaseCopy(to: partial).run(of: replica, progress: progress)
            try DatabaseCopy.verify(partial, unlock: replica.options.unlock)
            if exists { DatabaseCopy.remove(path) }
            try DatabaseCopy.publish(partial, as: path)
            return content
        } catch {
            DatabaseCopy.remove(partial)
            throw error
        }
    }
}

extension SystemFiles {
    /// True when both paths lead to one file.
    fileprivate func isSameFile(_ a: String, _ b: String) -> Bool {
        guard let a = try? status(of: a), let b = try? status(of: b) else { return false }
        return a.device == b.device && a.inode == b.inode
    }
}
