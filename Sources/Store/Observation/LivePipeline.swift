import GRDB
import Journal
import Synchronization

/// The one way by which live objects and listeners learn of commits.
///
/// A commit of this database publishes itself (``WriteContext``) before the next write begins. Commits of other processes, and
/// of the replication, are read from the journal: on a signal of the file's watch, and at the start of each write.
///
/// Invariants:
/// 1. Each journal position is delivered once: positions up to `clock.applied` have been.
/// 2. Whoever holds `lock` holds no other lock, and waits for a reader connection at most.
final class LivePipeline: Sendable {
    let clock = LiveClock()
    let tail = JournalTail()
    private let lock = Mutex<Void>(())

    /// Reads what the journal holds beyond the last position, refreshes the objects that are held, and sends events.
    ///
    /// - Returns: True when there was something new.
    @discardableResult
    func advance(_ database: Database) throws -> Bool {
        try lock.withLock { _ in
            try database.replica.read { db in
                let applied = clock.applied.load(ordering: .sequentiallyConsistent)
                let last = try JournalTail.lastSeq(db)
                guard last > applied else { return false }
                // Before anything is looked up: what is registered from now on with an older row knows that it is stale.
                clock.announce(last)
                let follower = Follower(database)
                try follower.scan(after: applied, in: db, tail: tail)
                for object in follower.takeAffected() { try object.refresh(db, asOf: last) }
                clock.apply(last)
                follower.deliver(after: applied)
                return true
            }
        }
    }

    /// Runs `publication` when no look at the journal is under way, with the position delivered so far.
    func publish(upTo position: Int64, _ publication: (_ seen: Int64) -> Void, then deliver: (_ seen: Int64) -> Void) {
        lock.withLock { _ in
            let seen = clock.applied.load(ordering: .sequentiallyConsistent)
            clock.announce(position)
            publication(seen)
            clock.apply(position)
            deliver(seen)
        }
    }
}
