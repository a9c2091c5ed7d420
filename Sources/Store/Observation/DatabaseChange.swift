import Synchronization

/// The changes of one model's rows by one commit, whichever model it is. See ``Database/changes(of:kinds:)``.
public struct DatabaseChange: Sendable {
    /// The model of the rows.
    public let model: any Model.Type
    /// Where the commit was made.
    public let origin: ChangeOrigin
    /// The kinds of change among the rows.
    public let kinds: Set<ChangeKind>
    /// The number of changed rows.
    public let count: Int
    /// False when changes are missing, as in ``ModelChange/isComplete``; of other models, too, when the listener
    /// fell behind. Read the tables again then.
    public internal(set) var isComplete: Bool
    private let change: any Sendable

    init<M: Model>(_ change: ModelChange<M>) {
        model = M.self
        origin = change.origin
        kinds = Set(change.changes.map(\.kind))
        count = change.changes.count
        isComplete = change.isComplete
        self.change = change
    }

    /// The name of the model's table.
    public var table: String { model.schema.table }

    /// The changes with their keys and columns; nil when they are of another model.
    ///
    /// ```swift
    /// if let people = change.of(Person.self) { print(people.inserted, people.deleted) }
    /// ```
    ///
    /// - Parameter type: The model.
    public func of<M: Model>(_ type: M.Type) -> ModelChange<M>? {
        guard var change = change as? ModelChange<M> else { return nil }
        change.isComplete = isComplete
        return change
    }
}

/// The changes of all models, or of some, commit by commit, beginning with the call that made the sequence. Ends
/// when the database is closed; ends immediately when it is closed already.
///
/// For one consumer; make a sequence for each.
public struct DatabaseChanges: AsyncSequence, Sendable {
    public typealias Element = DatabaseChange

    fileprivate let subscription: DatabaseSubscription

    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let subscription: DatabaseSubscription

        /// Returns the next change; nil when the database is closed, the task is cancelled, or another reader is
        /// waiting already.
        public func next() async -> DatabaseChange? { await subscription.mailbox.next() }

        /// Like ``next()``, for a loop on an actor.
        ///
        /// - Parameter actor: The actor on which the loop runs.
        public func next(isolation actor: isolated (any Actor)?) async -> DatabaseChange? {
            await subscription.mailbox.next()
        }
    }

    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(subscription: subscription) }
}

/// The listeners to the changes of all models of one database.
final class DatabaseListeners: Sendable {
    private struct Listener {
        let mailbox: Mailbox<DatabaseChange>
        /// nil for every model.
        let models: Set<ObjectIdentifier>?
        let kinds: Set<ChangeKind>
    }

    private let listeners = Mutex<[Listener]>([])
    /// Read for each changed row; changed under the lock.
    private let count = Atomic<Int>(0)

    var isEmpty: Bool { count.load(ordering: .acquiring) == 0 }

    func subscribe(_ mailbox: Mailbox<DatabaseChange>, models: Set<ObjectIdentifier>?, kinds: Set<ChangeKind>) {
        listeners.withLock {
            $0.append(Listener(mailbox: mailbox, models: models, kinds: kinds))
            count.store($0.count, ordering: .releasing)
        }
    }

    func unsubscribe(_ mailbox: Mailbox<DatabaseChange>) {
        listeners.withLock {
            $0.removeAll { $0.mailbox === mailbox }
            count.store($0.count, ordering: .releasing)
        }
    }

    func send<M: Model>(_ change: ModelChange<M>) {
        if isEmpty { return }
        for listener in listeners.withLock({ $0 }) {
            if let models = listener.models, !models.contains(ObjectIdentifier(M.self)) { continue }
            guard let filtered = ChangeFilter<M>(kinds: listener.kinds).apply(change) else { continue }
            listener.mailbox.send(DatabaseChange(filtered))
        }
    }

    func finish() {
        for listener in listeners.withLock({ $0 }) { listener.mailbox.finish() }
    }
}

/// Keeps a mailbox among the listeners while a reader of the sequence may exist.
private final class DatabaseSubscription: Sendable {
    /// The maximum number of changes that wait for a slow reader: those of as many commits as one model's listener
    /// may fall behind.
    let mailbox = Mailbox<DatabaseChange>(limit: 1_024) { $0.isComplete = false }
    private let listeners: DatabaseListeners

    init(_ database: Database, _ models: [any Model.Type], _ kinds: Set<ChangeKind>) {
        listeners = database.listeners
        for model in models.isEmpty ? database.declaredModels : models { database.know(model) }
        let chosen = models.isEmpty ? nil : Set(models.map { ObjectIdentifier($0) })
        listeners.subscribe(mailbox, models: chosen, kinds: kinds)
        // A `close()` before the registration did not reach this mailbox, so check after it.
        if database.isClosed { mailbox.finish() }
    }

    deinit { listeners.unsubscribe(mailbox) }
}

extension Database {
    /// Returns the changes of all models after this call, commit by commit: those of this process, of other
    /// processes, and of replication. A commit that changed rows of several models gives one element for each.
    ///
    /// ```swift
    /// for await change in db.changes() {
    ///     print(change.table, change.origin)
    ///     if let people = change.of(Person.self) { print(people.inserted) }
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - models: The models of interest. Without any: every model of an automatic schema, and every other one from
    ///     its first use on.
    ///   - kinds: The kinds of change that are reported.
    public func changes(of models: any Model.Type..., kinds: Set<ChangeKind> = ChangeKind.all) -> DatabaseChanges {
        DatabaseChanges(subscription: DatabaseSubscription(self, models, kinds))
    }

    /// Makes the database follow a model that is not in use yet.
    func know<M: Model>(_ model: M.Type) { _ = instances(of: model) }
}
