import GRDB
import GRDBSQLite
import Journal
import Synchronization

/// The type-erased interface of ``LiveInstances``, for the database.
protocol AnyLiveInstances: AnyObject, Sendable {
    /// The table's name as SQLite compares names.
    var foldedTable: String { get }
    var isIdle: Bool { get }
    var hasListeners: Bool { get }
    /// Makes an empty log for a transaction or a read of the journal.
    func makeLog() -> any ChangeLog
    /// Returns the objects that were registered while a write was running, and empties the list.
    func takeRecent() -> [any Refreshable]
    /// Every object that is still referenced.
    func all() -> [any Refreshable]
    func finish()
    /// Releases the objects that only the cache policy keeps.
    func evict()
    var heldCount: Int { get }
    /// An upper bound of ``heldCount``.
    var objectLimit: Int { get }
    func dropImages()
    var modelName: String { get }
}

/// A live object that a query can refresh.
protocol Refreshable: Sendable {
    /// Reads the row in the snapshot of `db`, whose last journal position is `position`.
    func refresh(_ db: GRDB.Database, asOf position: Int64, _ publication: Publication) throws

    /// Marks the object as stale when it is older than `position`: changes up to there were handled without
    /// it.
    func markStale(before position: Int64)

    /// Reads the row in a transaction, and shows it to that transaction.
    func refresh(in context: WriteContext) throws
}

/// The live objects of one model in one database, one for each key, as weak references; and the listeners to
/// their changes.
///
/// Invariants, checked in debug builds when a write begins and ends:
/// 1. `isUsed` is true before the first object is registered, so ``mayHold`` never overlooks one.
/// 2. `listenerCount` is the number of listeners.
/// 3. The epochs of an object and of its overlay are not above ``LiveClock/epoch``: those writes have begun.
///    The invariants of ``ModelState`` hold.
///
/// Lock order: this registry's lock, then an object's lock. Neither is held during SQLite calls.
final class LiveInstances<M: Model>: AnyLiveInstances {
    private struct Listeners {
        var listeners: [(mailbox: Mailbox<ModelChange<M>>, filter: ChangeFilter<M>)] = []
        /// The values of changed rows before the commit whose events are sent next.
        var images: [ExactKey: M.Fields] = [:]
    }

    private let table = Mutex(ObjectTable(M.cachePolicy))
    private let state = Mutex(Listeners())
    /// Read for each changed row; changed under the lock.
    private let listenerCount = Atomic<Int>(0)
    let foldedTable = SQLText.foldedName(M.schema.table)
    /// Set before the first object is registered.
    private let isUsed = Atomic<Bool>(false)
    private let clock: LiveClock
    /// The listeners to all models.
    private let general: DatabaseListeners
    var modelName: String { "\(M.self)" }

    init(clock: LiveClock, general: DatabaseListeners) {
        self.clock = clock
        self.general = general
    }

    /// The object for `key`, when it is in memory.
    func cached(_ key: M.ID) -> M? {
        let exact = M.Fields._exact(key)
        guard let object = table.withLock({ $0[exact] }) else { return nil }
        return unsafeDowncast(object, to: M.self)
    }

    var isIdle: Bool { objectLimit == 0 && !hasListeners }
    var objectLimit: Int { table.withLock { $0.count } }
    /// False when no object was ever registered.
    var mayHold: Bool { isUsed.load(ordering: .sequentiallyConsistent) }
    var hasListeners: Bool { listenerCount.load(ordering: .acquiring) > 0 || !general.isEmpty }

