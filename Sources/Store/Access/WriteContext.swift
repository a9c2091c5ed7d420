import GRDB
import GRDBSQLite
import Journal
import Synchronization

/// One transaction, from its BEGIN to its end.
///
/// What it changes is kept beside the live objects (``Overlay``), visible to its own thread only. The commit publishes it
/// while the writer is still held, so the next transaction starts from it; a rollback drops it.
///
/// Invariants:
/// 1. `position` is the journal position up to which overlays and logs follow what the transaction has written, except for
///    `unconfirmed` entries after it, which its own saves wrote, and whose overlays they set themselves.
/// 2. `undo` holds, for each overlay that was set, what stood there before.
///
/// `@unchecked Sendable`: it is confined to the thread that runs the transaction; GRDB wants its callbacks sendable, and
/// calls them on that thread, or on the writer's queue while that thread waits.
final class WriteContext: AccessContext, @unchecked Sendable {
    let owner = ThreadIdentity.current
    let epoch: Int
    let follower: Follower
    /// What the beginning has found of settled rows, up to the notice `id`.
    private var notices: (id: Int64, follower: Follower)?
    var position: Int64
    private var unconfirmed: Int64 = 0
    /// True when the journal may hold what no save has counted.
    var mustFollow = false
    var undo: [any UndoStep] = []
    var savepointDepth = 0
    /// The writes of rows that the thread is inside of, outermost first; nil for one whose savepoint has not begun.
    ///
    /// Invariant: those that have one come first.
    var steps: [Savepoint?] = []
    private var isFinished = false
    /// Objects to read again when the transaction is over.
    private(set) var recheck: [any Refreshable] = []
    /// What to tell the observers of objects, and hooks of models, when the commit is over.
    private var publication: Publication?
    var afterCommit: [HookCall] = []
    /// The shared tail, or one of its own after a schema change that may be rolled back.
    private var tail: JournalTail
    private var changedSchema = false
    /// The folded names of the captured tables, once they were asked for.
    private var tracked: Set<String>?
    /// That of the model whose row was written last: mostly it is the next one's too.
    private var lastLog: (registry: any AnyLiveInstances, log: any ChangeLog)?
    /// Grows when a log that someone has at hand may no longer be right.
    private(set) var logGeneration = 0

    /// Starts right after BEGIN IMMEDIATE: catches up with the commits of others that were not handled yet.
    override init(_ database: Database, _ db: GRDB.Database) {
        epoch = database.pipeline.clock.beginWrite()
        position = database.pipeline.clock.applied.load(ordering: .sequentiallyConsistent)
        follower = Follower(database)
        tail = database.pipeline.tail
        super.init(database, db)
    }

    /// - Parameter last: The position of the journal's newest entry.
    func catchUp(upTo last: Int64) throws {
        for registry in database.allInstances() { _ = registry.takeRecent() }
        if last > position {
            try follow(upTo: last)
            follower.closeGroup()
        }
        let known = database.pipeline.clock.appliedNotices.load(ordering: .sequentiallyConsistent)
        let last = try VisibilityTail.lastID(db)
        guard last > known else { return }
        // Events of their own, for a look at the journal may come between the commit and this transaction's end.
        let follower = Follower(database)
        for object in try follower.followNotices(after: known, seq: .max, in: db, tail: tail) {
            try object.refresh(in: self)
        }
        notices = (last, follower)
    }

    // MARK: - Overlays

    /// The values of `object` from which this transaction continues.
    func current<M: Model>(_ object: M) throws -> (fields: M.Fields, status: RowStatus) {
        guard object.database === database else {
            throw StoreError(
                .otherDatabase, "the object belongs to another database", hint: "Save it through its own.",
                table: M.schema.table)
        }
        let epoch = epoch
        let known = object._withState { state -> (fields: M.Fields, status: RowStatus)? in
            if let overlay = state.overlays.first, overlay.epoch == epoch { return (overlay.fields, overlay.status) }
            // Registered while this transaction runs, from a snapshot that may be older than its start.
            if state.isStale || state.epoch >= epoch || state.status.isProvisional { return nil }
            return (state.fields, state.status)
        }
        if let known { return known }
        database.counters.countQuery()
        try RefreshableObject<M>(object: object).refresh(in: self)
        return object._withState { state in
            state.overlays.first.map { ($0.fields, $0.status) } ?? (state.fields, state.status)
        }
    }

    /// True when this transaction sees these values in `object` already.
    func shows<M: Model>(_ object: M, _ row: M.Fields) -> Bool {
        object._withState { state in
            let visible = state.visible
            return visible.status == .present && !state.isStale && state.refreshError == nil
                && row._changes(from: visible.fields).isEmpty
        }
    }

