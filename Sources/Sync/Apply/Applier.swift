import GRDB
import GRDBSQLite
import Journal

/// Applies changes to tables, journal and conflict ledger, inside one transaction of the merge connection.
///
/// Each change is appended to the journal whether it wins or not, so that other replicas can get it from
/// here. ``Merge`` decides what it does to its row, and ``RowStore`` holds rows that a constraint refuses.
final class Applier {
    struct Outcome {
        var applied = 0
        /// True when a change has lost values to another one.
        var hasConflicts = false
    }

    private let db: Database
    private let session: ApplySession
    private let concurrent: ConcurrentChanges
    private let appender: JournalAppender
    private var reader: JournalReader
    private let interpreter: RunInterpreter
    private let rows: RowStore
    private let lives: LifeCache
    private let contested: PolicyResolver
    private let time: Double
    private let hasManyOrigins: Bool
    private let mostShapes: Int
    private var latest: (shapes: [TableShape], entries: [ShapeRegistry.Entry], targets: [ShapeTarget])?
    private var met: MetRows
    /// The unseen writes of the rows that the present run has met.
    private var rivals: [TableKey: Rivals] = [:]
    /// The canonical bytes of the key of the current change.
    private var keyBytes: [UInt8] = []
    /// True when the writer of the present run had merged changes that are not here. What it wrote may mean a
    /// row whose insert is among these, and which had another life under the same key.
    private var isAhead = false
    private(set) var outcome = Outcome()

    /// - Parameters:
    ///   - hasManyOrigins: True when runs of different origins will be applied, which may conflict with each
    ///     other.
    ///   - functions: The functions of tables with the policy ``MergePolicy/custom(_:)``.
    ///   - limits: Only ``Limits/shapesPerFile`` applies here.
    ///   - time: The time of conflicts in the ledger, in seconds since 1970.
    init(
        _ db: Database, session: ApplySession, concurrent: ConcurrentChanges, meanings: KeyMeanings,
        hasManyOrigins: Bool, functions: ConflictFunctions, limits: Limits, time: Double
    ) throws {
        self.db = db
        self.session = session
        self.concurrent = concurrent
        self.time = time
        self.hasManyOrigins = hasManyOrigins
        mostShapes = limits.shapesPerFile
        appender = try JournalAppender(db)
        reader = try JournalReader(db)
        lives = try LifeCache(db)
        met = MetRows(db, time: time)
        rows = try RowStore(db, session: session, registry: appender.registry)
        contested = PolicyResolver(db, session: session, functions: functions)
        interpreter = RunInterpreter(
            db, session: session, meanings: meanings, rows: rows, contested: contested, time: time)
        concurrent.beginTransaction()
    }

    /// Applies the changes at `range` of a run that are new here.
    func apply(_ run: Run, changes range: Range<Int>, of batch: ChangeBatch) throws {
        let (entries, targets) = try destinations(of: batch.shapes)
        let firstVersion = run.firstVersion + Int64(range.lowerBound - run.changes.lowerBound)
        try concurrent.prepare(for: run, reader: reader)
        rivals = [:]
        let part = RunInterpreter.Part(
            run: run, range: range, firstVersion: firstVersion, firstSeq: appender.position, entries: entries)
        let moves = try settleKeys(of: part, batch)
        let (batch, replaced) = interpreter.interpret(part, of: batch)
        try appender.begin(origin: run.origin, firstVersion: firstVersion, known: run.known)
        isAhead = !session.domains.isEmpty && !appender.covers(run.known, of: run.origin)
        let firstSeq = try appender.append(batch.changes[range], shapes: entries, values: batch.values)
        try WrittenValues.note(replaced, db)
        if try Rekeying.record(moves, origins: appender.origins, time: time, db) > 0 { outcome.hasConflicts = true }
        var next = range.lowerBound
        while next < range.upperBound {
            let target = targets[batch.changes[next].shape]
            guard !target.entry.shape.isHidden else {
                // It is covered, and there is no row of it.
                next += 1
                continue
            }
            let stretch = try uncontested(next..<range.upperBound, of: batch, target)
            let end = try stretch.isEmpty ? next + 1 : rows.applyUncontested(stretch, of: batch, to: target)
            for index in next..<end {
                let offset = Int64(index - range.lowerBound)
                let place = Place(run: run, version: firstVersion + offset, seq: firstSeq + offset)
                if stretch.isEmpty { try apply(batch.changes[index], of: batch, at: place, to: target) }
                if hasManyOrigins { note(batch.changes[index], of: batch, at: place, target) }
            }
            next = end
        }
        outcome.applied += range.count
    }

