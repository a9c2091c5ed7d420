import GRDB
import GRDBSQLite
import Journal
import Synchronization

/// One transaction, from its BEGIN to its end.
///
/// Its changes are kept beside the live objects (``Overlay``), visible only to its own thread. The commit
/// publishes them while the transaction still holds the writer, so the next transaction starts from them; a
/// rollback drops them.
///
/// Invariants while the transaction runs, checked in debug builds (``checkInvariants(checkingUndo:)``):
/// 1. `owner` is the thread that runs the transaction. An overlay with this `owner` and `epoch` is its own.
/// 2. `epoch` is the number of the newest write, and ``LiveClock/writer``: no other write begins before the
///    end.
/// 3. Overlays and logs follow what the transaction has written up to journal position `position`. Beyond
///    it there are only `unconfirmed` entries, which its own saves wrote, and whose overlays they set
///    themselves; or `mustFollow` is true, and the journal must be read. ``confirm()`` reads it or moves
///    `position`; then `unconfirmed` is 0 and `mustFollow` is false.
/// 4. `undo` holds, for each overlay that was set, the overlay that it replaced, in the order of setting. The
///    first step of an object removes its overlay.
/// 5. In `lazySavepoints`, savepoints that have begun enclose those that have not.
/// 6. `savepointDepth` is the number of savepoints of SQLite that are open, lazy or not.
/// 7. What a savepoint restores grows inwards: `position`, and the counts of `undo` and `afterCommit`.
/// 8. `tail` is the database's own one until `changedSchema`. Then it is private to the transaction, because
///    the new shapes may be rolled back.
/// 9. `tracked`, `lastLog`, and logs that callers keep together with `logGeneration`, belong to the present
///    schema. `lastLog` is one of the follower's logs.
/// 10. `notices` is nil, or holds the visibility notices that were not handled before the transaction began,
///     up to the notice `id`.
///
/// Invariants of the end:
/// 11. `publication` is nil until the commit. ``announce()`` consumes it and `afterCommit`, once.
/// 12. When `isFinished`, `undo` is empty and another write may begin. `recheck` then holds the objects that
///     must be read again, because their committed row is unknown or outdated.
///
/// `@unchecked Sendable`: it is confined to the thread that runs the transaction. GRDB requires Sendable
/// callbacks, and calls them on that thread, or on the writer's queue while that thread waits.
final class WriteContext: AccessContext, @unchecked Sendable {
    let owner = ThreadIdentity.current
    let epoch: Int
    let follower: Follower
    /// The follower that recorded the visibility notices at the beginning of the transaction, up to the
    /// notice `id`.
    private(set) var notices: (id: Int64, follower: Follower)?
    var position: Int64
    private(set) var unconfirmed: Int64 = 0
    /// True when the journal may hold entries that no save has counted.
    var mustFollow = false
    var undo: [any UndoStep] = []
    var savepointDepth = 0
    /// One element for each enclosing write of one row, outermost first; nil while its savepoint has not
    /// begun.
    var lazySavepoints: [Savepoint?] = []
    private(set) var isFinished = false
    /// Objects to read again when the transaction is over.
    private(set) var recheck: [any Refreshable] = []
    /// The notifications for observers of objects, which are sent after the commit.
    private(set) var publication: Publication?
    var afterCommit: [HookCall] = []
    /// The shared tail, or a private one after a schema change that may be rolled back.
    private(set) var tail: JournalTail
    var changedSchema = false
    /// Inside of ``migrating(_:)``: whether capture has to be updated at its end; nil outside.
    var isCaptureDue: Bool?
    /// The folded names of the captured tables; nil until they are needed.
    private var tracked: Set<String>?
    /// A cache of the log of the model that was written last: mostly the next row belongs to the same model.
    private(set) var lastLog: (registry: any AnyLiveInstances, log: any ChangeLog)?
    /// Grows when a log that a caller has kept may be outdated.
    private(set) var logGeneration = 0

    /// Creates the context right after BEGIN IMMEDIATE. ``catchUp(upTo:)`` then applies the commits of others
    /// that were not handled yet.
    override init(_ database: Database, _ db: GRDB.Database) {
        epoch = database.pipeline.clock.beginWrite()
        position = database.pipeline.clock.applied.load(ordering: .sequentiallyConsistent)
        follower = Follower(database)
        tail = database.pipeline.tail
        super.init(database, db)
    }

