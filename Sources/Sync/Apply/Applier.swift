import GRDB
import GRDBSQLite
import Journal

/// Applies changes to tables, journal and ledger inside of one transaction of the merge connection.
///
/// Each change is appended to the journal whether it wins or not, so that others can get it from here. What it does to its row
/// is decided by ``Merge``; how a row that a constraint refuses is set aside, by ``RowStore``.
final class Applier {
    struct Outcome {
        var applied = 0
        var conflicts = 0
    }

    private let session: ApplySession
    private let appender: JournalAppender
    private let reader: JournalReader
    private let rows: RowStore
    private let lives: LifeCache
    private let values: JournalValues
    private let ledger: Ledger
    private let contested: ContestedRows
    private let time: Double
    private let hasManyOrigins: Bool
    /// The canonical bytes of the key of the change at hand.
    private var keyBytes: [UInt8] = []
    private(set) var outcome = Outcome()

    /// - Parameters:
    ///   - hasManyOrigins: True when runs of different origins will be applied, which may conflict with each other.
    ///   - functions: For tables whose conflicts a function decides.
    ///   - time: For the ledger, in seconds since 1970.
    init(
        _ db: Database, session: ApplySession, hasManyOrigins: Bool, functions: ConflictFunctions, time: Double
    ) throws {
        self.session = session
        self.time = time
        self.hasManyOrigins = hasManyOrigins
        appender = try JournalAppender(db)
        reader = try JournalReader(db)
        lives = try LifeCache(db)
        values = JournalValues(db)
        ledger = Ledger(db: db)
        rows = try RowStore(db, session: session, registry: appender.registry)
        contested = ContestedRows(db, session: session, functions: functions)
        session.concurrent.beginTransaction()
    }

    /// Applies the changes at `range` of a run that are new here.
    func apply(_ run: Run, changes range: Range<Int>, of batch: ChangeBatch) throws {
        let entries = try batch.shapes.map { try appender.register($0) }
        for entry in entries where entry.joined == nil {
            // Its changes are shown as they come.
            try appender.join(Joining.visible(entry, session: session), of: entry.id)
        }
        let firstVersion = run.firstVersion + Int64(range.lowerBound - run.changes.lowerBound)
        try session.concurrent.prepare(for: run, reader: reader)
        try appender.begin(origin: run.origin, firstVersion: firstVersion, known: run.known)
        var version = firstVersion
        for index in range {
            let change = batch.changes[index]
            try apply(
                change, version: version, run: run, entry: entries[change.shape], values: batch.values[change.values])
            version += 1
        }
        outcome.applied += range.count
    }

    /// Closes the journal's part; then sets rows aside and brings others back, until every constraint holds.
    func finish() throws {
        try lives.write()
        try appender.finish()
        try contested.resolve(into: rows)
        try rows.settle(all: false)
    }

    // MARK: - One change

    private func apply(
        _ change: Change, version: Int64, run: Run, entry: ShapeRegistry.Entry, values: ArraySlice<Value>
    ) throws {
        let context = session.context(of: entry)
        if change.life == 1, rows.held.isEmpty, isAlone(change, context: context, entry: entry, values: values) {
            let seq = try appender.append(change, shape: entry, values: values)
            try rows.applyUncontested(change, context: context, entry: entry, values: values)
            if hasManyOrigins {
                session.concurrent.append(change, seq: seq, version: version, entry: entry, key: keyBytes)
            }
            return
        }
        let key = Key(values.prefix(entry.shape.keyCount), collations: context.collations)
        let competitors = session.concurrent.competitors(table: entry.table, key: key, registry: appender.registry)
        let seq = try appender.append(change, shape: entry, values: values)
        let resolution = try resolve(
            change, seq: seq, version: version, run: run, context: context, entry: entry, values: values, key: key,
            competitors: competitors)
        let tableKey = ConcurrentChanges.TableKey(table: entry.table, key: key)
        let isNewLife = change.life > 1 ? try lives.raise(tableKey, to: change.life) : false
        try rows.apply(
            resolution.effect, of: change, isNewLife: isNewLife, key: tableKey, context: context, entry: entry,
            values: values)
        if !context.mergesByColumn, !competitors.isEmpty, let row = rows.id(of: tableKey, entry: entry, values: values)
        {
            contested.add(row)
        }
        if hasManyOrigins {
            session.concurrent.append(change, seq: seq, version: version, entry: entry, key: key.bytes)
        }
    }

