import Dispatch
import Foundation
import Journal
import Logging
import Synchronization

/// One SQLite file with a change journal, and the live objects of the models that it holds.
///
/// Any thread may use it. Writes run one after another, reads beside them. Open a file once in a process; any number of
/// databases may be open.
///
/// ```swift
/// let db = try Database(path: "people.sqlite") { schema in
///     schema.version(1) {
///         try $0.execute("CREATE TABLE Person (id INTEGER PRIMARY KEY, name TEXT NOT NULL)")
///     }
/// }
/// ```
public final class Database: Sendable {
    /// The path as it was given; `:memory:` for a database in memory.
    public let path: String
    /// The options that it was opened with.
    public let options: Options
    let replica: Replica
    let pipeline = LivePipeline()
    let dependents = Dependents()
    let counters = Counters()
    let cache: ResultCache
    private let models = Mutex(Models())
    /// True when two models stand for one table.
    private let hasSharedTables = Atomic<Bool>(false)
    /// nil in memory, where nobody else writes.
    private let watch: FileWatch?
    private let report = Mutex(SchemaReport())
    private let followTask = Mutex<Task<Void, Never>?>(nil)
    private let closed = Atomic<Bool>(false)
    /// The journal position up to which no text index was found to be behind.
    let textPosition = Atomic<Int64>(0)
    let analyzedPosition = Atomic<Int64>(0)
    let workers: Workers

    private struct Models {
        var byType: [ObjectIdentifier: any AnyLiveInstances] = [:]
        var byTable: [String: [any AnyLiveInstances]] = [:]
        /// The one that was asked for last: mostly it is the next one too.
        var last: (type: ObjectIdentifier, instances: any AnyLiveInstances)?
    }

    /// Opens a file, making it a replica when it is new, and brings its schema to the newest version.
    ///
    /// - Parameters:
    ///   - path: The file. Its directory must exist, and be writable for SQLite's log.
    ///   - options: How it is opened and runs.
    ///   - schema: Declares the versions (``SchemaBuilder``). All steps that the file lacks run in one transaction; when one fails, the
    ///     schema is as it was. Left out, the schema is neither read nor changed.
    /// - Throws: What a step of the schema throws, and ``StoreError``: `notFound`, `notADatabase`, `notAReplica`,
    ///   `unsupportedFormat`, `corrupt`, `readOnly`, `busy`, `full`; `newerSchema` and `invalidSchema` for the declared schema;
    ///   `keyMismatch`, `missingTable`, `missingColumn`, `unique` and `invalidRow` when a file does not fit it. The schema and the
    ///   rows are then as they were; a journal that was due may have been made, and with it a file that was missing.
    public convenience init(
        path: String, options: Options = Options(), schema: (inout SchemaBuilder) -> Void = { _ in }
    ) throws {
        var builder = SchemaBuilder()
        schema(&builder)
        try self.init(builder, options) {
            (try Database.openReplica(path, options), try FileWatch(path: path))
        }
    }

