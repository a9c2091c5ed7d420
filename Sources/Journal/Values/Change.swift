/// What a change does to its row.
public enum Operation: Int64, Sendable {
    /// A row was inserted, possibly again after a delete. The change carries every column.
    case insert = 1
    /// Columns of a row were changed. The change carries these columns and the key.
    case update = 2
    /// A row was deleted. The change carries the key.
    case delete = 3
}

/// One journalled change of one row, as part of a ``ChangeBatch`` that holds its shape and its values.
public struct Change: Hashable, Sendable {
    /// The index of the change's ``TableShape`` in ``ChangeBatch/shapes``.
    public var shape: Int
    /// What was done to the row.
    public var operation: Operation

    /// The life of the key after this change: odd while the row exists, even after a delete, 1 for a key that
    /// was never deleted.
    public var life: Int64
    /// The stamp of the change, by its writer's clock.
    public var stamp: Stamp

    /// The columns that the change carries besides the key, as positions in ``TableShape/columns``: all for
    /// an insert, the changed ones for an update, none for a delete.
    public var mask: ColumnMask

    /// The range of the change's values in ``ChangeBatch/values``: the key columns first, then one value for
    /// each column of ``mask`` that is not a key column, ascending.
    public var values: Range<Int>

    /// True for the last change of a transaction, and for the last change of the snapshot from which the
    /// batch was read.
    public var endsTransaction: Bool

    /// True for a delete that is the first half of a key change: the next version of its origin inserts the
    /// row under its new key. Merging treats it like any other delete. The conflict ledger shows the
    /// difference.
    public var isKeyChange: Bool

    /// True for an insert whose key SQLite chose, because the program gave none. Such an insert always means
    /// a new row, so it never merges with another insert of the key; see `docs/CONFLICTS.md`.
    public var isMinted: Bool

    /// True for an insert with ``isMinted`` whose key a row had that was held in the writer's file. The
    /// writer had merged that row, and no program could see it.
    public var isCovering: Bool

    /// What an update has of the migration that wrote it; nil for a user's change, and for what is no update.
    public var migration: MigrationRank?

    /// Creates a change. ``ChangeBatch/checkInvariants()`` checks whether it fits its batch.
    public init(
        shape: Int, operation: Operation, life: Int64, stamp: Stamp, mask: ColumnMask, values: Range<Int>,
        endsTransaction: Bool, isKeyChange: Bool = false, isMinted: Bool = false,
        isCovering: Bool = false, migration: MigrationRank? = nil
    ) {
        self.shape = shape
        self.operation = operation
        self.life = life
        self.stamp = stamp
        self.mask = mask
        self.values = values
        self.endsTransaction = endsTransaction
        self.isKeyChange = isKeyChange
        self.isMinted = isMinted
        self.isCovering = isCovering
        self.migration = migration
    }
}

/// Consecutive versions of one origin, written with one causal context.
public struct Run: Hashable, Sendable {
    /// The replica that wrote the changes.
    public var origin: OriginID

    /// The version of the first change of ``changes``; the others follow without a gap.
    public var firstVersion: Int64

    /// The range of the run's changes in ``ChangeBatch/changes``; not empty.
    public var changes: Range<Int>

    /// The causal context: what the origin had merged from others when it wrote these changes. It has no
    /// entry for ``origin`` itself.
    public var known: VersionVector

    /// - Parameters:
    ///   - origin: The replica that wrote the changes.
    ///   - firstVersion: 1 or more.
    ///   - changes: The range of the run's changes in ``ChangeBatch/changes``; not empty.
    ///   - known: The causal context, without an entry for `origin`.
    public init(origin: OriginID, firstVersion: Int64, changes: Range<Int>, known: VersionVector) {
        self.origin = origin
        self.firstVersion = firstVersion
        self.changes = changes
        self.known = known
    }

    /// The version of the last change.
    public var lastVersion: Int64 { firstVersion + Int64(changes.count) - 1 }
}

/// A part of a journal in transfer: runs of changes in the order of the sender's journal.
///
/// Invariants, which ``checkInvariants()`` and the decoder for batches of peers check:
/// 1. The runs' ranges follow one another and cover ``changes`` exactly.
/// 2. Each change's values follow those of the change before, and the changes cover ``values`` exactly.
/// 3. A change has as many values as its shape has key columns plus non-key columns in its mask.
public struct ChangeBatch: Hashable, Sendable {
    /// The shapes to which the changes refer, each once.
    public var shapes: [TableShape] = []
    /// The runs that divide ``changes`` by origin and causal context, in the order of ``changes``.
    public var runs: [Run] = []
    /// The changes, in the order of the sender's journal.
    public var changes: [Change] = []
    /// The values of all changes, one after another.
    public var values: [Value] = []

    /// A batch without changes.
    public init() {}

    /// True when it has no change.
    public var isEmpty: Bool { changes.isEmpty }

    /// The values of the primary key of `change`.
    public func key(of change: Change) -> ArraySlice<Value> {
        values[change.values].prefix(shapes[change.shape].keyCount)
    }

    /// Returns a description of the first broken invariant; nil when all hold.
    public func checkInvariants() -> String? {
        var nextChange = 0
        for run in runs {
            guard run.changes.lowerBound == nextChange, !run.changes.isEmpty else { return "runs leave a gap" }
            guard run.firstVersion > 0 else { return "a version below 1" }
            nextChange = run.changes.upperBound
        }
        guard nextChange == changes.count else { return "changes outside of every run" }
        var nextValue = 0
        var latest: (shape: Int, mask: ColumnMask)?
        var expected = 0
        for change in changes {
            // Consecutive changes mostly have the same shape and mask.
            if change.shape != latest?.shape || change.mask != latest?.mask {
                guard shapes.indices.contains(change.shape) else { return "an unknown shape" }
                let shape = shapes[change.shape]
                var outside = false
                expected = shape.keyCount
                change.mask.forEach { column in
                    if column >= shape.columns.count { outside = true }
                    if column >= shape.keyCount { expected += 1 }
                }
                guard !outside else { return "a column outside of its shape" }
                latest = (change.shape, change.mask)
            }
            guard change.values == nextValue..<(nextValue + expected) else { return "values out of step" }
            nextValue = change.values.upperBound
        }
        return nextValue == values.count ? nil : "values outside of every change"
    }
}
