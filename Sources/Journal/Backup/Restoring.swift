import Foundation
import GRDB

/// Makes a new file from a backup: a replica, or plain tables as they were at a time.
package struct Restoring {
    /// What was made.
    package enum Outcome: Sendable {
        /// A replica with a new identity.
        case replica(NewIdentity.Outcome)
        /// Tables without a journal, as they were at `stamp`. `changed` rows differ from the source;
        /// `refused` rows do not fit the constraints and are left out.
        case tables(stamp: Stamp, changed: Int64, refused: Int64)
    }

    /// The backup, or the file of any replica; it is only read.
    package let source: String
    /// The new file, which must not exist.
    package let path: String
    /// The time that the tables are to show; nil for all that the source has, as a replica.
    package let at: Stamp?

    package init(source: String, path: String, at: Stamp? = nil) {
        self.source = source
        self.path = path
        self.at = at
    }

    /// Makes the file.
    ///
    /// - Parameter time: The current time, in seconds since 1970.
    /// - Throws: What `progress` throws; ``JournalError``: `invalid` when `path` exists and for a time before
    ///   the history begins; `notFound`, `notADatabase`, `notAReplica` and `corrupt` for the source;
    ///   `readOnly`; errors of SQLite. Nothing has the name `path` then.
    package func run(time: Double, progress: (DatabaseCopy.Progress) throws -> Void = { _ in }) throws -> Outcome {
        try DatabaseCopy.checkFree(path)
        let partial = path + "-partial"
        DatabaseCopy.remove(partial)
        do {
            let replica = try Replica.reading(source)
            defer { try? replica.connections.close() }
            guard replica.hasJournal else { throw JournalError.notAReplica }
            _ = try DatabaseCopy(to: partial).run(of: replica, progress: progress)
            try DatabaseCopy.verify(partial)
            if let at { return try travel(to: at, partial) }
            guard let identity = try ReplicaFromCopy.publish(partial, as: path, reason: .restored, time: time) else {
                throw JournalError.notAReplica
            }
            return .replica(identity)
        } catch {
            DatabaseCopy.remove(partial)
            throw JournalError(error, operation: "Restoring \(source)")
        }
    }

    private func travel(to stamp: Stamp, _ partial: String) throws -> Outcome {
        var configuration = Replica.configuration(Replica.Options())
        CopyConnection.prepare(&configuration)
        let queue = try DatabaseQueue(path: partial, configuration: configuration)
        defer { try? queue.close() }
        let outcome = try queue.writeWithoutTransaction { db in
            try Replica.transaction(db) { db, _ in
                try JournalUpgrade.run(db)
                return try TimeTravel(time: stamp).run(db)
            }
        }
        try queue.close()
        _ = try Replica.remove(from: partial, discarding: true)
        try DatabaseCopy.sync(partial)
        try DatabaseCopy.publish(partial, as: path)
        return .tables(stamp: stamp, changed: outcome.changed, refused: outcome.refused)
    }
}
