import Journal
import Synchronization

/// The values of objects as of the snapshot of the calling thread's `db.read`.
///
/// Objects follow every commit, also while a read runs. Without more, one object would show a newer row than the
/// queries beside it (decision 0031).
@usableFromInline
enum SnapshotReads {
    private static let count = Atomic<Int>(0)

    /// True when a read that shows its snapshot runs on any thread. It is exact for the calling thread.
    @usableFromInline static var exist: Bool { count.load(ordering: .relaxed) > 0 }

    /// Counts a read while `body` runs.
    static func counted<Result>(_ body: () throws -> Result) rethrows -> Result {
        count.add(1, ordering: .relaxed)
        defer { count.subtract(1, ordering: .relaxed) }
        return try body()
    }

    /// Calls `body` with the object's values in the snapshot of the calling thread's read; returns nil when the
    /// thread runs no read of its database that shows its snapshot.
    @usableFromInline
    static func read<M: Model, Result: Sendable>(
        _ object: M, _ body: (M.Fields, RowStatus) -> Result
    ) -> Result? {
        guard let context = ThreadContext.access(to: object.database) as? ReadContext,
            let snapshot = context.snapshot
        else { return nil }
        return snapshot.read(object, in: context, body)
    }
}

extension Model {
    /// The values and the status as the calling thread sees them: those of its transaction, of the snapshot of its
    /// read, or the newest ones.
    var seen: (fields: Fields, status: RowStatus) {
        if SnapshotReads.exist, let seen = SnapshotReads.read(self, { (fields: $0, status: $1) }) { return seen }
        return _withState { $0.visible }
    }
}

/// The rows of one snapshot that objects show in its read. Confined to the thread of the read.
///
/// An object whose newest values are those of the snapshot shows these. Only for another one is the row read, by
/// its key: the object has followed a later commit, or has not followed an earlier one of another process yet.
final class SnapshotRows {
    /// One object's row. It holds the object, so that no other object gets the same identity.
    private struct Entry<M: Model> {
        let object: M
        let fields: M.Fields
        let status: RowStatus
    }

    private var entries: [ObjectIdentifier: Any] = [:]
    private var tracked: Set<String>?

    func read<M: Model, Result: Sendable>(
        _ object: M, in context: ReadContext, _ body: (M.Fields, RowStatus) -> Result
    ) -> Result {
        if !entries.isEmpty, let entry = entries[ObjectIdentifier(object)] as? Entry<M> {
            return body(entry.fields, entry.status)
        }
        // A file that cannot be read throws in the next query; a property cannot.
        guard let position = try? context.snapshotPosition(), let tracked = try? trackedTables(context) else {
            return object._withState { body($0.visible.fields, $0.visible.status) }
        }
        let clock = context.database.pipeline.clock
        // Read before the object: all objects have followed what was applied by then.
        let isFollowed = clock.applied.load(ordering: .sequentiallyConsistent) >= position
        let isExact = tracked.contains(SQLText.foldedName(M.schema.table)) && context.seesNewestNotices
        let live = object._withState { state -> Result? in
            let isSnapshot =
                switch state.status {
                // A new object has the position of the delete after which it was made again, or 0.
                case .new: state.asOf == 0 || (isExact && state.asOf <= position)
                case .unknown: false
                case .present, .deleted:
                    // A stale object that was registered from this very snapshot has missed later commits only.
                    isExact
                        && (state.asOf == position || (state.asOf < position && isFollowed && !state.isStale))
                }
            return isSnapshot ? body(state.fields, state.status) : nil
        }
        if let live { return live }
        let entry = load(object, context)
        entries[ObjectIdentifier(object)] = entry
        return body(entry.fields, entry.status)
    }

    private func trackedTables(_ context: ReadContext) throws -> Set<String> {
        if let tracked { return tracked }
        let names = try context.database.pipeline.tail.trackedTables(context.db)
        tracked = names
        return names
    }

    private func load<M: Model>(_ object: M, _ context: ReadContext) -> Entry<M> {
        let newest = object._withState { $0.visible }
        context.database.counters.countQuery()
        do {
            guard var row = try M.select(newest.fields._key, context.db) else {
                // The row was inserted after the snapshot, or deleted before it.
                let status: RowStatus = newest.status == .present ? .new : newest.status
                return Entry(object: object, fields: newest.fields, status: status)
            }
            row._takeTransient(from: newest.fields)
            return Entry(object: object, fields: row, status: .present)
        } catch {
            // As outside of a read, an object keeps its last values when the model cannot decode its row.
            return Entry(object: object, fields: newest.fields, status: newest.status)
        }
    }
}
