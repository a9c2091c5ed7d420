import Dispatch
import Foundation
import Journal
import Logging
import Synchronization

/// One SQLite file with a change journal, and the live objects of its models.
///
/// Any thread may use it. Writes run one after another; reads run concurrently with them. Open a file only
/// once in a process. A process may open any number of files.
///
/// ```swift
/// let db = try Database(path: "people.sqlite") { schema in
///     schema.version(1) {
///         try $0.execute("CREATE TABLE Person (id INTEGER PRIMARY KEY, name TEXT NOT NULL)")
///     }
/// }
/// ```
public final class Database: Sendable {
    /// The path as it was given to the initializer; `:memory:` for a database in memory.
    public let path: String
    /// The options that it was opened with.
    public let options: Options
    let replica: Replica
    let pipeline = LivePipeline()
    let dependents = Dependents()
    let listeners = DatabaseListeners()
    let counters = Counters()
    let cache: ResultCache
    private let models = Mutex(Models())
    /// True when two models have the same table.
    private let hasSharedTables = Atomic<Bool>(false)
    /// nil in memory, where no other process can write.
    private let watch: FileWatch?
    /// The models of the automatic schemas.
    let declaredModels: [any Model.Type]
    private let report = Mutex(SchemaReport())
    private let followTask = Mutex<Task<Void, Never>?>(nil)
    private let compactionTask = Mutex<Task<Void, Never>?>(nil)
    private let closed = Atomic<Bool>(false)
    /// The journal position up to which the text indexes were checked.
    let textPosition = Atomic<Int64>(0)
    let analyzedPosition = Atomic<Int64>(0)
    let workers: Workers

    private struct Models {
        var byType: [ObjectIdentifier: any AnyLiveInstances] = [:]
        var byTable: [String: [any AnyLiveInstances]] = [:]
        /// A cache of the last answer: successive calls mostly ask for the same model.
        var last: (type: ObjectIdentifier, instances: any AnyLiveInstances)?
    }

    /// Opens a file, creates a replica when the file is new, and migrates its schema to the newest version.
    ///
    /// - Parameters:
    ///   - path: The file. Its directory must exist and be writable, because SQLite keeps its write-ahead log
    ///     there.
    ///   - options: How the database is opened and runs.
    ///   - schema: Declares the versions (``SchemaBuilder``). All steps that the file lacks run in one
    ///     transaction; when one fails, the schema stays as it was. Without this argument the schema is
    ///     neither read nor changed.
    /// - Throws: What a step of the schema throws, and ``StoreError``: `notFound`, `notADatabase`,
    ///   `notAReplica`, `unsupportedFormat`, `corrupt`, `readOnly`, `busy`, `full`; `newerSchema` and
    ///   `invalidSchema` for the declared schema; `keyMismatch`, `missingTable`, `missingColumn`, `unique`
    ///   and `invalidRow` when a file does not fit it. The schema and the rows are unchanged then, but a
    ///   missing file or journal may have been created.
    public convenience init(
        path: String, options: Options = Options(), schema: (inout SchemaBuilder) -> Void = { _ in }
    ) throws {
        var builder = SchemaBuilder()
        schema(&builder)
        try self.init(builder, options) {
            (try Database.openReplica(path, options), try FileWatch(path: path))
        }
    }

    /// Opens a database in memory: a replica with a journal, which disappears when the database is closed.
    ///
    /// There is only one connection, so reads wait for writes. `syncd` and other processes cannot see the
    /// database.
    ///
    /// ```swift
    /// let db = try Database.inMemory { $0.automatic(Person.self) }
    /// ```
    ///
    /// - Throws: The same errors as ``init(path:options:schema:)``.
    public static func inMemory(
        options: Options = Options(), schema: (inout SchemaBuilder) -> Void = { _ in }
    ) throws -> Database {
        var builder = SchemaBuilder()
        schema(&builder)
        return try Database(builder, options) {
            let request = InitializeRequest(cluster: options.cluster)
            return (try Replica.inMemory(request, options: Replica.Options(options, path: ":memory:")), nil)
        }
    }