    /// Settles who has the keys that inserts of the part contest.
    private func settleKeys(of part: RunInterpreter.Part, _ batch: ChangeBatch) throws -> [Rekeying.Move] {
        let contested = try interpreter.contestedKeys(part, of: batch, concurrent, registry: appender.registry)
        guard !contested.isEmpty else { return [] }
        // Settling moves entries to other keys, with what the ledger says about them.
        try recordLosses()
        let outcome = try interpreter.settle(contested)
        lives.set(outcome.lives)
        // Entries have moved to other keys.
        reader = try JournalReader(db)
        concurrent.reset()
        try concurrent.prepare(for: part.run, reader: reader)
        return outcome.moves
    }

    /// The local entries of the shapes of a batch, and the targets of their changes.
    private func destinations(of shapes: [TableShape]) throws -> ([ShapeRegistry.Entry], [ShapeTarget]) {
        // The runs of a batch share its shapes.
        if let latest, latest.shapes == shapes { return (latest.entries, latest.targets) }
        let known = appender.registry.entries.count
        let entries = try shapes.map { try appender.register($0) }
        let count = appender.registry.entries.count
        // A batch without new shapes is taken even when local migrations have exceeded the limit.
        guard count == known || count <= mostShapes else {
            throw SyncError(
                .tooLarge, "The file would hold more than \(mostShapes) table shapes",
                hint: "Look in _journal_tables for tables that nobody created, and find the peer that sends them.")
        }
        for entry in entries where entry.shownColumns == nil {
            // The shape is new and needs no backfill: its changes are shown as they arrive.
            try appender.show(Backfill.visible(entry, session: session), of: entry.id)
        }
        let targets = entries.map(session.target)
        latest = (shapes, entries, targets)
        return (entries, targets)
    }

    /// Completes the journal's part; then holds rows and shows held ones, until every constraint is
    /// satisfied.
    func finish() throws {
        try lives.write()
        try appender.finish()
        try recordLosses()
        try contested.resolve(into: rows)
        try rows.updateVisibility(all: false)
    }

    private func recordLosses() throws {
        if try met.record(origins: appender.origins) { outcome.hasConflicts = true }
    }

    // MARK: - Changes without a competing write

    /// The first changes of `range` that are alike and of the first life, and whose keys have no unseen
    /// write, or only unseen writes of other columns.
    private func uncontested(_ range: Range<Int>, of batch: ChangeBatch, _ target: ShapeTarget) throws -> Range<Int> {
        let kind = batch.changes[range.lowerBound]
        let none = range.lowerBound..<range.lowerBound
        let (context, entry) = (target.context, target.entry)
        if kind.operation == .insert, try !undecided(by: kind, context, entry).isEmpty { return none }
        guard kind.life == 1, !rows.isBesideHeldRows(context), !isAhead else { return none }
        let unseenWrites = concurrent.reaches(inTable: entry.table)
        // Two inserts with no common column besides the key can still differ in the key's spelling.
        if !unseenWrites.isEmpty, context.hasKeySpellings, kind.operation == .insert { return none }
        func isComparable(_ other: Int64) -> Bool {
            guard context.mergesByColumn else { return false }
            if other == entry.id { return true }
            guard let shape = appender.registry[other] else { return false }
            return context.translation(of: shape).isIdentity && context.translation(of: entry).isIdentity
        }
        let meetsNothing = unseenWrites.allSatisfy { other in
            other.isFirstLife && isComparable(other.shape)
                && other.mask.isDisjoint(with: kind.mask, ignoring: target.keyCount)
        }
        return range.prefix { index in
            let key = batch.values[batch.changes[index].values].prefix(target.keyCount)
            guard batch.changes[index].isLike(kind), !interpreter.isContested(key, of: entry) else { return false }
            if meetsNothing { return true }
            encodeKey(of: batch.changes[index], of: batch, target)
            return concurrent.leavesAlone(kind, entry: entry, key: keyBytes, isComparable: isComparable)
        }
    }

    /// Sets ``keyBytes``.
    private func encodeKey(of change: Change, of batch: ChangeBatch, _ target: ShapeTarget) {
        keyBytes.removeAll(keepingCapacity: true)
        Key.append(
            batch.values[change.values].prefix(target.keyCount), collations: target.context.collations, to: &keyBytes)
    }

