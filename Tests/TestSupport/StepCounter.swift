import GRDB
import GRDBSQLite
import Synchronization

/// Counts the steps of SQLite's virtual machine on one connection: a measure of work that does not depend on
/// how busy the machine is.
package final class StepCounter: Sendable {
    /// The steps between two calls of SQLite's progress handler.
    private static let resolution: Int32 = 10
    private let calls = Atomic<Int>(0)

    package init() {}

    /// The steps so far.
    package var steps: Int { calls.load(ordering: .relaxed) * Int(StepCounter.resolution) }

    /// Counts the steps of `db` from now on. The counter must outlive the connection, or ``detach(_:)`` must
    /// be called before.
    package func attach(_ db: Database) {
        sqlite3_progress_handler(
            db.sqliteConnection, StepCounter.resolution,
            { context in
                if let context {
                    _ = Unmanaged<StepCounter>.fromOpaque(context).takeUnretainedValue()
                        .calls.add(1, ordering: .relaxed)
                }
                return 0
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    /// Counts no more steps of `db`.
    package func detach(_ db: Database) { sqlite3_progress_handler(db.sqliteConnection, 0, nil, nil) }
}
