import Journal

/// What happened to one row in one commit.
public struct RowChange<M: Model>: Sendable {
    /// What became of the row, from before the commit to after it.
    public enum Kind: Sendable {
        /// It was not there before, and is now.
        case inserted
        /// It was there, and is: columns differ, or it was deleted and made again.
        case updated
        /// It was there, and is no more.
        case deleted
    }

    /// The row's primary key.
    public let id: M.ID
    /// What became of the row.
    public let kind: Kind
    /// The names of the changed columns; every column for an inserted row, none for a deleted one.
    public let columns: Set<String>
    /// The row's values before the commit. Known when someone held the row's live object, or the commit changed it by way of
    /// one; nil otherwise, and for an inserted row.
    public internal(set) var old: M.Fields?

    init(id: M.ID, kind: Kind, columns: Set<String>) {
        self.id = id
        self.kind = kind
        self.columns = columns
    }

    /// True when the row was updated and this column changed: `change.touches(\.name)`.
    public func touches<V>(_ path: ColumnPath<M, V>) -> Bool { columns.contains(M.columns[keyPath: path].name) }
}

/// Where a change was made.
public enum ChangeOrigin: Hashable, Sendable {
    /// On this file, by whatever process.
    case local
    /// On another machine; it came by replication.
    case remote(OriginID)
}

/// What one commit did to the rows of one model.
///
/// Sent after the commit, once for each model and commit, never for a rollback or for a statement that changed nothing.
/// What several statements of one transaction did to a row is told as one change.
public struct ModelChange<M: Model>: Sendable {
    /// The rows that changed, each once, in the order in which the commit first touched them; ``rowLimit`` at most.
    public internal(set) var changes: [RowChange<M>]
    /// Where the commit was made.
    public let origin: ChangeOrigin

    /// False when something was left out: the listener fell behind by more than ``queueLimit`` commits, a commit changed
    /// more than ``rowLimit`` rows, or a key did not decode. Read the table again then.
    public internal(set) var isComplete: Bool

    /// The most commits that wait for a slow listener.
    public static var queueLimit: Int { 1_024 }
    /// The most rows of one commit that are told.
    public static var rowLimit: Int { 100_000 }

    /// The keys of all changed rows, in the order of ``changes``.
    public var ids: [M.ID] { changes.map(\.id) }
    /// The keys of the rows that are new.
    public var inserted: [M.ID] { ids(.inserted) }
    /// The keys of the rows that were there and are.
    public var updated: [M.ID] { ids(.updated) }
    /// The keys of the rows that are gone.
    public var deleted: [M.ID] { ids(.deleted) }

    /// The columns that any of the changes touched.
    public var columns: Set<String> { changes.reduce(into: []) { $0.formUnion($1.columns) } }

    private func ids(_ kind: RowChange<M>.Kind) -> [M.ID] { changes.filter { $0.kind == kind }.map(\.id) }
}

/// The changes of one model, commit by commit, from the moment of the call on. Ends when the database is closed, at once when it
/// is closed already.
///
/// For one consumer; ask for another sequence for another.
public struct ModelChanges<M: Model>: AsyncSequence, Sendable {
    public typealias Element = ModelChange<M>

    let subscription: Subscription<M>

    public struct AsyncIterator: AsyncIteratorProtocol {
        let subscription: Subscription<M>

        /// The next commit's change; nil when the database is closed, the task cancelled, or another reader is waiting
        /// already.
        public func next() async -> ModelChange<M>? { await subscription.mailbox.next() }

        /// As ``next()``, for a loop on an actor.
        public func next(isolation actor: isolated (any Actor)?) async -> ModelChange<M>? {
            await subscription.mailbox.next()
        }
    }

    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(subscription: subscription) }
}

/// Keeps a mailbox in a registry for as long as someone may read it.
final class Subscription<M: Model>: Sendable {
    let mailbox = Mailbox<ModelChange<M>>(limit: ModelChange<M>.queueLimit) { $0.isComplete = false }
    private let registry: LiveInstances<M>

    init(_ database: Database, _ filter: ChangeFilter<M>) {
        registry = database.instances(of: M.self)
        registry.subscribe(mailbox, filter)
        // After it was registered: a close before that has missed it.
        if database.isClosed { mailbox.finish() }
    }

    deinit { registry.unsubscribe(mailbox) }
}

extension Model {
    /// The changes of this model from now on, after each commit: by this process, by others, by replication.
    ///
    /// ```swift
    /// for await change in Person.changes(in: db) {
    ///     print(change.updated, change.columns, change.origin)
    /// }
    /// ```
    public static func changes(in database: Database) -> ModelChanges<Self> { changes(in: database, ChangeFilter()) }

    /// The changes that touch one of `columns`; inserted and deleted rows are always told.
    ///
    /// ```swift
    /// for await change in Person.changes(in: db, columns: [\.name, \.age]) { … }
    /// ```
    public static func changes(
        in database: Database, columns: [PartialKeyPath<Columns>]
    ) -> ModelChanges<Self> { changes(in: database, ChangeFilter(columns: names(of: columns))) }

    /// The changes but for updates that touch nothing else than `ignored`.
    public static func changes(
        in database: Database, ignoring ignored: [PartialKeyPath<Columns>]
    ) -> ModelChanges<Self> { changes(in: database, ChangeFilter(ignored: names(of: ignored))) }

    /// The changes of the rows with these keys.
    public static func changes(in database: Database, ids: some Sequence<ID>) -> ModelChanges<Self> {
        changes(in: database, ChangeFilter(ids: Set(ids.map(\.exact))))
    }

    /// The changes of the row with this key.
    public static func changes(in database: Database, id: ID) -> ModelChanges<Self> { changes(in: database, ids: [id]) }

    private static func changes(in database: Database, _ filter: ChangeFilter<Self>) -> ModelChanges<Self> {
        ModelChanges(subscription: Subscription(database, filter))
    }
}