    /// Returns the objects for committed rows that were just read into `fresh` objects.
    ///
    /// - Parameters:
    ///   - start: The context in which the fresh objects were made. Its epoch is ``LiveClock/epoch`` before
    ///     that.
    ///   - notices: ``LiveClock/announcedNotices`` before the snapshot was taken; nil for a writer, whose
    ///     snapshot is the newest.
    ///   - byWriter: True for a transaction that reads committed rows. The epoch in `start` is then the
    ///     number of the write before it.
    ///   - keepsDeleted: True for a read in which objects show its snapshot: a row that was deleted since is still
    ///     one of its rows.
    /// - Returns: The objects in the order of the rows, without those whose rows are known to be deleted
    ///   since; and those for which a newer position was handled already, which must be refreshed.
    func adopt(
        _ fresh: [M], _ start: RegistrationContext, notices: Int64?, byWriter: Bool = false, keepsDeleted: Bool = false
    )
        -> (objects: [M], stale: [M])
    {
        let position = start.position
        // Objects whose last reference ends here must not be released under the lock.
        var released: [any AnyObject & Sendable] = []
        defer { withExtendedLifetime(released) {} }
        var objects = fresh
        var stale: [M] = []
        var missing: [Int] = []
        isUsed.store(true, ordering: .sequentiallyConsistent)
        table.withLock { table in
            table.reserve(fresh.count)
            let isRecent = !byWriter && clock.writer.load(ordering: .sequentiallyConsistent) != 0
            let now = byWriter ? start.epoch : clock.epoch.load(ordering: .sequentiallyConsistent)
            // Rows whose visibility changed after the snapshot have the same journal position but may have
            // other values.
            let isBehind = notices.map { $0 < clock.announcedNotices.load(ordering: .sequentiallyConsistent) } ?? false
            for index in fresh.indices {
                let object = fresh[index]
                let exact = object._exactKey
                if let known = table[exact].map({ unsafeDowncast($0, to: M.self) }) {
                    if known._offer(object, asOf: position) || keepsDeleted {
                        objects[index] = known
                    } else {
                        missing.append(index)
                    }
                    if isBehind {
                        known._withState { $0.isStale = true }
                        stale.append(known)
                    }
                    released.append(known)
                    continue
                }
                if let oldest = table.register(object, exact, isRecent: isRecent) { released.append(oldest) }
                if now != start.epoch { object._withState { $0.epoch = now } }
                // Read under the lock, so that every later handling of a newer position finds the object in
                // the table.
                if isBehind || position < clock.announced.load(ordering: .sequentiallyConsistent) {
                    object._withState { $0.isStale = true }
                    stale.append(object)
                }
            }
        }
        for index in missing.reversed() { objects.remove(at: index) }
        return (objects, stale)
    }

    /// Makes room for `count` more objects.
    func reserve(_ count: Int) { table.withLock { $0.reserve(count) } }

    /// Returns the object for a row that a transaction made or read and that may not be committed. The
    /// transaction knows the object, so it need not be marked as stale at the end.
    ///
    /// - Returns: The object, and false when it was in memory already.
    func provisional(for row: M.Fields, in database: Database) -> (object: M, isNew: Bool) {
        find(row, .unknown, isRecent: false, in: database)
    }

    /// Returns the object for a row that does not exist yet, with unsaved values; an existing object of this
    /// key when there is one. An existing object whose row is deleted takes the values and is new again,
    /// because a second object of its key would conflict with it when the row is inserted again.
    func unsaved(_ row: M.Fields, in database: Database) throws -> (object: M, isNew: Bool) {
        let isRecent = clock.writer.load(ordering: .sequentiallyConsistent) != 0
        let (object, isNew) = find(row, .new, isRecent: isRecent, in: database)
        if isNew { return (object, true) }
        return (object, try remake(object, row, in: database))
    }

    /// Makes an object whose row is deleted a new one with these values.
    ///
    /// - Returns: False, without any change, when the calling thread does not see the object deleted.
    private func remake(_ object: M, _ row: M.Fields, in database: Database) throws -> Bool {
        if let context = ThreadContext.access(to: database) as? WriteContext {
            try context.checkOpen()
            if context.remake(object, row) { return true }
            // The committed state may be deleted although the transaction does not see it so.
            guard object._status == .deleted else { return false }
        }
        let before = object._withState { state -> M.Fields? in
            guard state.status == .deleted else { return nil }
            let old = state.fields
            state.remake(row)
            return old
        }
        guard let before else { return false }
        // No lock is held, because observers run code of the caller.
        if object._isObserved { object._announce(row._changes(from: before), transients: true, status: true) }
        return true
    }