    /// Lets this transaction see `fields` in `object`; nil leaves the values as they are.
    func show<M: Model>(_ object: M, _ fields: M.Fields?, status: RowStatus) {
        let (owner, epoch) = (owner, epoch)
        let previous = object._withState { state -> Overlay<M.Fields>? in
            let previous = state.overlays.first.flatMap { $0.epoch == epoch ? $0 : nil }
            let base = previous?.fields ?? state.fields
            var values = fields ?? base
            if fields != nil { values._takeTransient(from: base) }
            // What the transaction has saved stays saved, whatever it does to the row afterwards.
            let isSaved = previous?.isSaved ?? false
            state.overlays = [
                Overlay(owner: owner, epoch: epoch, fields: values, status: status, isSaved: isSaved)
            ]
            return previous
        }
        note(object, previous)
    }

    /// Like ``show(_:_:status:)``, with the transient properties of `fields`.
    func publishLater<M: Model>(_ object: M, _ fields: M.Fields) {
        // The values were written, or need not be.
        put(Overlay(owner: owner, epoch: epoch, fields: fields, status: .present, isSaved: true), on: object)
    }

    /// Lets this transaction see an object whose row it has deleted, or found deleted, as one that was made in memory. A rollback
    /// takes it back.
    ///
    /// - Returns: False, and nothing is done, when the transaction does not see the object otherwise than all threads do, or does not
    ///   see it deleted.
    func remake<M: Model>(_ object: M, _ fields: M.Fields) -> Bool {
        let epoch = epoch
        let isDeletedHere = object._withState { state in
            state.overlays.first.map { $0.epoch == epoch && $0.status == .deleted } ?? false
        }
        guard isDeletedHere else { return false }
        put(Overlay(owner: owner, epoch: epoch, fields: fields, status: .new), on: object)
        return true
    }

    private func put<M: Model>(_ overlay: Overlay<M.Fields>, on object: M) {
        let previous = object._withState { state -> Overlay<M.Fields>? in
            let previous = state.overlays.first.flatMap { $0.epoch == overlay.epoch ? $0 : nil }
            state.overlays = [overlay]
            return previous
        }
        note(object, previous)
    }

    private func note<M: Model>(_ object: M, _ previous: Overlay<M.Fields>?) {
        if previous == nil || savepointDepth > 0 { undo.append(OverlayUndo(object: object, previous: previous)) }
    }

    override func objects<M: Model>(for rows: [M.Fields], of type: M.Type) throws -> [M] {
        let instances = database.instances(of: M.self)
        if isUntouched(instances) {
            // Nobody else can write now, and this transaction has not: these are the committed rows.
            let start = RegistrationContext(database, .present, asOf: position, epoch: epoch - 1)
            return instances.adopt(rows.map { M._make($0, start) }, start, notices: nil, byWriter: true).objects
        }
        return rows.map { row in
            let object: M = instances.provisional(for: row, in: database)
            let isSeen = object._withState { state in
                let visible = state.visible
                return visible.status == .present && row._changes(from: visible.fields).isEmpty
            }
            if !isSeen { show(object, row, status: .present) }
            return object
        }
    }

    /// True when this transaction has surely written nothing to the table.
    private func isUntouched(_ registry: any AnyLiveInstances) -> Bool {
        let summary = follower.commits.summary
        return !mustFollow && !summary.isUnknown && !changedSchema && summary.tables[registry.foldedTable] == nil
    }

    // MARK: - Following the journal

    /// Notes that the transaction itself wrote one row.
    ///
    /// - Parameter rowsTouched: The growth of SQLite's count of all changes. One captured write changes two rows, its own and
    ///   the journal's; anything else means that triggers or foreign-key actions did more, and the journal must be read.
    func wrote<M: Model>(
        _ type: M.Type, _ key: M.ID, _ operation: Journal.Operation, columns: [String], rowsTouched: Int
    ) throws {
        let log = try log(of: database.instances(of: M.self))
        log.note(key, operation, columns: columns, group: follower.group)
        follower.commits.note(table: M.schema.table, operation, columns: columns)
        count(log, rowsTouched: rowsTouched)
    }

