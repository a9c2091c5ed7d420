import GRDB

/// One entry of the journal, for display, for change events and for decisions about single rows.
public struct JournalEntry: Sendable {
    /// The position in this file, from 1 on.
    public let seq: Int64
    /// The replica that wrote the change; nil for this replica.
    public let origin: OriginID?
    /// True for a change that was captured in this file, under its present origin or an earlier one.
    public let isLocal: Bool
    /// The version of the change among those of its origin, from 1 on.
    public let version: Int64
    /// The table and its columns as the entry was written.
    public let shape: TableShape
    /// The id that all shapes of the table share.
    public let tableID: Int64
    /// The shape's id in this file.
    package let shapeID: Int64
    /// What the writer had merged when it wrote the change.
    package let known: VersionVector
    /// What was done to the row.
    public let operation: Operation
    /// As in ``Change/life``.
    public let life: Int64
    /// When it was written, by the clock of its writer.
    public let stamp: Stamp
    /// As in ``Change/mask``.
    public let mask: ColumnMask
    /// As in ``Change/values``: key columns first, then the masked others.
    public let values: [Value]
    /// The canonical bytes of the primary key, for comparing rows.
    public let key: Key
    /// What the writer wrote in columns in which ``values`` has the new key of a row, by column of ``shape``:
    /// see ``WrittenValues``.
    package let written: [Int: Value]
    /// As in ``Change/endsTransaction``.
    public let endsTransaction: Bool
    /// As in ``Change/isKeyChange``.
    public let isKeyChange: Bool
    /// As in ``Change/isMinted``.
    public let isMinted: Bool
    /// As in ``Change/isCovering``.
    public let isCovering: Bool
    /// As in ``Change/migration``.
    public let migration: MigrationRank?

    /// The change's place in the order that decides which of two writes is later.
    ///
    /// - Parameter own: This replica.
    package func order(own: OriginID) -> WriteOrder {
        WriteOrder(stamp: stamp, origin: origin ?? own, migration: migration)
    }

    /// The values of the primary key, in key order.
    public var keyValues: ArraySlice<Value> { values.prefix(shape.keyCount) }

    /// The changed columns that are not part of the key, with their values.
    public var columns: [(name: String, value: Value)] {
        var result: [(String, Value)] = []
        var next = shape.keyCount
        mask.forEach { column in
            guard column >= shape.keyCount else { return }
            result.append((shape.columns[column], values[next]))
            next += 1
        }
        return result
    }
}

/// Reads the journal in one snapshot of its file.
///
/// Use it inside of one `read` or `write` of a ``Replica``. Its results depend on the snapshot alone, so two
/// readers of one snapshot agree on every version, stamp and life.
public struct JournalReader {
    /// Who the replica is.
    public let identity: Identity
    /// The origins that the file knows, with their highest known versions.
    package let origins: OriginTable
    /// The shapes of the tables that the journal knows.
    package let registry: ShapeRegistry
    let db: Database
    let runs: RunList
    /// The position of the newest entry, 0 for an empty journal.
    public let lastSeq: Int64
    private let lives: LifeReader
    /// nil when every entry is as its writer wrote it.
    package let written: WrittenValues?
    private let migrated: MigratedEntries?
    private let known: KnownVersions

    /// - Throws: As ``Identity/init(_:)``; ``JournalError/Code/corrupt`` when the journal is damaged; errors
    ///   of SQLite.
    public init(_ db: Database) throws {
        self.db = db
        known = try KnownVersions(db)
        identity = known.identity
        origins = known.origins
        lastSeq = known.lastSeq
        runs = known.runs
        registry = try ShapeRegistry(db)
        lives = try LifeReader(db)
        written = try WrittenValues(db)
        migrated = try MigratedEntries(db)
    }

    /// The version vector of this replica, including its own changes.
    public func vector() -> VersionVector { known.vector }

    /// Returns the entries after position `seq`, oldest first.
    ///
    /// - Parameters:
    ///   - seq: The position after which to read; 0 for all entries.
    ///   - limit: The most entries to return, 1 or more.
    /// - Returns: An empty array when there is nothing newer.
    /// - Throws: ``JournalError/Code/corrupt`` for a malformed entry or run; errors of SQLite.
    public func entries(after seq: Int64, limit: Int) throws -> [JournalEntry] {
        var entries: [JournalEntry] = []
        guard seq < lastSeq else { return entries }
        for run in try runs.runs(from: seq + 1) where entries.count < limit {
            let cursor = try cursor(over: run, from: seq + 1)
            while entries.count < limit, try cursor.next() {
                guard cursor.seq > seq else { continue }
                entries.append(try entry(at: cursor, in: run))
            }
        }
        return entries
    }

