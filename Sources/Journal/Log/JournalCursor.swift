import GRDB
import GRDBSQLite

/// Reads the rows of `_journal` in order, and derives the stamps and lives of local ones.
///
/// The cursor is on one row at a time. Its values are read on demand, so that skipped rows cost little.
final class JournalCursor {
    /// Which columns are read of each row.
    enum Columns {
        case all
        /// Without the values of columns that are not in a key: SQLite takes time for each column that it
        /// returns.
        case keys
    }

    private let statement: RawStatement
    private let maskWords: Int32
    private let registry: ShapeRegistry
    private let lives: LifeReader
    private var fold: LocalFold
    private let run: JournalRun
    private let isLocal: Bool
    private let sealedSeq: Int64
    private let marks: MintedMarks
    private let covering: CoveringInserts
    private let migrated: MigratedEntries?

    private(set) var seq: Int64 = 0
    private(set) var entry: ShapeRegistry.Entry
    private(set) var operation: Operation = .insert
    private(set) var stamp: Stamp = .zero
    private(set) var life: Int64 = 1
    private(set) var endsTransaction = false
    /// As in ``Change/isMinted``.
    private(set) var isMinted = false
    /// As in ``Change/isCovering``.
    private(set) var isCovering = false
    /// As in ``Change/migration``.
    private(set) var migration: MigrationRank?

    /// - Parameters:
    ///   - migrated: Which entries a migration wrote; nil when none is.
    ///   - run: The run to read. Of a received run, the cursor visits the rows from `seq` on. Of a local run,
    ///     the fold must start where its state is known: at the run's first row, or at the first row above
    ///     `sealed_seq`. With ``Columns/keys``, the cursor visits those rows, too.
    ///   - seq: The first position that the caller needs.
    ///   - end: The position behind the last row; nil for the end of the run.
    init(
        _ db: Database, run: JournalRun, from seq: Int64, to end: Int64? = nil, reading wanted: Columns,
        identity: Identity, registry: ShapeRegistry, lives: LifeReader, migrated: MigratedEntries?
    ) throws {
        isLocal = run.isCaptured
        var start: Int64
        switch Start(run, from: seq, sealedSeq: identity.sealedSeq) {
        case .anywhere:
            start = max(seq, run.firstSeq)
            fold = LocalFold(after: run.floor)
        case .run:
            start = run.firstSeq
            fold = LocalFold(after: run.floor)
        case .tail:
            start = identity.sealedSeq + 1
            fold = LocalFold(after: identity.sealedStamp)
        }
        if wanted == .all, start < seq {
            // The values of these rows may be large, and nobody asks for them.
            let before = try JournalCursor(
                db, run: run, from: seq, to: min(seq, run.endSeq), reading: .keys, identity: identity,
                registry: registry, lives: lives, migrated: nil)
            while try before.next() {}
            fold = before.fold
            start = seq
        }
        let columns = try JournalSchema.columns(of: "_journal", db)
        var valueCount = columns.filter { $0.hasPrefix("v") && Int($0.dropFirst()) != nil }.count
        if wanted == .keys { valueCount = min(valueCount, registry.widestKey) }
        maskWords = Int32(columns.filter { $0.hasPrefix("mask") }.count)
        let selected =
            ["seq", "tx", "shape", "op", "life", "stamp"]
            + (0..<Int(maskWords)).map { JournalSchema.maskColumn($0) } + (0..<valueCount).map { "v\($0)" }
        statement = try RawStatement(
            db, "SELECT \(selected.joined(separator: ", ")) FROM _journal WHERE seq >= ? AND seq < ? ORDER BY seq")
        try statement.bind(start, at: 1)
        try statement.bind(end ?? run.endSeq, at: 2)
        marks = try MintedMarks(db, from: start)
        covering = CoveringInserts(db, from: start)
        self.run = run
        self.registry = registry
        self.lives = lives
        self.migrated = migrated
        sealedSeq = identity.sealedSeq
        entry = ShapeRegistry.Entry(
            id: 0, table: 0, shape: TableShape(table: "", columns: [], keyCount: 0), wireName: "", collations: [],
            isTracked: false,
            shownColumns: nil)
    }

    /// Where the rows of a run can be read from, for a caller that needs those from a position on.
    private enum Start {
        /// A received run: each row has its stamp and life, so reading starts where the caller needs it.
        case anywhere
        /// A local run: the fold starts with the run, from the run's ``JournalRun/floor``.
        case run
        /// A local run that contains `sealed_seq`, of which only later rows are needed: the fold starts after
        /// `sealed_seq`, from `sealed_stamp`.
        case tail

        init(_ run: JournalRun, from seq: Int64, sealedSeq: Int64) {
            if !run.isCaptured {
                self = .anywhere
            } else if run.firstSeq <= sealedSeq, sealedSeq < seq {
                self = .tail
            } else {
                self = .run
            }
        }
    }

    var version: Int64 { run.version(at: seq) }

