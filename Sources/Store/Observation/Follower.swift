import GRDB
import Journal

/// Reads journal entries and passes each to the logs of the models of its table.
///
/// Belongs to one transaction, or to one read of the journal. Entries are grouped into commits: a commit ends
/// at a transaction mark, where the origin changes, and at the end of a snapshot.
final class Follower {
    let database: Database
    private var logs: [ObjectIdentifier: any ChangeLog] = [:]
    private(set) var group = 0
    /// The origin of the newest entry that was read.
    private(set) var lastOrigin: OriginID?
    /// The tables and columns that have changed, with or without a model.
    var commits = CommitLog()
    /// While true, recorded changes send no events; objects, caches and live queries still follow.
    var isSilent = false {
        didSet {
            for log in logs.values { log.isSilent = isSilent }
        }
    }

    init(_ database: Database) { self.database = database }

    var allLogs: some Collection<any ChangeLog> { logs.values }

    /// The log of the objects in `registry`.
    func log(of registry: any AnyLiveInstances) -> any ChangeLog {
        let id = ObjectIdentifier(registry)
        if let log = logs[id] { return log }
        let log = registry.makeLog()
        log.isSilent = isSilent
        logs[id] = log
        return log
    }

    /// Ends a commit: later changes belong to the next one.
    func closeGroup() { group += 1 }

    /// The number of journal entries per object above which reading the objects' rows is cheaper than reading
    /// the entries. Measured: reading a row by its key takes about as long as reading four entries.
    private static let entriesPerObject: Int64 = 4

    /// Records all entries after `position` in the snapshot of `db`, whose newest entry is `last`.
    ///
    /// The entries are not read when only the current values of the objects in memory are needed, and reading
    /// these rows is cheaper (``entriesPerObject``).
    ///
    /// - Returns: The objects that may have changed.
    func follow(
        after position: Int64, upTo last: Int64, in db: GRDB.Database, tail: JournalTail
    ) throws -> [any Refreshable] {
        guard last > position else { return takeAffected() }
        let registries = database.allInstances()
        let objects = registries.reduce(Int64(0)) { $0 + Int64($1.objectLimit) }
        if (last - position) / Follower.entriesPerObject > objects, database.dependents.isIdle,
            !registries.contains(where: \.hasListeners)
        {
            commits.noteUnknown()
            return registries.flatMap { $0.all() }
        }
        try scan(after: position, in: db, tail: tail)
        // Compaction has removed entries that were not read yet: any row may have changed by them.
        guard try Horizon.lies(beyond: position, db) else { return takeAffected() }
        commits.noteUnknown()
        return takeAffected() + registries.flatMap { $0.all() }
    }

    private func scan(after position: Int64, in db: GRDB.Database, tail: JournalTail) throws {
        let registries = database.instancesByTable()
        var targets: [Int64: [any ChangeLog]] = [:]
        var origin: OriginID?
        var isInside = false
        try tail.forEach(after: position, in: db) { entry in
            if isInside, entry.origin != origin { closeGroup() }
            let logs: [any ChangeLog]
            if let known = targets[entry.shape.id] {
                logs = known
            } else {
                let table = SQLText.foldedName(entry.shape.shape.table)
                logs = (registries[table] ?? []).filter { !$0.isIdle }.map { log(of: $0) }
                targets[entry.shape.id] = logs
            }
            for log in logs { log.note(entry, group: group) }
            commits.note(entry)
            origin = entry.origin
            lastOrigin = entry.origin
            isInside = !entry.endsTransaction
            if entry.endsTransaction { closeGroup() }
        }
    }

    func takeAffected() -> [any Refreshable] { logs.values.flatMap { $0.takeAffected() } }

    /// Sends the events of the changes after position `seen`, commit by commit.
    ///
    /// - Parameter position: The last position of a transaction's own entries. A read of the journal can come
    ///   between the commit and this call; it has sent all their events when `seen` is not before `position`.
    ///   It cannot see tables without capture.
    func deliver(after seen: Int64, upTo position: Int64 = .max) {
        var events: [ChangeEvent] = []
        for log in logs.values where seen < position || !log.isTracked { events += log.events(after: seen) }
        if events.count > 1 { events.sort { ($0.group, $0.first) < ($1.group, $1.first) } }
        for event in events { event.send() }
    }

    // MARK: - Savepoints

    /// The length of every log at one time.
    struct Mark {
        let counts: [ObjectIdentifier: Int]
        let group: Int
    }

    var mark: Mark { Mark(counts: logs.mapValues(\.count), group: group) }

    func restore(_ mark: Mark) {
        for (id, log) in logs {
            log.truncate(to: mark.counts[id] ?? 0)
            _ = log.takeAffected()
        }
        group = mark.group
    }
}
