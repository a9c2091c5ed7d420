import Journal

/// The change of one row by one commit.
public struct RowChange<M: Model>: Sendable {
    /// The kind of change, from the state before the commit to the state after it.
    public typealias Kind = ChangeKind

    /// The row's primary key.
    public let id: M.ID
    /// The kind of change.
    public let kind: Kind
    /// The names of the changed columns; every column for an inserted row, none for a deleted one.
    public let columns: Set<String>
    /// The row's values before the commit. They are known when the row's live object was in memory, or when
    /// the commit changed the row through its object; otherwise, and for an inserted row, this is nil.
    public internal(set) var old: M.Fields?

    init(id: M.ID, kind: Kind, columns: Set<String>) {
        self.id = id
        self.kind = kind
        self.columns = columns
    }

    /// True when the row was updated and this column changed: `change.touches(\.name)`.
    public func touches<V>(_ path: ColumnPath<M, V>) -> Bool { columns.contains(M.columns[keyPath: path].name) }
}

/// The place where a change was made.
public enum ChangeOrigin: Hashable, Sendable {
    /// On this file, by any process.
    case local
    /// On another machine; the change came by replication.
    case remote(OriginID)
}

/// The changes of one model's rows by one commit.
///
/// Sent after the commit, once for each model and commit; never for a rollback, or for a statement that
/// changed nothing. Changes of one row by several statements of a transaction are combined into one change.
public struct ModelChange<M: Model>: Sendable {
    /// The changed rows, each once, in the order in which the commit first touched them; at most
    /// ``rowLimit``.
    public internal(set) var changes: [RowChange<M>]
    /// Where the commit was made.
    public let origin: ChangeOrigin

    /// False when changes are missing: the listener fell behind by more than ``queueLimit`` commits, a commit
    /// changed more than ``rowLimit`` rows, or a key could not be decoded. Read the table again then.
    public internal(set) var isComplete: Bool

    /// The maximum number of commits that wait for a slow listener.
    public static var queueLimit: Int { 1_024 }
    /// The maximum number of rows that are reported for one commit.
    public static var rowLimit: Int { 100_000 }

    /// The keys of all changed rows, in the order of ``changes``.
    public var ids: [M.ID] { changes.map(\.id) }
    /// The keys of the inserted rows.
    public var inserted: [M.ID] { ids(.inserted) }
    /// The keys of the updated rows.
    public var updated: [M.ID] { ids(.updated) }
    /// The keys of the deleted rows.
    public var deleted: [M.ID] { ids(.deleted) }

    /// The columns that any of the changes touched.
    public var columns: Set<String> { changes.reduce(into: []) { $0.formUnion($1.columns) } }

    private func ids(_ kind: RowChange<M>.Kind) -> [M.ID] { changes.filter { $0.kind == kind }.map(\.id) }
}

/// The changes of one model, commit by commit, beginning with the call that made the sequence. Ends when the
/// database is closed; ends immediately when it is closed already.
///
/// For one consumer; make a sequence for each.
public struct ModelChanges<M: Model>: AsyncSequence, Sendable {
    public typealias Element = ModelChange<M>

    let subscription: Subscription<M>

    public struct AsyncIterator: AsyncIteratorProtocol {
        let subscription: Subscription<M>

        /// Returns the next commit's change; nil when the database is closed, the task is cancelled, or
        /// another reader is waiting already.
        public func next() async -> ModelChange<M>? { await subscription.mailbox.next() }

        /// Like ``next()``, for a loop on an actor.
        public func next(isolation actor: isolated (any Actor)?) async -> ModelChange<M>? {
            await subscription.mailbox.next()
        }
    }

    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(subscription: subscription) }
}

/// Keeps a mailbox in a registry while a reader of the sequence may exist.
final class Subscription<M: Model>: Sendable {
    let mailbox = Mailbox<ModelChange<M>>(limit: ModelChange<M>.queueLimit) { $0.isComplete = false }
    private let registry: LiveInstances<M>

    init(_ database: Database, _ filter: ChangeFilter<M>) {
        registry = database.instances(of: M.self)
        registry.subscribe(mailbox, filter)
        // A `close()` before the registration did not reach this mailbox, so check after it.
        if database.isClosed { mailbox.finish() }
    }

    deinit { registry.unsubscribe(mailbox) }
}

extension Model {
    /// Returns the changes of this model after this call, commit by commit: those of this process, of other
    /// processes, and of replication.
    ///
    /// ```swift
    /// for await change in Person.changes(in: db) {
    ///     print(change.updated, change.columns, change.origin)
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - database: The database of the rows.
    ///   - kinds: The kinds of change that are reported: `[.inserted, .deleted]` for the set of rows.
    public static func changes(
        in database: Database, kinds: Set<ChangeKind> = ChangeKind.all
    ) -> ModelChanges<Self> { changes(in: database, ChangeFilter(kinds: kinds)) }

    /// Returns the changes of this model. Updates are reported only when they touch one of `columns`;
    /// inserted and deleted rows always, unless `kinds` leaves them out.
    ///
    /// ```swift
    /// for await change in Person.changes(in: db, columns: [\.name, \.age]) { show(change) }
    /// for await change in Person.changes(in: db, kinds: [.updated], columns: [\.name]) { show(change) }
    /// ```
    public static func changes(
        in database: Database, kinds: Set<ChangeKind> = ChangeKind.all, columns: [PartialKeyPath<Columns>]
    ) -> ModelChanges<Self> { changes(in: database, ChangeFilter(kinds: kinds, columns: names(of: columns))) }

    /// Returns the changes of this model of these kinds, except updates that touch only `ignored` columns.
    public static func changes(
        in database: Database, kinds: Set<ChangeKind> = ChangeKind.all, ignoring ignored: [PartialKeyPath<Columns>]
    ) -> ModelChanges<Self> { changes(in: database, ChangeFilter(kinds: kinds, ignored: names(of: ignored))) }

    /// Returns the changes of these kinds of the rows with these keys.
    public static func changes(
        in database: Database, kinds: Set<ChangeKind> = ChangeKind.all, ids: some Sequence<ID>
    ) -> ModelChanges<Self> {
        changes(in: database, ChangeFilter(kinds: kinds, ids: Set(ids.map { Fields._exact($0) })))
    }

    /// Returns the changes of these kinds of the row with this key.
    public static func changes(
        in database: Database, kinds: Set<ChangeKind> = ChangeKind.all, id: ID
    ) -> ModelChanges<Self> { changes(in: database, kinds: kinds, ids: [id]) }

    private static func changes(in database: Database, _ filter: ChangeFilter<Self>) -> ModelChanges<Self> {
        ModelChanges(subscription: Subscription(database, filter))
    }
}