    private init(_ schema: SchemaBuilder, _ options: Options, _ open: () throws -> (Replica, FileWatch?)) throws {
        self.options = options
        cache = ResultCache(counters: counters)
        dependents.add(cache)
        workers = Workers(readers: options.maximumReaders)
        let migration: Migration
        do {
            migration = try Migration(schema)
            declaredModels = migration.models
            for function in options.functions { try function.check() }
            (replica, watch) = try open()
        } catch {
            throw options.failed(error, operation: "opening the database")
        }
        path = replica.path
        do {
            try StatementOwner.store.runs { _ = try replica.refreshDerivedState() }
            let (last, notices) = try replica.read { (try JournalReader.lastSeq($0), try VisibilityTail.lastID($0)) }
            pipeline.clock.announce(last)
            pipeline.clock.apply(last)
            pipeline.clock.announceNotices(notices)
            pipeline.clock.applyNotices(notices)
            analyzedPosition.store(try replica.read { try Maintenance.lastAnalyzed($0) } ?? 0, ordering: .relaxed)
            let result = try migration.run(self)
            report.withLock { $0 = result }
            try followTextIndexes()
        } catch {
            try? close()
            throw StoreError.wrapping(error, operation: "opening the database")
        }
        follow()
        let task = compactRegularly()
        compactionTask.withLock { $0 = task }
    }

    deinit {
        watch?.stop()
        followTask.withLock { $0?.cancel() }
        compactionTask.withLock { $0?.cancel() }
    }

    /// What opening changed in the schema, what it left unchanged, and why.
    public var schemaReport: SchemaReport { report.withLock { $0 } }

    private static func openReplica(_ path: String, _ options: Options) throws -> Replica {
        let replicaOptions = Replica.Options(options, path: path)
        if options.isReadOnly { return try Replica.reading(path, options: replicaOptions) }
        let request = InitializeRequest(cluster: options.cluster)
        do {
            return try Replica.open(at: path, options: replicaOptions)
        } catch let error as JournalError where error.code == .notFound && options.createIfMissing {
            return try Replica.create(at: path, request, mayCreate: true, options: replicaOptions).replica
        } catch let error as JournalError where error.code == .notAReplica {
            let size = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0
            guard options.adoptsExistingFile || (size == 0 && options.createIfMissing) else {
                throw StoreError(
                    .notAReplica, "The database has no change journal",
                    hint: "Run `syncd init` on it, or set `adoptsExistingFile` in the options.")
            }
            return try Replica.create(at: path, request, mayCreate: true, options: replicaOptions).replica
        }
    }

    /// Closes the file. Sequences of changes end, live objects keep their values, and every later use throws
    /// ``StoreError/Code/closed``. Closing again does nothing.
    ///
    /// - Throws: ``StoreError/Code/busy`` inside an access to this database, which stays open then; another
    ///   ``StoreError`` when the write-ahead log cannot be moved into the file. In that case the database is
    ///   closed, and the complete log stays beside the file.
    public func close() throws {
        guard ThreadContext.access(to: self) == nil else {
            throw StoreError(
                .busy, "A database cannot be closed inside an access to it", hint: "Close it after the access ends.")
        }
        guard closed.exchange(true, ordering: .sequentiallyConsistent) == false else { return }
        watch?.stop()
        followTask.withLock { $0?.cancel() }
        compactionTask.withLock { $0?.cancel() }
        for registry in allInstances() { registry.finish() }
        listeners.finish()
        dependents.finish()
        do { try replica.close() } catch { throw StoreError.wrapping(error, operation: "closing the database") }
    }

    /// True after ``close()`` was called outside an access, even when it threw.
    public var isClosed: Bool { closed.load(ordering: .sequentiallyConsistent) }

    func checkOpen() throws {
        if isClosed { throw StoreError.closed }
    }

    // MARK: - Live objects

    func instances<M: Model>(of type: M.Type) -> LiveInstances<M> {
        models.withLock { models in
            let id = ObjectIdentifier(type)
            // Finds the registry by the type's identity: a checked cast would take longer than the rest of a
            // find.
            if let last = models.last, last.type == id {
                return unsafeDowncast(last.instances, to: LiveInstances<M>.self)
            }
            if let known = models.byType[id] {
                models.last = (id, known)
                return unsafeDowncast(known, to: LiveInstances<M>.self)
            }
            let instances = LiveInstances<M>(clock: pipeline.clock, general: listeners)
            models.byType[id] = instances
            models.byTable[instances.foldedTable, default: []].append(instances)
            if models.byTable[instances.foldedTable, default: []].count > 1 {
                hasSharedTables.store(true, ordering: .sequentiallyConsistent)
            }
            return instances
        }
    }

