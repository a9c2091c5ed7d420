import GRDB
import Journal
import Synchronization

/// One access to a database: a read of one snapshot, or a transaction. Confined to the thread that runs it.
class AccessContext {
    let database: Database
    let db: GRDB.Database
    /// The access that encloses this one, to this database or another one.
    var outer: AccessContext?
    /// Records what the access reads; nil when nobody asks for it.
    var tracker: RegionTracker?

    init(_ database: Database, _ db: GRDB.Database) {
        self.database = database
        self.db = db
    }

    /// Prepares a statement, or takes it from the connection's cache.
    func prepare(_ sql: String) throws -> PreparedStatement {
        database.counters.countQuery()
        let statement = try PreparedStatement(db, sql)
        tracker?.note(statement.region)
        return statement
    }

    /// The live objects for rows that were read in this access.
    func objects<M: Model>(for rows: [M.Fields], of type: M.Type) throws -> [M] { [] }

    /// The live objects of the rows of a SELECT of the model's columns, `limit` at most.
    func fetchObjects<M: Model>(
        _ type: M.Type, _ sql: SQL, operation: String = "fetching", limit: Int = .max
    ) throws -> [M] {
        try objects(for: fetch(type, sql, operation: operation, limit: limit), of: type)
    }

    /// Reads the rows of a SELECT of the model's columns, `limit` at most.
    func fetch<M: Model>(_ type: M.Type, _ sql: SQL, operation: String, limit: Int = .max) throws -> [M.Fields] {
        do {
            return try prepare(sql.text).run { statement in
                try statement.bind(sql.bindings)
                var rows: [M.Fields] = []
                while rows.count < limit, try statement.step() {
                    do {
                        rows.append(try statement.decode(M.self) { try M.Fields(_row: $0) })
                    } catch { try skip(M.self, error) }
                }
                return rows
            }
        } catch let error as StoreError {
            throw error.during(operation, table: M.schema.table)
        }
    }
}

/// A read of one snapshot.
final class ReadContext: AccessContext {
    private var position: Int64?
    /// ``LiveClock/announcedNotices`` before the snapshot was taken.
    private let notices: Int64
    /// Objects that were registered with a row of this snapshot after a newer version of the row was
    /// announced.
    private(set) var stale: [any Refreshable] = []
    /// What objects show in the body of this read; nil when they show their newest values.
    let snapshot: SnapshotRows?

    init(_ database: Database, _ db: GRDB.Database, notices: Int64, snapshot: SnapshotRows?) {
        self.notices = notices
        self.snapshot = snapshot
        super.init(database, db)
    }

    /// False when rows may have been held or shown again after the snapshot was taken, at the same position.
    var seesNewestNotices: Bool {
        let clock = database.pipeline.clock
        return notices == clock.announcedNotices.load(ordering: .sequentiallyConsistent)
            && notices == clock.appliedNotices.load(ordering: .sequentiallyConsistent)
    }

    /// The position of the newest journal entry in the snapshot.
    func snapshotPosition() throws -> Int64 {
        if let position { return position }
        let last = try JournalReader.lastSeq(db)
        position = last
        return last
    }

    /// Notes that `object` took a row of this snapshot. When visibility notices were announced after the
    /// snapshot was taken, the row may be outdated, so the object is read again.
    func adopted<M: Model>(_ object: M) {
        let announced = database.pipeline.clock.announcedNotices.load(ordering: .sequentiallyConsistent)
        if notices < announced { stale.append(RefreshableObject<M>(object: object)) }
    }

    override func objects<M: Model>(for rows: [M.Fields], of type: M.Type) throws -> [M] {
        let start = try start()
        return adopt(rows.map { M._make($0, start) }, start)
    }

    /// Reads the rows straight into objects, because most rows of most fetches have no live object yet.
    override func fetchObjects<M: Model>(
        _ type: M.Type, _ sql: SQL, operation: String = "fetching", limit: Int = .max
    ) throws -> [M] {
        do {
            let start = try start()
            let fresh = try prepare(sql.text).run { statement in
                try statement.bind(sql.bindings)
                var objects: [M] = []
                while objects.count < limit, try statement.step() {
                    do {
                        objects.append(try statement.decode(M.self) { try M._read($0, start) })
                    } catch { try skip(M.self, error) }
                }
                return objects
            }
            return adopt(fresh, start)
        } catch let error as StoreError {
            throw error.during(operation, table: M.schema.table)
        }
    }

    private func start() throws -> RegistrationContext {
        let position = try snapshotPosition()
        let epoch = database.pipeline.clock.epoch.load(ordering: .sequentiallyConsistent)
        return RegistrationContext(database, .present, asOf: position, epoch: epoch)
    }

    private func adopt<M: Model>(_ fresh: [M], _ start: RegistrationContext) -> [M] {
        if fresh.isEmpty { return [] }
        let found = database.instances(of: M.self).adopt(
            fresh, start, notices: notices, keepsDeleted: snapshot != nil)
        stale.append(contentsOf: found.stale.map { RefreshableObject<M>(object: $0) })
        return found.objects
    }
}