    /// Remembers a change for later runs of other origins.
    private func note(_ change: Change, of batch: ChangeBatch, at place: Place, _ target: ShapeTarget) {
        encodeKey(of: change, of: batch, target)
        concurrent.append(
            change, seq: place.seq, version: place.version, entry: target.entry, key: keyBytes)
    }

    // MARK: - One change

    /// The position of a change in its origin's history and in the journal here.
    private struct Place {
        let run: Run
        let version: Int64
        let seq: Int64
    }

    private func apply(_ change: Change, of batch: ChangeBatch, at place: Place, to target: ShapeTarget) throws {
        let (context, entry) = (target.context, target.entry)
        let values = batch.values[change.values]
        let key = Key(values.prefix(target.keyCount), collations: context.collations)
        let tableKey = TableKey(table: entry.table, key: key)
        let rivals = rivals(of: tableKey, context)
        let arrived = ScannedChange(
            seq: place.seq, origin: place.run.origin, version: place.version, stamp: change.stamp, life: change.life,
            operation: change.operation, mask: change.mask, shape: entry, key: key, known: place.run.known,
            migration: change.migration)
        let effect = Merge.effect(of: RowWrite(arrived, in: context), against: rivals.contenders)
        if !rivals.unseen.isEmpty { met.add(arrived: arrived, to: tableKey, context) }
        let isNewLife = change.life > 1 ? try lives.raise(tableKey, to: change.life) : false
        // Neither had the writer seen these when it knew the row by another key.
        let mayBeOfEarlierLife = isAhead || interpreter.isContested(values.prefix(target.keyCount), of: entry)
        let isOfEarlierLife = try mayBeOfEarlierLife && change.life < lives.life(of: tableKey)
        try rows.apply(
            isOfEarlierLife ? .none : effect, of: change, isNewLife: isNewLife,
            isLatest: !context.hasKeySpellings || isLatest(change, at: place, among: rivals.unseen),
            defaults: computedDefaults(of: change, at: place, context, entry, among: rivals.unseen), key: tableKey,
            context: context, entry: entry, values: values)
        if !context.mergesByColumn, !rivals.unseen.isEmpty,
            let row = rows.id(of: tableKey, entry: entry, values: values)
        {
            contested.add(row)
        }
    }

    /// The changes of a row that the writer of the present run had not seen.
    private struct Rivals {
        let unseen: [ScannedChange]
        let contenders: Contenders
    }

    private func rivals(of key: TableKey, _ context: TableContext) -> Rivals {
        if let known = rivals[key] { return known }
        let unseen = concurrent.unseenWrites(table: key.table, key: key.key, registry: appender.registry)
        let found = Rivals(unseen: unseen, contenders: Contenders(unseen.map { RowWrite($0, in: context) }))
        // Most rows are met once, and then nothing is gained.
        if !unseen.isEmpty {
            rivals[key] = found
            met.add(unseen, to: key, context)
        }
        return found
    }

    /// The columns with a computed default that an insert does not carry.
    private func undecided(
        by insert: Change, _ context: TableContext, _ entry: ShapeRegistry.Entry
    ) throws -> ColumnMask {
        guard var columns = try session.computedDefaults(of: context)?.columns else { return ColumnMask() }
        columns.subtract(context.columns(insert.mask, of: entry))
        return columns
    }

    /// The computed defaults that belong to a change: it is the latest insert of its life, and no other change
    /// of that life carries the columns. Its writer had seen none that could.
    private func computedDefaults(
        of change: Change, at place: Place, _ context: TableContext, _ entry: ShapeRegistry.Entry,
        among others: [ScannedChange]
    ) throws -> [Int: Value] {
        guard change.operation == .insert else { return [:] }
        var columns = try undecided(by: change, context, entry)
        guard !columns.isEmpty else { return [:] }
        let order = WriteOrder(stamp: change.stamp, origin: place.run.origin)
        for other in others where other.life == change.life {
            if other.operation == .insert, order < other.order { return [:] }
            columns.subtract(context.columns(other.mask, of: other.shape))
        }
        return try session.computedDefaults(of: context)?.values(of: columns, for: order) ?? [:]
    }

    private func isLatest(_ change: Change, at place: Place, among others: [ScannedChange]) -> Bool {
        let order = WriteOrder(stamp: change.stamp, origin: place.run.origin, migration: change.migration)
        return others.allSatisfy { $0.life != change.life || $0.order < order }
    }
}