    /// Applies the commits of others that were not handled yet.
    ///
    /// - Parameter last: The position of the journal's newest entry.
    func catchUp(upTo last: Int64) throws {
        for registry in database.allInstances() { _ = registry.takeRecent() }
        let known = database.pipeline.clock.appliedNotices.load(ordering: .sequentiallyConsistent)
        let lastNotice = try VisibilityTail.lastID(db)
        if lastNotice > known {
            for object in try follower.followMoves(after: known, in: db, tail: tail) { try object.refresh(in: self) }
        }
        if last > position {
            try follow(upTo: last)
            follower.closeGroup()
        }
        checkInvariants()
        guard lastNotice > known else { return }
        // Notices have a follower of their own, because a read of the journal may come between the commit and
        // this transaction's end.
        let follower = Follower(database)
        for object in try follower.followNotices(after: known, seq: .max, in: db, tail: tail) {
            try object.refresh(in: self)
        }
        notices = (lastNotice, follower)
    }

    override func objects<M: Model>(for rows: [M.Fields], of type: M.Type) throws -> [M] {
        let instances = database.instances(of: M.self)
        if isUntouched(instances) {
            // No other writer can be active, and this transaction has not written to the table, so these rows
            // are committed.
            let start = RegistrationContext(database, .present, asOf: position, epoch: epoch - 1)
            return instances.adopt(rows.map { M._make($0, start) }, start, notices: nil, byWriter: true).objects
        }
        return rows.map { row in
            let object = instances.provisional(for: row, in: database).object
            let isSeen = object._withState { state in
                let visible = state.visible
                return visible.status == .present && row._changes(from: visible.fields).isEmpty
            }
            if !isSeen { show(object, row, status: .present) }
            return object
        }
    }

    /// True when it is certain that this transaction has not written to the table.
    private func isUntouched(_ registry: any AnyLiveInstances) -> Bool {
        let summary = follower.commits.summary
        return !mustFollow && !summary.isUnknown && !changedSchema && summary.tables[registry.foldedTable] == nil
    }

    // MARK: - Following the journal

    /// Records one row that the transaction itself wrote.
    ///
    /// - Parameter rowsTouched: The increase of SQLite's count of all changes. One captured write changes two
    ///   rows, its own and the journal's. Any other number means that triggers or foreign-key actions changed
    ///   more rows, so the journal must be read.
    func wrote<M: Model>(
        _ type: M.Type, _ key: M.ID, _ operation: Journal.Operation, columns: [String], rowsTouched: Int
    ) throws {
        let log = try log(of: database.instances(of: M.self))
        log.note(key, operation, columns: columns, group: follower.group)
        follower.commits.note(table: M.schema.table, operation, columns: columns)
        count(log, rowsTouched: rowsTouched)
    }

    /// Counts one row that the transaction itself wrote and `log` has recorded; see
    /// ``wrote(_:_:_:columns:rowsTouched:)``.
    func count<M: Model>(_ log: ModelLog<M>, rowsTouched: Int) {
        if log.isTracked {
            unconfirmed += 1
            // Another model of the same table has its own objects and listeners.
            if rowsTouched != 2 || database.hasSiblings(log.registry) { mustFollow = true }
        } else {
            if log.isRecording { log.confirm() }
            if rowsTouched != 1 { mustFollow = true }
        }
    }

    func log<M: Model>(of instances: LiveInstances<M>) throws -> ModelLog<M> {
        if let (registry, log) = lastLog, registry === instances { return unsafeDowncast(log, to: ModelLog<M>.self) }
        // A registry makes only logs of its own model, so the cast is safe.
        let log = unsafeDowncast(follower.log(of: instances), to: ModelLog<M>.self)
        log.isTracked = try trackedTables().contains(instances.foldedTable)
        lastLog = (instances, log)
        return log
    }

    /// Verifies that the journal holds exactly the entries of the saves since `position`; otherwise reads the
    /// journal.
    func confirm() throws {
        guard unconfirmed > 0 || mustFollow else { return }
        let last = try JournalReader.lastSeq(db)
        if !mustFollow, last == position + unconfirmed {
            position = last
            for log in follower.allLogs { log.confirm() }
        } else {
            for log in follower.allLogs where log.isTracked { log.dropUnconfirmed() }
            try follow(upTo: last)
        }
        unconfirmed = 0
        mustFollow = false
        checkInvariants()
    }