    /// Opens a database in memory: a replica like any other, with a journal, that is gone when it is closed.
    ///
    /// There is one connection, so reads wait for writes. `syncd` and other processes cannot see it.
    ///
    /// ```swift
    /// let db = try Database.inMemory { $0.automatic(Person.self) }
    /// ```
    ///
    /// - Throws: As for a file; there is no database then.
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
            for function in options.functions { try function.check() }
            (replica, watch) = try open()
        } catch {
            throw options.failed(error, operation: "opening the database")
        }
        path = replica.path
        do {
            try replica.refreshDerivedState()
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
    }

    deinit {
        watch?.stop()
        followTask.withLock { $0?.cancel() }
    }

    /// What opening did to the schema, and what it left undone and why.
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
                    .notAReplica, "the database has no change journal",
                    hint: "Run `syncd init` on it, or set `adoptsExistingFile` in the options.")
            }
            return try Replica.create(at: path, request, mayCreate: true, options: replicaOptions).replica
        }
    }

    /// Closes the file. Sequences of changes end; live objects keep their values; every further use throws
    /// ``StoreError/Code/closed``. Closing again does nothing.
    ///
    /// - Throws: ``StoreError/Code/busy`` inside of an access to this database, which stays open then; another ``StoreError`` when
    ///   the write-ahead log cannot be moved into the file: it is closed nevertheless, and the log is whole beside it.
    public func close() throws {
        guard ThreadContext.access(to: self) == nil else {
            throw StoreError(.busy, "a database cannot be closed by an access to it", hint: "Close it afterwards.")
        }
        guard closed.exchange(true, ordering: .sequentiallyConsistent) == false else { return }
        watch?.stop()
        followTask.withLock { $0?.cancel() }
        for registry in allInstances() { registry.finish() }
        dependents.finish()
        do { try replica.close() } catch { throw StoreError.wrapping(error, operation: "closing the database") }
    }

    /// True once ``close()`` was called outside of an access, even when it throws.
    public var isClosed: Bool { closed.load(ordering: .sequentiallyConsistent) }

    func checkOpen() throws {
        if isClosed { throw StoreError.closed }
    }

    // MARK: - Live objects

    func instances<M: Model>(of type: M.Type) -> LiveInstances<M> {
        models.withLock { models in
            let id = ObjectIdentifier(type)
            // By the type's own identity; a checked cast would take longer than all the rest of a find.
            if let last = models.last, last.type == id {
                return unsafeDowncast(last.instances, to: LiveInstances<M>.self)
            }
            if let known = models.byType[id] {
                models.last = (id, known)
                return unsafeDowncast(known, to: LiveInstances<M>.self)
            }
            let instances = LiveInstances<M>(clock: pipeline.clock)
            models.byType[id] = instances
            models.byTable[instances.foldedTable, default: []].append(instances)
            if models.byTable[instances.foldedTable, default: []].count > 1 {
                hasSharedTables.store(true, ordering: .sequentiallyConsistent)
            }
            return instances
        }
    }

    func allInstances() -> [any AnyLiveInstances] { models.withLock { Array($0.byType.values) } }

    /// By the table's name as SQLite compares names. Several models may stand for one table.
    func instancesByTable() -> [String: [any AnyLiveInstances]] { models.withLock { $0.byTable } }

    /// True when another model stands for the same table, and someone holds its objects or listens.
    func hasSiblings(_ instances: any AnyLiveInstances) -> Bool {
        guard hasSharedTables.load(ordering: .sequentiallyConsistent) else { return false }
        let all = models.withLock { $0.byTable[instances.foldedTable] ?? [] }
        return all.count > 1 && all.contains { $0 !== instances && !$0.isIdle }
    }

    // MARK: - Changes by others

    /// Takes up what other processes and the replication have committed. Happens by itself; call it to be sure that
    /// everything committed up to now is seen.
    ///
    /// - Throws: ``StoreError`` when the file cannot be read, and inside of an access to this database.
    public func refresh() throws {
        if isClosed { throw failed(StoreError.closed, operation: "refreshing") }
        guard ThreadContext.access(to: self) == nil else {
            throw StoreError(.writeInsideRead, "a refresh waits for the end of the access", hint: "Call it afterwards.")
        }
        try takeUp()
    }

    private func takeUp() throws {
        // In memory nobody else writes. And the one connection may be a writer's, who waits for the pipeline.
        if watch == nil { return }
        do {
            guard try pipeline.advance(self) else { return }
            // Rows that another program evicted unseen by the triggers are found here, and changes of the schema.
            if try replica.refreshDerivedState() != nil { try pipeline.advance(self) }
        } catch {
            throw options.failed(error, operation: "refreshing")
        }
        try followTextIndexes()
    }

    private func follow() {
        guard let signals = watch?.changes else { return }
        let queue = DispatchQueue(label: "tandem.store.follow")
        // Not a child of any task: it lives as long as the database is open, and no caller waits for it.
        let task = Task { [weak self] in
            for await _ in signals {
                // SQLite blocks, so not on one of the few threads of the task pool.
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

    /// Has the file looked at soon.
    func lookAgain() { watch?.signal() }

    private func followOnce() {
        // A transaction of this process has looked at what was new when it began, and its end tells of itself. Its own writes
        // to the log must not have someone look at the file all the time.
        if isClosed || pipeline.clock.writer.load(ordering: .sequentiallyConsistent) != 0 { return }
        do {
            try takeUp()
        } catch {
            // The next signal tries again from the same position; nothing is skipped.
            if !isClosed { options.logger?.warning("following \(path): \(error)") }
        }
    }

    /// Reads objects again that may have missed a commit.
    func recheck(_ objects: [any Refreshable]) {
        if objects.isEmpty { return }
        let publication = Publication(self)
        do {
            try replica.read { db in
                let position = try JournalReader.lastSeq(db)
                for object in objects { try object.refresh(db, asOf: position, publication) }
            }
            publication.eventsAreSent()
            publication.announce()
        } catch {
            // They stay marked as stale: a save reads them first.
            _ = options.failed(error, operation: "refreshing objects")
            options.logger?.warning("refreshing objects of \(path): \(error)")
        }
    }
}
