import Journal

/// What happened to one row in one commit.
public struct RowChange<M: Model>: Sendable {
    public enum Kind: Sendable {
        case inserted
        case updated
        case deleted
    }

    public let id: M.ID
    public let kind: Kind
    /// The names of the changed columns; every column for an inserted row, none for a deleted one.
    public let columns: Set<String>
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
    public let changes: [RowChange<M>]
    public let origin: ChangeOrigin

    /// False when something was left out: the listener fell behind by more than ``queueLimit`` commits, a commit changed
    /// more than ``rowLimit`` rows, or a key did not decode. Read the table again then.
    public internal(set) var isComplete: Bool

    public static var queueLimit: Int { 1_024 }
    public static var rowLimit: Int { 100_000 }

    public var ids: [M.ID] { changes.map(\.id) }
    public var inserted: [M.ID] { ids(.inserted) }
    public var updated: [M.ID] { ids(.updated) }
    public var deleted: [M.ID] { ids(.deleted) }

    /// The columns that any of the changes touched.
    public var columns: Set<String> { changes.reduce(into: []) { $0.formUnion($1.columns) } }

    private func ids(_ kind: RowChange<M>.Kind) -> [M.ID] { changes.filter { $0.kind == kind }.map(\.id) }
}

/// The changes of one model, commit by commit, from the moment of the call on. Ends when the database is closed.
///
/// For one consumer; ask for another sequence for another.
public struct ModelChanges<M: Model>: AsyncSequence, Sendable {
    public typealias Element = ModelChange<M>

    let subscription: Subscription<M>

    public struct AsyncIterator: AsyncIteratorProtocol {
        let subscription: Subscription<M>

        public func next() async -> ModelChange<M>? { await subscription.mailbox.next() }

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

    init(_ registry: LiveInstances<M>) {
        self.registry = registry
        registry.subscribe(mailbox)
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
    public static func changes(in database: Database) -> ModelChanges<Self> {
        ModelChanges(subscription: Subscription(database.instances(of: Self.self)))
    }
}