    /// True when the row holds its stamp, and not only the time of its capture (``FrozenStamps``).
    var hasStoredStamp: Bool { statement.type(5) == SQLITE_INTEGER }

    /// Moves to the next row.
    ///
    /// - Returns: False when there is no further row.
    /// - Throws: ``JournalError/Code/corrupt`` for a malformed row; errors of SQLite.
    func next() throws -> Bool {
        guard try statement.step() else { return false }
        seq = statement.int64(0)
        endsTransaction = statement.int64(1) > 0
        let shapeID = statement.int64(2)
        if shapeID != entry.id {
            guard let known = registry[shapeID] else { throw damage("names an unknown shape") }
            guard known.shape.keyCount > 0, known.shape.keyCount <= known.shape.columns.count else {
                throw damage("names a shape whose key is not among its columns")
            }
            entry = known
        }
        guard let operation = Operation(rawValue: statement.int64(3)) else { throw damage("has an unknown operation") }
        self.operation = operation
        isMinted = try operation == .insert && marks.marks(seq, shape: shapeID)
        if isLocal {
            stamp =
                hasStoredStamp
                ? fold.take(Stamp(rawValue: statement.int64(5))) : fold.stamp(capturedAt: statement.double(5))
            life = seq <= sealedSeq ? writtenLife : try foldedLife()
        } else {
            stamp = Stamp(rawValue: statement.int64(5))
            life = writtenLife
        }
        isCovering = try isMinted && takesHeldKey()
        migration = operation == .update ? try migrated?.rank(at: seq) : nil
        return true
    }

    /// The columns that the row carries. For an insert they include the key columns.
    ///
    /// - Throws: ``JournalError/Code/corrupt`` for a column that the row's shape does not have.
    func mask() throws -> ColumnMask {
        switch operation {
        case .insert where statement.isNull(6): return ColumnMask(all: entry.shape.columns.count)
        case .delete: return ColumnMask()
        case .insert, .update:
            let mask =
                maskWords == 1
                ? ColumnMask(word: UInt64(bitPattern: statement.int64(6)))
                : ColumnMask(words: (0..<maskWords).map { UInt64(bitPattern: statement.int64(6 + $0)) })
            guard !mask.reaches(beyond: entry.shape.columns.count, words: Int(maskWords)) else {
                throw damage("names a column that its shape does not have")
            }
            return mask
        }
    }

    /// As in ``Change/isKeyChange``.
    var isKeyChange: Bool { operation == .delete && !statement.isNull(6) }

    /// Appends the key values, then the values of the other columns of `mask`. The cursor must read all
    /// columns.
    ///
    /// - Returns: The sum of their weights (``Value/weight``).
    @discardableResult
    func appendValues(of mask: ColumnMask, to values: inout [Value]) -> Int {
        let first = 6 + maskWords
        var weight = 0
        func append(_ index: Int) {
            let value = statement.column(first + Int32(index))
            weight += value.weight
            values.append(value)
        }
        for index in 0..<entry.shape.keyCount { append(index) }
        mask.forEach { if $0 >= entry.shape.keyCount { append($0) } }
        return weight
    }

    var key: Key {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(24)
        appendKey(to: &bytes)
        return Key(bytes: bytes)
    }

    /// Appends the canonical bytes of the key (``Key``).
    func appendKey(to bytes: inout [UInt8]) {
        Key.append(
            statement, from: 6 + maskWords, count: entry.shape.keyCount, collations: entry.collations, to: &bytes)
    }

    /// The lives that rows above `sealed_seq` have changed, of those visited so far.
    var changedLives: [TableKey: Int64] { fold.lives }

    private var writtenLife: Int64 { statement.isNull(4) ? 1 : statement.int64(4) }

    private func foldedLife() throws -> Int64 {
        if operation != .delete, fold.lives.isEmpty, !lives.hasLives(table: entry.table) { return 1 }
        let key = TableKey(table: entry.table, key: key)
        let written = try lives.life(of: key)
        return fold.life(after: operation, on: key, written: written)
    }

    private func takesHeldKey() throws -> Bool {
        guard isLocal, seq > sealedSeq else { return try covering.contains(seq) }
        let key = key
        // The held row is alive. A row that another entry has deleted since is a local one.
        return try fold.lives[TableKey(table: entry.table, key: key)] == nil
            && covering.isHeld(table: entry.table, key: key)
    }

    private func damage(_ what: String) -> JournalError {
        JournalError(
            .corrupt, "Entry \(seq) of the journal \(what)",
            hint: "The tables named _journal… are Tandem's own; restore the file from a peer or a backup.")
    }
}

extension ColumnMask {
    /// True when the set has a column at position `count` or later. The set has at most `words` words.
    fileprivate func reaches(beyond count: Int, words: Int) -> Bool {
        let (last, bit) = count.quotientAndRemainder(dividingBy: ColumnMask.bitsPerWord)
        if word(last) >> UInt64(bit) != 0 { return true }
        var index = last + 1
        while index < words {
            if word(index) != 0 { return true }
            index += 1
        }
        return false
    }
}
