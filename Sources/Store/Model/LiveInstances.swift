import GRDB
import GRDBSQLite
import Journal
import Synchronization

/// What a database needs to know of the live objects of any model.
protocol AnyLiveInstances: AnyObject, Sendable {
    /// The table's name as SQLite compares names.
    var foldedTable: String { get }
    var isIdle: Bool { get }
    var hasListeners: Bool { get }
    /// An empty log for a transaction or a look at the journal.
    func makeLog() -> any ChangeLog
    /// Objects that were registered while a write was running; the list starts anew.
    func takeRecent() -> [any Refreshable]
    /// Every object that someone holds.
    func all() -> [any Refreshable]
    func finish()
    /// Releases what is kept beyond what others hold.
    func evict()
    var heldCount: Int { get }
    /// No fewer than are held.
    var objectLimit: Int { get }
    func dropImages()
    var modelName: String { get }
}

/// A live object that can be brought up to date by a query.
protocol Refreshable: Sendable {
    /// Reads the row in the snapshot of `db`, which stands at journal position `position`.
    func refresh(_ db: GRDB.Database, asOf position: Int64, _ publication: Publication) throws

    /// Notes that journal positions up to `position` have been handled without the object.
    func markStale(before position: Int64)

    /// Reads the row as a transaction sees it, for the transaction.
    func refresh(in context: WriteContext) throws
}

/// The live objects of one model in one database: one for each key, held weakly; and who listens to their changes.
///
/// Lock order: this registry's lock, then an object's. Neither is held while SQLite works.
final class LiveInstances<M: Model>: AnyLiveInstances {
    private struct Listeners {
        var listeners: [(mailbox: Mailbox<ModelChange<M>>, filter: ChangeFilter<M>)] = []
        /// What changed rows held before the commit whose events are sent next.
        var images: [ExactKey: M.Fields] = [:]
    }

    private let table = Mutex(ObjectTable(M.cachePolicy))
    private let state = Mutex(Listeners())
    /// Asked for each changed row; changed under the lock.
    private let listenerCount = Atomic<Int>(0)
    let foldedTable = SQLText.foldedName(M.schema.table)
    /// Set before the first object is registered.
    private let isUsed = Atomic<Bool>(false)
    private let clock: LiveClock
    var modelName: String { "\(M.self)" }

    init(clock: LiveClock) { self.clock = clock }

    /// The object for `key`, when someone holds it.
    func cached(_ key: M.ID) -> M? {
        let exact = key.exact
        guard let object = table.withLock({ $0[exact] }) else { return nil }
        return unsafeDowncast(object, to: M.self)
    }

    var isIdle: Bool { objectLimit == 0 && !hasListeners }
    var objectLimit: Int { table.withLock { $0.count } }
    /// False when surely no object was ever registered.
    var mayHold: Bool { isUsed.load(ordering: .sequentiallyConsistent) }
    var hasListeners: Bool { listenerCount.load(ordering: .acquiring) > 0 }