    func allInstances() -> [any AnyLiveInstances] { models.withLock { Array($0.byType.values) } }

    /// The registries by table name, folded as SQLite compares names. Several models may have the same table.
    func instancesByTable() -> [String: [any AnyLiveInstances]] { models.withLock { $0.byTable } }

    /// True when another model has the same table, and its objects or listeners are in use.
    func hasSiblings(_ instances: any AnyLiveInstances) -> Bool {
        guard hasSharedTables.load(ordering: .sequentiallyConsistent) else { return false }
        let all = models.withLock { $0.byTable[instances.foldedTable] ?? [] }
        return all.count > 1 && all.contains { $0 !== instances && !$0.isIdle }
    }

    // MARK: - Changes by others

    /// Applies what other processes and the replication have committed to live objects and sends the events.
    /// This happens automatically; call it to be sure that everything committed before the call is visible.
    /// Observers of a change that another thread finds at the same moment may still be running when it returns.
    ///
    /// - Throws: ``StoreError`` when the file cannot be read, and inside an access to this database.
    public func refresh() throws {
        if isClosed { throw failed(StoreError.closed, operation: "refreshing") }
        guard ThreadContext.access(to: self) == nil else {
            throw StoreError(
                .writeInsideRead, "A refresh cannot run inside an access to the same database",
                hint: "Call it after the access ends.")
        }
        try takeUp()
    }

    private func takeUp() throws {
        // In memory no other process writes. The only connection may be in use by a writer that waits for the
        // pipeline, so waiting for it here would be a deadlock.
        if watch == nil { return }
        try StatementOwner.store.runs {
            do {
                guard try pipeline.advance(self) else { return }
                // This journals rows that another program evicted without delete triggers, and changes of the
                // schema.
                if try replica.refreshDerivedState() != nil { try pipeline.advance(self) }
            } catch {
                throw options.failed(error, operation: "refreshing")
            }
            try followTextIndexes()
        }
    }

    private func follow() {
        guard let signals = watch?.changes else { return }
        let queue = DispatchQueue(label: "tandem.store.follow")
        // Not a child task: it lives as long as the database is open, and no caller waits for it.
        let task = Task { [weak self] in
            for await _ in signals {
                // SQLite blocks, so this runs outside the task pool.
                await withCheckedContinuation { continuation in
                    queue.async { [weak self] in
                        self?.followOnce()
                        continuation.resume()
                    }
                }
            }
        }
        followTask.withLock { $0 = task }
    }

    /// Yields when the file may have changed, and ends when the database is closed; nil in memory.
    var changes: AsyncStream<Void>? { watch?.changes }

    /// Signals the follower to check the file for new commits soon.
    func lookAgain() { watch?.signal() }

    private func followOnce() {
        // A running transaction of this process applied the foreign commits when it began, and publishes its
        // own at its end. Without this check, its writes to the log would make the follower check the file
        // continuously.
        if isClosed || pipeline.clock.writer.load(ordering: .sequentiallyConsistent) != 0 { return }
        do {
            try takeUp()
        } catch {
            // The next signal tries again from the same position; nothing is skipped.
            if !isClosed { options.logger?.warning("following \(path): \(error)") }
        }
    }

    /// Reads again the objects that may have missed a commit.
    func recheck(_ objects: [any Refreshable]) {
        if objects.isEmpty { return }
        let publication = Publication(self)
        do {
            try StatementOwner.store.runs {
                try replica.read { db in
                    let position = try JournalReader.lastSeq(db)
                    for object in objects { try object.refresh(db, asOf: position, publication) }
                }
            }
            publication.eventsAreSent()
            publication.announce()
        } catch {
            // The objects stay marked as stale, so a save reads them first.
            _ = options.failed(error, operation: "refreshing objects")
            options.logger?.warning("refreshing objects of \(path): \(error)")
        }
    }
}
