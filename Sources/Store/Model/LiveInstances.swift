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
    private struct Weak {
        weak var object: M?
    }

    private struct State {
        var objects: [M.ID.Exact: Weak] = [:]
        /// The number of entries at which the dead ones are swept out: so that each costs a constant amount.
        var sweepAt = 64
        var recent: [Weak] = []
        var listeners: [(mailbox: Mailbox<ModelChange<M>>, filter: ChangeFilter<M>)] = []
        /// What changed rows held before the commit whose events are sent next.
        var images: [M.ID.Exact: M.Fields] = [:]
        /// Objects that the model's cache policy keeps.
        var kept = KeptObjects<M>(M.cachePolicy)
    }

    private let state = Mutex(State())
    let foldedTable = SQLText.foldedName(M.schema.table)
    private let clock: LiveClock
    var modelName: String { "\(M.self)" }

    init(clock: LiveClock) { self.clock = clock }

    /// The object for `key`, when someone holds it.
    func held(_ key: M.ID) -> M? {
        let exact = key.exact
        return state.withLock { $0.objects[exact]?.object }
    }

    var isIdle: Bool { state.withLock { $0.objects.isEmpty && $0.listeners.isEmpty } }
    var hasListeners: Bool { state.withLock { !$0.listeners.isEmpty } }

    /// The objects for committed rows that were read at journal position `position`.
    ///
    /// - Returns: The objects in the order of the rows, without those known to be deleted since; and those for which a
    ///   newer position was handled already, so that they must be refreshed.
    /// - Parameter epoch: Given by a transaction that reads committed rows: the number of the write before it.
    func objects(
        for rows: [M.Fields], asOf position: Int64, in database: Database, epoch: Int? = nil
    ) -> (objects: [M], stale: [M]) {
        // Objects whose last reference goes away must not be released under the lock.
        var released: [M] = []
        defer { withExtendedLifetime(released) {} }
        return state.withLock { state in
            var objects: [M] = []
            objects.reserveCapacity(rows.count)
            var stale: [M] = []
            for row in rows {
                let exact = row._key.exact
                if let object = state.objects[exact]?.object {
                    let isPresent = object._withState { state in
                        state.offer(row, asOf: position)
                        return state.visible.status == .present
                    }
                    if isPresent { objects.append(object) } else { released.append(object) }
                    continue
                }
                let object = register(
                    row, exact, status: .present, asOf: position, epoch: epoch, in: database, &state, &released)
                // Read under the lock: whoever handles a newer position from now on will find the object here.
                if position < clock.announced.load(ordering: .sequentiallyConsistent) {
                    object._withState { $0.isStale = true }
                    stale.append(object)
                }
                objects.append(object)
            }
            return (objects, stale)
        }
    }

    /// The object for a row that a transaction made or read and that may not be committed.
    func provisional(for row: M.Fields, in database: Database) -> M {
        let exact = row._key.exact
        var released: [M] = []
        defer { withExtendedLifetime(released) {} }
        return state.withLock { state in
            state.objects[exact]?.object
                ?? register(row, exact, status: .unknown, asOf: 0, in: database, &state, &released)
        }
    }

    /// The object for a row that does not exist yet, with values that nobody has saved; the one that someone holds already
    /// when there is one.
    func unsaved(_ row: M.Fields, in database: Database) -> (object: M, isNew: Bool) {
        let exact = row._key.exact
        var released: [M] = []
        defer { withExtendedLifetime(released) {} }
        return state.withLock { state in
            if let object = state.objects[exact]?.object { return (object, false) }
            return (register(row, exact, status: .new, asOf: 0, in: database, &state, &released), true)
        }
    }

    private func register(
        _ row: M.Fields, _ exact: M.ID.Exact, status: RowStatus, asOf position: Int64, epoch: Int? = nil,
        in database: Database, _ state: inout State, _ released: inout [M]
    ) -> M {
        let current = epoch ?? clock.epoch.load(ordering: .sequentiallyConsistent)
        let initial = ModelState(fields: row, status: status, asOf: position, epoch: current)
        let object = M(_storage: ModelStorage(database: database, state: initial))
        state.objects[exact] = Weak(object: object)
        if let oldest = state.kept.append(object) { released.append(oldest) }
        if epoch == nil, clock.writer.load(ordering: .sequentiallyConsistent) != 0 {
            state.recent.append(Weak(object: object))
        }
        if state.objects.count >= state.sweepAt {
            state.objects = state.objects.filter { $0.value.object != nil }
            state.sweepAt = max(64, state.objects.count * 2)
        }
        return object
    }

    func takeRecent() -> [any Refreshable] {
        let recent = state.withLock { state in
            defer { state.recent = [] }
            return state.recent
        }
        return recent.compactMap { $0.object.map { Row<M>(object: $0) } }
    }

    func all() -> [any Refreshable] {
        let objects = state.withLock { Array($0.objects.values) }
        return objects.compactMap { $0.object.map { Row<M>(object: $0) } }
    }

    func makeLog() -> any ChangeLog { ModelLog(self) }

    // MARK: - Listeners

    func subscribe(_ mailbox: Mailbox<ModelChange<M>>, _ filter: ChangeFilter<M>) {
        state.withLock { $0.listeners.append((mailbox, filter)) }
    }

    func unsubscribe(_ mailbox: Mailbox<ModelChange<M>>) {
        state.withLock { state in state.listeners.removeAll { $0.mailbox === mailbox } }
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
        let kept = state.withLock { state in
            state.images = [:]
            return state.kept.removeAll()
        }
        _ = kept
    }

    /// How many objects someone holds.
    var heldCount: Int { state.withLock { $0.objects.values.count { $0.object != nil } } }
}

/// One object, as something that can be refreshed.
struct Row<M: Model>: Refreshable {
    let object: M

    func refresh(_ db: GRDB.Database, asOf position: Int64, _ publication: Publication) throws {
        let key = object._withState { $0.fields._key }
        do {
            let row = try M.select(key, db)
            let (before, after) = object._withState { state in
                let before = (fields: state.fields, status: state.status)
                if let row { state.offer(row, asOf: position) } else { state.offerAbsence(asOf: position) }
                return (before, (fields: state.fields, status: state.status))
            }
            publication.note(object, before: before, after: after)
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
            // What was never saved is not deleted.
            if row == nil, object._withState({ $0.overlays.isEmpty && $0.status == .new }) { return }
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
