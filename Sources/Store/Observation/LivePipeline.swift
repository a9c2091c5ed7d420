import GRDB
import Journal
import Synchronization

/// The only path by which live objects and listeners learn of commits.
///
/// A commit of this database publishes itself (``WriteContext``) before the next write begins. Commits of
/// other processes and of the replication are read from the journal: on a signal of the file's watch, and at
/// the start of each write.
///
/// Invariants:
/// 1. Each journal position is delivered once: positions up to `clock.applied` have been delivered.
/// 2. A thread that holds `lock` holds no other lock, and waits at most for a reader connection.
/// 3. An object that has missed a commit is `isStale`, and one of the threads refreshes it: the reader that
///    registered it from an older snapshot, or the writer that committed.
///
/// A reader registers objects of a row while a writer commits a change of that row:
///
///     reader: ReadContext, LiveInstances.adopt          writer: WriteContext
///     -------------------------------------------------------------------------------------------------
///     notices = clock.announcedNotices
///     BEGIN: position = the snapshot's max(seq)
///                                                       BEGIN IMMEDIATE
///                                                       clock.epoch += 1; clock.writer = clock.epoch
///                                                       takeRecent(): earlier objects, dropped
///     start.epoch = clock.epoch                         write rows, look up their objects:
///     SELECT: new objects with asOf = position            overlay (owner, epoch) on each one found
///                                                       COMMIT
///     A  lock the table
///        recent += object, because clock.writer != 0
///        state.epoch = clock.epoch
///        position >= clock.announced: not stale
///        unlock the table
///                                                       lock the pipeline
///                                                       clock.announce(max(seq) of the commit)
///     B  lock the table                                 publish: overlay -> fields, status, asOf
///        as A, but position < clock.announced:
///        isStale = true, into `stale`
///        unlock the table
///                                                       takeRecent(): A's and B's objects:
///                                                         isStale = true when asOf < position
///                                                       clock.apply(position); send events
///                                                       unlock the pipeline
///                                                       clock.writer = 0
///     END of the snapshot
///     recheck(stale): offer(row, asOf: max(seq))        recheck(recent): offer(row, asOf: max(seq))
///
/// The reader adds the object to `recent` and reads `announced` in one section under the table's lock. The
/// writer announces, and then takes `recent` under the same lock. So at A the writer finds the object, and
/// at B the reader finds the position. When both do, ``ModelState/offer(_:asOf:)`` ignores the older of the
/// two rows. A reader that registers before the writer looks its object up needs neither: the writer finds
/// the object in the table.
///
/// Until the refresh, the next write must not save over the old values. ``WriteContext/current(_:)``
/// therefore reads the row again when the object is `isStale`, or when its `epoch` is not below the
/// transaction's own, which means that it was registered after the transaction had begun. `notices` and
/// `announcedNotices` do for visibility notices what `position` and `announced` do for the journal.
///
/// Commits of other processes follow the same order: ``advance(_:)`` announces, looks up the objects,
/// refreshes them and applies. It has no `recent` objects: objects that are registered after the lookup are
/// at B.
final class LivePipeline: Sendable {
    let clock = LiveClock()
    let tail = JournalTail()
    private let lock = Mutex<Void>(())

    /// Reads the journal after the last handled position, refreshes the objects in memory, and sends events.
    ///
    /// - Returns: True when there was something new.
    @discardableResult
    func advance(_ database: Database) throws -> Bool {
        let publication = Publication(database)
        let isNew = try lock.withLock { _ in
            try database.replica.read { db in
                let applied = clock.applied.load(ordering: .sequentiallyConsistent)
                let last = try JournalReader.lastSeq(db)
                let notices = clock.appliedNotices.load(ordering: .sequentiallyConsistent)
                let newestNotice = try VisibilityTail.lastID(db)
                guard last > applied || newestNotice > notices else { return false }
                // Announced before any object is looked up: an object that is registered later with an older
                // row then knows that it is stale.
                clock.announce(last)
                clock.announceNotices(newestNotice)
                let follower = Follower(database)
                if newestNotice > notices {
                    for object in try follower.followMoves(after: notices, in: db, tail: tail) {
                        try object.refresh(db, asOf: last, publication)
                    }
                }
                for object in try follower.follow(after: applied, upTo: last, in: db, tail: tail) {
                    try object.refresh(db, asOf: last, publication)
                }
                if newestNotice > notices {
                    for object in try follower.followNotices(after: notices, seq: .max, in: db, tail: tail) {
                        try object.refresh(db, asOf: last, publication)
                    }
                }
                clock.apply(last)
                clock.applyNotices(newestNotice)
                database.dependents.committed(follower.commits.summary)
                follower.deliver(after: applied)
                publication.eventsAreSent()
                clock.checkInvariants()
                return true
            }
        }
        publication.announce()
        return isNew
    }

    /// Runs `publication`, then `deliver`, when no read of the journal is under way, with the position
    /// delivered so far.
    func publish(upTo position: Int64, _ publication: (_ seen: Int64) -> Void, then deliver: (_ seen: Int64) -> Void) {
        lock.withLock { _ in
            let seen = clock.applied.load(ordering: .sequentiallyConsistent)
            clock.announce(position)
            publication(seen)
            clock.apply(position)
            deliver(seen)
            clock.checkInvariants()
        }
    }

    // MARK: - Tables without capture

    /// A cache: the last answer, and the schema version for which it holds.
    private let uncaptured = Mutex<(version: Int64, answer: Bool)?>(nil)

    /// True when the schema has tables, other than those of Tandem and SQLite, whose changes are not
    /// journalled.
    func hasUncapturedTables(_ db: GRDB.Database, tracked: Set<String>) throws -> Bool {
        let version = try PreparedStatement(db, "PRAGMA schema_version").run { statement -> Int64 in
            try statement.step() ? statement.row.read(0) : 0
        }
        if let known = uncaptured.withLock({ $0 }), known.version == version { return known.answer }
        let names = try PreparedStatement(db, "SELECT name FROM sqlite_schema WHERE type = 'table'").run { statement in
            var names: [String] = []
            while try statement.step() { names.append(try statement.row.read(0)) }
            return names
        }
        let answer = names.contains { name in
            !name.hasPrefix("_journal") && !name.hasPrefix("sqlite_")
                && !tracked.contains(SQLText.foldedName(name))
        }
        uncaptured.withLock { $0 = (version, answer) }
        return answer
    }
}