    /// Counts one row that the transaction itself wrote, and that `log` knows of; see ``wrote(_:_:_:columns:rowsTouched:)``.
    func count<M: Model>(_ log: ModelLog<M>, rowsTouched: Int) {
        if log.isTracked {
            unconfirmed += 1
            // Another model of the same table has objects and listeners of its own.
            if rowsTouched != 2 || database.hasSiblings(log.registry) { mustFollow = true }
        } else {
            if log.isRecording { log.confirm() }
            if rowsTouched != 1 { mustFollow = true }
        }
    }

    func log<M: Model>(of instances: LiveInstances<M>) throws -> ModelLog<M> {
        if let (registry, log) = lastLog, registry === instances { return unsafeDowncast(log, to: ModelLog<M>.self) }
        // A registry makes logs of its own model only.
        let log = unsafeDowncast(follower.log(of: instances), to: ModelLog<M>.self)
        log.isTracked = try trackedTables().contains(instances.foldedTable)
        lastLog = (instances, log)
        return log
    }

    /// Makes sure that the journal holds what the saves since `position` wrote and nothing else; reads it otherwise.
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
    }

    /// Follows SQL that may have changed anything.
    func absorb() throws {
        try follow(upTo: JournalReader.lastSeq(db))
        let tracked = try trackedTables()
        // No journal tells which tables without capture changed, and which of their rows.
        if try database.pipeline.hasUncapturedTables(db, tracked: tracked) { follower.commits.noteUnknown() }
        for registry in database.allInstances() where !tracked.contains(registry.foldedTable) {
            for object in registry.all() { try object.refresh(in: self) }
        }
    }

    func trackedTables() throws -> Set<String> {
        if let tracked { return tracked }
        let names = try tail.trackedTables(db)
        tracked = names
        return names
    }

    private func follow(upTo last: Int64) throws {
        for object in try follower.follow(after: position, upTo: last, in: db, tail: tail) {
            try object.refresh(in: self)
        }
        for log in follower.allLogs { log.confirm() }
        position = last
    }

    /// Lets capture follow a change of the schema, in this same transaction.
    func schemaChanged() throws {
        db.clearSchemaCache()
        do {
            // Before capture: its triggers are to be the youngest.
            try TextIndexStore(db).repairTriggers()
            try Capture.refresh(db)
        } catch {
            throw StoreError.wrapping(error, operation: "capturing a changed schema")
        }
        changedSchema = true
        forgetSchema()
    }

    /// Shapes that are not committed yet must not reach other threads, and those that were undone must not stay.
    func forgetSchema() {
        guard changedSchema else { return }
        db.clearSchemaCache()
        tail = JournalTail()
        tracked = nil
        lastLog = nil
        logGeneration += 1
    }

    /// Makes nothing written since `position`, which the file has just been rolled back to.
    func rewind(to position: Int64) {
        self.position = position
        unconfirmed = 0
        mustFollow = false
        forgetSchema()
    }

    /// - Throws: ``StoreError/Code/transactionAborted`` when SQLite has ended the transaction by itself, as it does when the disk
    ///   is full, and for `RAISE(ROLLBACK)`.
    func checkOpen() throws {
        guard db.isInsideTransaction else {
            throw StoreError(
                .transactionAborted, "SQLite has rolled the transaction back",
                hint: "Nothing of it was kept; run it again as a whole.")
        }
    }

    func drop(_ step: any UndoStep) {
        if let object = step.undo(epoch) { recheck.append(object) }
    }

    // MARK: - The end

    /// Publishes the transaction. Runs right after COMMIT, while the writer is still held.
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
                // Found by other threads in older snapshots while the transaction ran. Marked before the next write begins,
                // which may want to save one of them.
                let recent = database.allInstances().flatMap { $0.takeRecent() }
                for object in recent { object.markStale(before: position) }
                recheck += recent
                // Before the events: whoever gets one must not find an older result in a cache.
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
    }

    private func deliverNotices() {
        let clock = database.pipeline.clock
        guard let notices, clock.appliedNotices.load(ordering: .sequentiallyConsistent) < notices.id else { return }
        database.dependents.committed(notices.follower.commits.summary)
        notices.follower.deliver(after: 0)
        clock.applyNotices(notices.id)
    }

    /// Runs what waited for the commit: code of the caller, when the writer is free again.
    func announce() {
        publication?.announce()
        publication = nil
        let due = afterCommit
        afterCommit = []
        for hook in due { hook.run() }
    }

    /// Drops what the transaction showed. Nothing of it was ever visible to others.
    func rolledBack() {
        if isFinished { return }
        isFinished = true
        while let step = undo.popLast() { drop(step) }
        database.pipeline.clock.endWrite(epoch)
        // What others had committed before was looked at in vain, and signals of it were passed over.
        database.lookAgain()
    }
}