    /// Updates live objects after SQL that may have changed any row.
    func absorb() throws {
        try follow(upTo: JournalReader.lastSeq(db))
        let tracked = try trackedTables()
        // The journal does not show which tables without capture changed, nor which of their rows.
        if try database.pipeline.hasUncapturedTables(db, tracked: tracked) { follower.commits.noteUnknown() }
        for registry in database.allInstances() where !tracked.contains(registry.foldedTable) {
            try StatementOwner.store.runs { for object in registry.all() { try object.refresh(in: self) } }
        }
    }

    func trackedTables() throws -> Set<String> {
        if let tracked { return tracked }
        let names = try tail.trackedTables(db)
        tracked = names
        return names
    }

    private func follow(upTo last: Int64) throws {
        try StatementOwner.store.runs {
            for object in try follower.follow(after: position, upTo: last, in: db, tail: tail) {
                try object.refresh(in: self)
            }
        }
        for log in follower.allLogs { log.confirm() }
        position = last
    }

    /// Clears what depends on the schema. Shapes that are not committed must not reach other threads, and
    /// shapes that were rolled back must not stay.
    func forgetSchema() {
        guard changedSchema else { return }
        db.clearSchemaCache()
        tail = JournalTail()
        tracked = nil
        lastLog = nil
        logGeneration += 1
    }

    /// Resets the counts after the file was rolled back to `position`.
    func rewind(to position: Int64) {
        self.position = position
        unconfirmed = 0
        mustFollow = false
        forgetSchema()
    }

    /// Checks that the transaction has not ended.
    ///
    /// - Throws: ``StoreError/Code/transactionAborted`` when SQLite has ended the transaction, for example on
    ///   a full disk or by `RAISE(ROLLBACK)`.
    func checkOpen() throws {
        guard db.isInsideTransaction else {
            throw StoreError(
                .transactionAborted, "SQLite has rolled the transaction back",
                hint: "None of its changes were kept; run the whole transaction again.")
        }
    }

    func drop(_ step: any UndoStep) {
        if let object = step.undo(epoch) { recheck.append(object) }
    }

    // MARK: - The end

    /// Publishes the transaction. Runs right after COMMIT, while the transaction still holds the writer.
    func committed() {
        if isFinished { return }
        isFinished = true
        let publication = Publication(database)
        self.publication = publication
        database.pipeline.publish(
            upTo: position,
            { _ in
                if let notices { database.pipeline.clock.announceNotices(notices.id) }
                for step in undo { step.publish(epoch, asOf: position, publication) }
                // Other threads may have registered these objects from older snapshots during the
                // transaction. They are marked before the next write begins, which may save one of them.
                let recent = database.allInstances().flatMap { $0.takeRecent() }
                for object in recent { object.markStale(before: position) }
                recheck += recent
                // Before the events: a listener that receives one must not find an older result in a cache.
                database.dependents.committed(follower.commits.summary)
            },
            then: { seen in
                deliverNotices()
                follower.deliver(after: seen, upTo: position)
                publication.eventsAreSent()
            })
        undo = []
        if changedSchema { database.pipeline.tail.invalidate() }
        database.pipeline.clock.endWrite(epoch)
        checkInvariants()
    }

    private func deliverNotices() {
        let clock = database.pipeline.clock
        guard let notices, clock.appliedNotices.load(ordering: .sequentiallyConsistent) < notices.id else { return }
        database.dependents.committed(notices.follower.commits.summary)
        notices.follower.deliver(after: 0)
        clock.applyNotices(notices.id)
    }

    /// Runs what waits for the commit: code of the caller, when the writer is free again.
    func announce() {
        publication?.announce()
        publication = nil
        let due = afterCommit
        afterCommit = []
        for hook in due { hook.run() }
    }

    /// Drops the overlays, which were never visible to other threads.
    func rolledBack() {
        if isFinished { return }
        isFinished = true
        while let step = undo.popLast() { drop(step) }
        database.pipeline.clock.endWrite(epoch)
        checkInvariants()
        // The rollback also drops what this transaction had learned of the commits of others, and the
        // follower ignored signals during the transaction. So check the file again.
        database.lookAgain()
    }
}