    /// True when a change of the first life meets no other that its writer had not seen, or only such that touch other columns.
    private func isAlone(
        _ change: Change, context: TableContext, entry: ShapeRegistry.Entry, values: ArraySlice<Value>
    ) -> Bool {
        if session.concurrent.isEmpty && !hasManyOrigins { return true }
        // Two inserts without a column in common besides the key still differ in its spelling.
        if context.hasKeySpellings, change.operation == .insert { return false }
        keyBytes.removeAll(keepingCapacity: true)
        Key.append(values.prefix(entry.shape.keyCount), collations: context.collations, to: &keyBytes)
        return session.concurrent.leavesAlone(change, entry: entry, key: keyBytes) { other in
            guard context.mergesByColumn else { return false }
            if other == entry.id { return true }
            guard let shape = appender.registry[other] else { return false }
            return context.translation(of: shape).isIdentity && context.translation(of: entry).isIdentity
        }
    }

    private func resolve(
        _ change: Change, seq: Int64, version: Int64, run: Run, context: TableContext, entry: ShapeRegistry.Entry,
        values: ArraySlice<Value>, key: Key, competitors: [ScannedChange]
    ) throws -> Resolution {
        let incoming = Contender(
            origin: run.origin, version: version, stamp: change.stamp, life: change.life, operation: change.operation,
            columns: context.decided(change.mask, by: change.operation, of: entry))
        guard !competitors.isEmpty else { return Merge.resolve(incoming) }
        let contenders = competitors.map { other in
            Contender(
                origin: other.origin, version: other.version, stamp: other.stamp, life: other.life,
                operation: other.operation,
                columns: context.decided(other.mask, by: other.operation, of: other.shape))
        }
        let row = context.row(change, of: entry, values: values)
        let resolution = try Merge.resolve(
            incoming, against: contenders, losesWhole: context.losesWhole,
            isConcurrent: { !competitors[$0].knows(run.origin, version) },
            differs: { column, index in
                // It is the same key, however it is spelled.
                guard column >= context.keyCount else { return false }
                let shape = competitors[index].shape
                guard let position = context.translation(of: shape).positions.firstIndex(of: column) else {
                    return true
                }
                return try self.values.value(at: competitors[index].seq, column: position) != row[column]
            })
        for conflict in resolution.conflicts {
            let other = competitors[conflict.competitor]
            let incomingSide = Ledger.Side(
                origin: run.origin, version: version, life: change.life, stamp: change.stamp, seq: seq)
            let otherSide = Ledger.Side(
                origin: other.origin, version: other.version, life: other.life, stamp: other.stamp, seq: other.seq)
            var columns: [String] = []
            conflict.columns.forEach { if $0 >= context.keyCount { columns.append(context.names[$0]) } }
            try ledger.record(
                kind: conflict.kind, table: entry.table, key: key, columns: columns,
                lost: conflict.incomingLost ? incomingSide : otherSide,
                kept: conflict.incomingLost ? otherSide : incomingSide, origins: appender.origins, time: time)
            outcome.conflicts += 1
        }
        return resolution
    }
}

extension Merge {
    /// What a change does that competes with nothing: its writer had merged everything that is here of its key.
    static func resolve(_ incoming: Contender) -> Resolution {
        Resolution(effect: incoming.isAlive ? .write(incoming.columns) : .delete)
    }
}

/// The lives of keys during one transaction, written to `_journal_lives` at its end.
final class LifeCache {
    private let db: Database
    private let reader: LifeReader
    private var raised: [ConcurrentChanges.TableKey: Int64] = [:]

    init(_ db: Database) throws {
        self.db = db
        reader = try LifeReader(db)
    }

    /// - Returns: True when `life` is greater than what the key had before.
    func raise(_ key: ConcurrentChanges.TableKey, to life: Int64) throws -> Bool {
        let current = try raised[key] ?? reader.life(table: key.table, key: key.key)
        guard life > current else { return false }
        raised[key] = life
        return true
    }

    func write() throws {
        let sorted = raised.sorted {
            $0.key.table == $1.key.table
                ? $0.key.key.bytes.lexicographicallyPrecedes($1.key.key.bytes) : $0.key.table < $1.key.table
        }
        try Lives.raise(sorted.map { .init(table: $0.key.table, key: $0.key.key, life: $0.value) }, db)
    }
}