    private func find(
        _ row: M.Fields, _ status: RowStatus, isRecent: Bool, in database: Database
    ) -> (object: M, isNew: Bool) {
        let exact = row.exactKey
        var released: (any AnyObject & Sendable)?
        defer { withExtendedLifetime(released) {} }
        isUsed.store(true, ordering: .sequentiallyConsistent)
        return table.withLock { table in
            if let known = table[exact] { return (unsafeDowncast(known, to: M.self), false) }
            let epoch = clock.epoch.load(ordering: .sequentiallyConsistent)
            let object = M._make(row, RegistrationContext(database, status, asOf: 0, epoch: epoch))
            released = table.register(object, exact, isRecent: isRecent)
            return (object, true)
        }
    }

    /// Registers the objects of rows that got other keys under these keys.
    ///
    /// - Returns: The objects, each with its key; nil for an object that has no place, because another object
    ///   was registered under its key already.
    func move(_ moves: [(from: M.ID, to: M.ID)]) -> [(object: M, key: M.ID?)] {
        table.withLock { table in
            // All first: one row may take the key of another one that moves as well.
            let moving = moves.compactMap { move in table.remove(M.Fields._exact(move.from)).map { ($0, move.to) } }
            return moving.map { object, key in
                let isFree = table.place(object, M.Fields._exact(key))
                return (unsafeDowncast(object, to: M.self), isFree ? key : nil)
            }
        }
    }

    func takeRecent() -> [any Refreshable] {
        checkInvariants()
        return table.withLock { $0.takeRecent() }.map { RefreshableObject<M>(object: unsafeDowncast($0, to: M.self)) }
    }

    /// Every object that is still referenced.
    var objects: [M] { table.withLock { $0.all }.map { unsafeDowncast($0, to: M.self) } }

    func all() -> [any Refreshable] { objects.map { RefreshableObject<M>(object: $0) } }

    func makeLog() -> any ChangeLog { ModelLog(self) }

    // MARK: - Listeners

    func subscribe(_ mailbox: Mailbox<ModelChange<M>>, _ filter: ChangeFilter<M>) {
        state.withLock { state in
            state.listeners.append((mailbox, filter))
            listenerCount.store(state.listeners.count, ordering: .releasing)
        }
    }

    func unsubscribe(_ mailbox: Mailbox<ModelChange<M>>) {
        state.withLock { state in
            state.listeners.removeAll { $0.mailbox === mailbox }
            listenerCount.store(state.listeners.count, ordering: .releasing)
        }
    }

    /// Records the values of a row before the commit that is being handled. Only the first record of a row
    /// counts.
    func keepImage(_ fields: M.Fields) {
        guard hasListeners else { return }
        let exact = fields.exactKey
        state.withLock { state in
            guard state.images[exact] == nil else { return }
            state.images[exact] = fields
        }
    }

    func dropImages() { state.withLock { $0.images = [:] } }

    func send(_ change: ModelChange<M>) {
        var change = change
        let listeners = state.withLock { state in
            for index in change.changes.indices where change.changes[index].kind != .inserted {
                // The image is removed, because a later commit in the same read of the journal changed the
                // row from other values.
                change.changes[index].old = state.images.removeValue(forKey: M.Fields._exact(change.changes[index].id))
            }
            return state.listeners
        }
        for (mailbox, filter) in listeners {
            if let filtered = filter.apply(change) { mailbox.send(filtered) }
        }
        general.send(change)
    }

    func finish() {
        for (mailbox, _) in state.withLock({ $0.listeners }) { mailbox.finish() }
    }

    // MARK: - Keeping objects