    /// Returns the entry at position `seq`; nil when there is none.
    ///
    /// - Throws: ``JournalError/Code/corrupt`` for a malformed entry or run; errors of SQLite.
    public func entry(at seq: Int64) throws -> JournalEntry? {
        try entries(after: seq - 1, limit: 1).first { $0.seq == seq }
    }

    /// Calls `body` with batches of the changes that `have` does not cover, in journal order, until `body`
    /// returns false.
    ///
    /// Journal order is the order in which this replica wrote or received the changes. So a receiver gets
    /// each change after those that its writer had seen, as far as this replica knew them.
    ///
    /// - Parameters:
    ///   - have: The versions that the reader of the changes knows.
    ///   - bytes: The weight at which a batch is complete: the weight of its values (``Value/weight``), plus
    ///     24 for each entry of a run's causal context.
    ///   - ends: Where transactions of this replica end whose writers mark no end; nil when only the end of the
    ///     journal is one.
    ///   - body: Receives each batch, or entry, in turn.
    ///   - limit: The most changes in a batch, 1 or more.
    /// - Throws: What `body` throws; ``JournalError/Code/corrupt`` for a malformed entry or run, without
    ///   passing it to `body`; ``JournalError/Code/busy`` when a migration has ended since
    ///   ``Replica/refreshDerivedState()``; errors of SQLite.
    public func forEachBatch(
        after have: VersionVector, changes limit: Int, bytes: Int, ends: TransactionEnds? = nil,
        _ body: (ChangeBatch) throws -> Bool
    ) throws {
        guard let start = try firstPosition(beyond: have) else { return }
        guard try !MigrationMarks.areDue(db) else {
            throw JournalError(
                .busy, "A migration has just ended, and its changes are not ranked yet",
                hint: "The next look at the file ranks them.")
        }
        var finder = TransactionEndFinder(ends, lastSeq: lastSeq, db)
        var builder = BatchBuilder(written: written)
        for run in try runs.runs(from: start) {
            let known = have[run.origin]
            guard run.endVersion - 1 > known else { continue }
            let cursor = try cursor(over: run, from: max(run.seq(of: known + 1), run.firstSeq))
            while try cursor.next() {
                guard cursor.version > known else { continue }
                try builder.append(cursor, run: run)
                let isEnd = try finder.isEnd(
                    at: cursor.seq, isMarked: cursor.endsTransaction,
                    ownEnd: run.origin == identity.origin ? run.endSeq : nil, weight: builder.weightOfLast)
                if isEnd { builder.endTransaction() }
                if builder.batch.changes.count >= limit || builder.weight >= bytes {
                    if let before = builder.takeBeforeHeavyEnd(bytes) {
                        guard try body(before) else { return }
                    }
                    guard try body(builder.take()) else { return }
                }
            }
        }
        if !builder.batch.isEmpty { _ = try body(builder.take()) }
    }

    /// Returns the first position of the journal that `have` does not cover; nil when it covers everything.
    ///
    /// - Parameters:
    ///   - have: The versions that the reader of the changes knows.
    ///   - ignored: An origin whose changes are skipped.
    /// - Throws: ``JournalError/Code/corrupt`` for a malformed entry or run; errors of SQLite.
    public func firstPosition(beyond have: VersionVector, ignoring ignored: OriginID? = nil) throws -> Int64? {
        try vector().entries.compactMap { entry -> Int64? in
            let known = have[entry.origin]
            guard entry.origin != ignored else { return nil }
            guard entry.version > known, let run = try runs.run(of: entry.origin, holding: known + 1) else {
                return nil
            }
            return max(run.seq(of: known + 1), run.firstSeq)
        }.min()
    }

    func cursor(
        over run: JournalRun, from seq: Int64, reading columns: JournalCursor.Columns = .all
    ) throws -> JournalCursor {
        try JournalCursor(
            db, run: run, from: seq, reading: columns, identity: identity, registry: registry, lives: lives,
            migrated: migrated)
    }