    /// The objects for committed rows that were just read into `fresh` ones.
    ///
    /// - Parameters:
    ///   - start: What the fresh objects were made from; its epoch is ``LiveClock/epoch`` as it was before.
    ///   - settled: ``LiveClock/announcedNotices`` as it was before the snapshot was taken; nil for a writer, whose snapshot is the newest.
    ///   - byWriter: True for a transaction that reads committed rows; its epoch is the number of the write before it.
    /// - Returns: The objects in the order of the rows, without those known to be deleted since; and those for which a
    ///   newer position was handled already, so that they must be refreshed.
    func adopt(_ fresh: [M], _ start: RegistrationContext, notices: Int64?, byWriter: Bool = false) -> (
        objects: [M], stale: [M]
    ) {
        let position = start.position
        // Objects whose last reference goes away must not be released under the lock.
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
            // Rows that were settled since then have the same journal position, and may look otherwise.
            let isBehind = notices.map { $0 < clock.announcedNotices.load(ordering: .sequentiallyConsistent) } ?? false
            for index in fresh.indices {
                let object = fresh[index]
                let exact = object._exactKey
                if let known = table[exact].map({ unsafeDowncast($0, to: M.self) }) {
                    if known._offer(object, asOf: position) { objects[index] = known } else { missing.append(index) }
                    if isBehind {
                        known._withState { $0.isStale = true }
                        stale.append(known)
                    }
                    released.append(known)
                    continue
                }
                if let oldest = table.register(object, exact, isRecent: isRecent) { released.append(oldest) }
                if now != start.epoch { object._withState { $0.epoch = now } }
                // Read under the lock: whoever handles a newer position from now on will find the object here.
                if isBehind || position < clock.announced.load(ordering: .sequentiallyConsistent) {
                    object._withState { $0.isStale = true }
                    stale.append(object)
                }
            }
        }
        for index in missing.reversed() { objects.remove(at: index) }
        return (objects, stale)
    }

    /// The object for a row that a transaction made or read and that may not be committed. The transaction knows of it, so
    /// nobody else has to look at it at the end.
    func provisional(for row: M.Fields, in database: Database) -> M {
        find(row, .unknown, isRecent: false, in: database).object
    }

    /// The object for a row that does not exist yet, with values that nobody has saved; the one that someone holds already
    /// when there is one. One whose row is deleted gets the values, and is new again: a second object of its key would part from
    /// it when the row comes back.
    func unsaved(_ row: M.Fields, in database: Database) throws -> (object: M, isNew: Bool) {
        let isRecent = clock.writer.load(ordering: .sequentiallyConsistent) != 0
        let (object, isNew) = find(row, .new, isRecent: isRecent, in: database)
        if isNew { return (object, true) }
        return (object, try remake(object, row, in: database))
    }

    /// - Returns: False, and nothing is done, when the calling thread does not see the object deleted.
    private func remake(_ object: M, _ row: M.Fields, in database: Database) throws -> Bool {
        if let context = ThreadContext.access(to: database) as? WriteContext {
            try context.checkOpen()
            if context.remake(object, row) { return true }
            // Others may see it deleted where the transaction does not.
            guard object._status == .deleted else { return false }
        }
        let before = object._withState { state -> M.Fields? in
            guard state.status == .deleted else { return nil }
            let old = state.fields
            state.remake(row)
            return old
        }
        guard let before else { return false }
        // No lock is held: observers run code of the caller.
        if object._isObserved { object._announce(row._changes(from: before), transients: true, status: true) }
        return true
    }

    private func find(
        _ row: M.Fields, _ status: RowStatus, isRecent: Bool, in database: Database
    ) -> (object: M, isNew: Bool) {
        let exact = row._key.exact
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

    func takeRecent() -> [any Refreshable] {
        table.withLock { $0.takeRecent() }.map { RefreshableObject<M>(object: unsafeDowncast($0, to: M.self)) }
    }

    /// Every object that someone holds.
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

    /// Notes what a row held before the commit that is being handled. The first note of a row stands.
    func keepImage(_ fields: M.Fields) {
        let exact = fields._key.exact
        state.withLock { state in
            guard !state.listeners.isEmpty, state.images[exact] == nil else { return }
            state.images[exact] = fields
        }
    }

    func dropImages() { state.withLock { $0.images = [:] } }

    func send(_ change: ModelChange<M>) {
        var change = change
        let listeners = state.withLock { state in
            for index in change.changes.indices where change.changes[index].kind != .inserted {
                // Taken: a later commit of the same look at the journal changed another row than this image.
                change.changes[index].old = state.images.removeValue(forKey: change.changes[index].id.exact)
            }
            return state.listeners
        }
        for (mailbox, filter) in listeners {
            if let filtered = filter.apply(change) { mailbox.send(filtered) }
        }
    }

    func finish() {
        for (mailbox, _) in state.withLock({ $0.listeners }) { mailbox.finish() }
    }

    // MARK: - Keeping objects

    /// Releases what the cache policy keeps.
    func evict() {
        // Objects whose last reference goes away must not be released under the lock.
        state.withLock { $0.images = [:] }
        let kept = table.withLock { $0.takeKept() }
        withExtendedLifetime(kept) {}
    }

    /// How many objects someone holds.
    var heldCount: Int { table.withLock { $0.all.count } }
}

/// One object, as something that can be refreshed.
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
            // The row is there, but not for this model. The object keeps its last good values and says why.
            object._withState { $0.refreshError = error.during("refreshing", table: M.schema.table) }
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
            // What was never saved is not deleted.
            if row == nil, object._withState({ ($0.overlays.first?.status ?? $0.status) == .new }) { return }
            context.show(object, row, status: row == nil ? .deleted : .present)
        } catch let error as StoreError where error.code == .undecodable {
            object._withState { $0.refreshError = error.during("refreshing", table: M.schema.table) }
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