    /// Releases the objects that the cache policy keeps.
    func evict() {
        // Objects whose last reference ends here must not be released under the lock.
        state.withLock { $0.images = [:] }
        let kept = table.withLock { $0.takeKept() }
        withExtendedLifetime(kept) {}
    }

    /// The number of objects that are still referenced.
    var heldCount: Int { table.withLock { $0.all.count } }

    // MARK: - Invariants

    /// Stops a debug build when one of the invariants does not hold. A release build does nothing.
    private func checkInvariants() { assert(invariantViolation() == nil, invariantViolation() ?? "") }

    /// The number of objects up to which the invariants of each are checked. Each write checks them twice, so
    /// that more would slow down tests; every change of a state checks that state anyway.
    private static var checkedObjects: Int { 8 }

    /// Returns the first of the numbered invariants that does not hold, in words; nil when all of them hold.
    func invariantViolation() -> String? {
        let count = objectLimit
        if count > 0, !mayHold { return "1: there are \(count) objects, and none was registered" }
        let listeners = state.withLock { ($0.listeners.count, listenerCount.load(ordering: .acquiring)) }
        if listeners.0 != listeners.1 { return "2: \(listeners.1) of \(listeners.0) listeners are counted" }
        guard count <= LiveInstances.checkedObjects else { return nil }
        for object in objects {
            let (violation, newest) = object._withState { state in
                (state.invariantViolation(), max(state.epoch, state.overlays.first?.epoch ?? 0))
            }
            if let violation { return "3: \(violation)" }
            // The clock is read last: it only grows.
            let begun = clock.epoch.load(ordering: .sequentiallyConsistent)
            if newest > begun { return "3: an object is of write \(newest), and \(begun) have begun" }
        }
        return nil
    }
}

/// One object that can be refreshed.
struct RefreshableObject<M: Model>: Refreshable {
    let object: M

    func refresh(_ db: GRDB.Database, asOf position: Int64, _ publication: Publication) throws {
        let key = object._withState { $0.fields._key }
        do {
            let row = try M.select(key, db)
            typealias Values = (fields: M.Fields, status: RowStatus)
            let isWanted = publication.wants(object)
            let change = object._withState { state -> (before: Values, after: Values)? in
                let before = isWanted ? (fields: state.fields, status: state.status) : nil
                if let row { state.offer(row, asOf: position) } else { state.offerAbsence(asOf: position) }
                return before.map { ($0, (fields: state.fields, status: state.status)) }
            }
            if let change { publication.note(object, before: change.before, after: change.after) }
        } catch let error as StoreError where error.code == .undecodable {
            // The row exists, but the model cannot decode it. The object keeps its last valid values and
            // records the error.
            object._withState { $0.refreshError = error.during("refreshing", table: M.schema.table).of(M.self, key) }
        }
    }

    func markStale(before position: Int64) {
        object._withState { state in
            if state.asOf < position { state.isStale = true }
        }
    }

    func refresh(in context: WriteContext) throws {
        let key = object._withState { $0.fields._key }
        do {
            let row = try M.select(key, context.db)
            if let row, context.shows(object, row) { return }
            // An object that was never saved is not deleted.
            if row == nil, object._withState({ ($0.overlays.first?.status ?? $0.status) == .new }) { return }
            context.show(object, row, status: row == nil ? .deleted : .present)
        } catch let error as StoreError where error.code == .undecodable {
            object._withState { $0.refreshError = error.during("refreshing", table: M.schema.table).of(M.self, key) }
        }
    }
}

extension Model {
    /// Reads one row by its key.
    static func select(_ key: ID, _ db: GRDB.Database) throws -> Fields? {
        try PreparedStatement(db, schema.selectByKey).run { statement in
            do {
                try Fields._bindKey(key, to: statement.parameters, at: 0)
            } catch {
                throw StoreError.unstorable(error, column: nil)
            }
            return try statement.step() ? try Fields(_row: statement.row) : nil
        }
    }
}