    func entry(at cursor: JournalCursor, in run: JournalRun) throws -> JournalEntry {
        let mask = try cursor.mask()
        var values: [Value] = []
        cursor.appendValues(of: mask, to: &values)
        return JournalEntry(
            seq: cursor.seq, origin: run.origin == identity.origin ? nil : run.origin, isLocal: run.isCaptured,
            version: cursor.version,
            shape: cursor.entry.shape, tableID: cursor.entry.table, shapeID: cursor.entry.id, known: run.known,
            operation: cursor.operation, life: cursor.life,
            stamp: cursor.stamp, mask: mask, values: values, key: cursor.key,
            written: try written?.values(at: cursor.seq) ?? [:], endsTransaction: cursor.endsTransaction,
            isKeyChange: cursor.isKeyChange, isMinted: cursor.isMinted, isCovering: cursor.isCovering,
            migration: cursor.migration)
    }
}

/// Collects cursor rows into a ``ChangeBatch``.
private struct BatchBuilder {
    /// The size of an origin (16 bytes) and a version (8 bytes). With Sync's `Limits`, a `bytesPerBatch` of 1
    /// MiB ends a batch with the run that brings its known entries to 43 691; that run has at most
    /// `originsPerVector`, 10 000. A receiver counts each vector at most twice, the second time when it adds
    /// the next run's entries to it. That is about a tenth of `knownEntriesPerBatch`, 1 << 20, above which a
    /// receiver always refuses a batch.
    private static let bytesPerKnownEntry = 24

    let written: WrittenValues?
    var batch = ChangeBatch()
    var weight = 0
    private(set) var weightOfLast = 0
    private var shapes: [Int64: Int] = [:]

    init(written: WrittenValues?) { self.written = written }

    /// Marks the last change as the end of a transaction.
    mutating func endTransaction() { batch.changes[batch.changes.count - 1].endsTransaction = true }

    mutating func append(_ cursor: JournalCursor, run: JournalRun) throws {
        let shape: Int
        if let known = shapes[cursor.entry.id] {
            shape = known
        } else {
            shape = batch.shapes.count
            batch.shapes.append(cursor.entry.wireShape)
            shapes[cursor.entry.id] = shape
        }
        let mask = try cursor.mask()
        let start = batch.values.count
        weightOfLast = cursor.appendValues(of: mask, to: &batch.values)
        try written?.restore(
            &batch.values, count: batch.values.count - start, at: cursor.seq, keyCount: cursor.entry.shape.keyCount,
            mask: mask)
        weight += weightOfLast
        let index = batch.changes.count
        batch.changes.append(
            Change(
                shape: shape, operation: cursor.operation, life: cursor.life, stamp: cursor.stamp, mask: mask,
                values: start..<batch.values.count, endsTransaction: false, isKeyChange: cursor.isKeyChange,
                isMinted: cursor.isMinted, isCovering: cursor.isCovering, migration: cursor.migration))
        if let last = batch.runs.indices.last, batch.runs[last].origin == run.origin,
            batch.runs[last].lastVersion + 1 == cursor.version, batch.runs[last].known == run.known
        {
            batch.runs[last].changes = batch.runs[last].changes.lowerBound..<(index + 1)
        } else {
            weight += BatchBuilder.bytesPerKnownEntry * run.known.entries.count
            batch.runs.append(
                Run(
                    origin: run.origin, firstVersion: cursor.version, changes: index..<(index + 1), known: run.known))
        }
    }

    mutating func take() -> ChangeBatch {
        defer { self = BatchBuilder(written: written) }
        return batch
    }

    /// Removes and returns the changes before the last one, when the last one weighs `bytes` or more by
    /// itself. That change then travels alone, so that peers refuse it only when it is itself too large for
    /// them.
    ///
    /// - Returns: nil when the last change weighs less, and when it is the only one.
    mutating func takeBeforeHeavyEnd(_ bytes: Int) -> ChangeBatch? {
        guard weightOfLast >= bytes, batch.changes.count > 1, var last = batch.changes.last,
            let run = batch.runs.last
        else { return nil }
        var alone = ChangeBatch()
        alone.shapes = [batch.shapes[last.shape]]
        alone.values = Array(batch.values[last.values])
        var before = batch
        before.values.removeSubrange(last.values)
        before.changes.removeLast()
        if run.changes.count > 1 {
            before.runs[before.runs.count - 1].changes = run.changes.dropLast()
        } else {
            before.runs.removeLast()
        }
        last.shape = 0
        last.values = alone.values.indices
        alone.changes = [last]
        alone.runs = [Run(origin: run.origin, firstVersion: run.lastVersion, changes: 0..<1, known: run.known)]
        batch = alone
        return before
    }
}
