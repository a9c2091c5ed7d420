/// One change of one row, with columns numbered by the table's ``ColumnSpace``. A ``MergedRow`` is built from
/// these.
package struct RowChange<Cell> {
    /// The stamp of the change and its origin.
    package var order: WriteOrder
    /// The change's number among those of its origin, 1 or more.
    package var version: Int64
    /// The causal context: what the writer had merged.
    package var known: VersionVector
    /// The life of the key after the change, 1 or more: odd while the row exists, even after a delete.
    package var life: Int64
    /// What the change did.
    package var operation: Operation
    /// The primary key as the change spells it, in key order.
    package var key: [Cell]
    /// The values that the change carries besides the key, by column.
    package var cells: [(column: Int, cell: Cell)]

    package init(
        order: WriteOrder, version: Int64, known: VersionVector, life: Int64, operation: Operation, key: [Cell],
        cells: [(column: Int, cell: Cell)]
    ) {
        self.order = order
        self.version = version
        self.known = known
        self.life = life
        self.operation = operation
        self.key = key
        self.cells = cells
    }
}

/// The merged row of a set of changes of one key. This is the only such fold in the project.
///
/// It is pure. Every feature that needs a row as the journal implies it uses this type: backfill,
/// reconciliation, policies, claims, row history, key renewal, repair. Merging itself decides change by
/// change (`Merge`) and arrives at the same row. A property test compares both with the reference model.
///
/// Invariants:
/// 1. The result depends on the base and on the set of changes, never on the order in which they are added.
/// 2. Only changes of the greatest life count. A dead row has no columns.
/// 3. Each column keeps the change with the greatest ``WriteOrder``. The latest insert decides how the key is
///    spelled; without an insert, the latest change does.
/// 4. A base counts as one insert that every writer has seen, so every change of the same life wins against
///    it.
///
/// `Cell` is a value, the hash of a value, the place where a value is stored, or nothing.
package struct MergedRow<Cell> {
    /// The change that a column shows.
    package struct Winner {
        package let order: WriteOrder
        package let cell: Cell

        package init(order: WriteOrder, cell: Cell) {
            self.order = order
            self.cell = cell
        }
    }

    /// A merged row without the changes from which it was merged.
    package struct Base {
        /// The life of the key, 1 or more.
        package var life: Int64
        /// The primary key, in key order.
        package var key: [Cell]
        /// The values by column, without the key. The order is ``WriteOrder/eldest`` unless a claim still
        /// needs it.
        package var cells: [Int: Winner]

        package init(life: Int64, key: [Cell], cells: [Int: Winner]) {
            self.life = life
            self.key = key
            self.cells = cells
        }
    }

    /// How concurrent changes of the table merge.
    package let policy: MergePolicy
    /// The greatest life among the changes; 0 before the first change.
    package private(set) var life: Int64 = 0
    /// True when an insert of the present life is among the changes, so that the row has all its columns.
    package private(set) var isWhole = false
    /// The primary key as it is spelled, in key order.
    package private(set) var key: [Cell] = []
    /// The changes that the columns show, by column; nil when no change of the present life carries the
    /// column, and for the key.
    package private(set) var winners: [Winner?] = []
    private var keyRank: (isInsert: Bool, order: WriteOrder) = (false, .eldest)
    /// The changes of the present life, when ``policy`` needs more of them than the winners.
    private var changes: [KeyHistory<Cell>.Change] = []

    /// - Parameters:
    ///   - policy: The table's policy.
    ///   - base: The row before the first change that is added; nil when there is none.
    package init(policy: MergePolicy = .column, base: Base? = nil) {
        self.policy = policy
        guard let base else { return }
        life = base.life
        key = base.key
        guard isAlive else { return }
        isWhole = true
        keyRank = (true, .eldest)
        for (column, winner) in base.cells { offer(winner, for: column) }
        keep(.init(order: .eldest, version: 0, known: VersionVector(), cells: base.cells.mapValues(\.cell)))
    }

    /// The latest insert of the present life; nil while none is among the changes.
    package var insertOrder: WriteOrder? { isWhole && keyRank.isInsert ? keyRank.order : nil }

    /// False for a deleted row, and before the first change.
    package var isAlive: Bool { life % 2 == 1 }

    /// Adds a change; the order does not matter. Each change may be added once.
    package mutating func add(_ change: RowChange<Cell>) {
        guard change.life >= life else { return }
        if change.life > life {
            self = MergedRow(policy: policy)
            life = change.life
        }
        let rank = (isInsert: change.operation == .insert, order: change.order)
        if key.isEmpty || (rank.isInsert == keyRank.isInsert ? rank.order > keyRank.order : rank.isInsert) {
            key = change.key
            keyRank = rank
        }
        guard isAlive else { return }
        if rank.isInsert { isWhole = true }
        if let last = change.cells.last?.column { reserve(last) }
        for (column, cell) in change.cells { offer(Winner(order: change.order, cell: cell), for: column) }
        keep(
            .init(
                order: change.order, version: change.version, known: change.known,
                cells: policy == .column ? [:] : Dictionary(change.cells.map { ($0, $1) }) { $1 }))
    }

    private mutating func offer(_ winner: Winner, for column: Int) {
        reserve(column)
        if let before = winners[column], before.order > winner.order { return }
        winners[column] = winner
    }

    private mutating func reserve(_ column: Int) {
        if column >= winners.count { winners += Array(repeating: nil, count: column + 1 - winners.count) }
    }

    private mutating func keep(_ change: KeyHistory<Cell>.Change) {
        if policy != .column { changes.append(change) }
    }

    // MARK: - The row under the policy

    /// The changes of the present life. It is empty under ``MergePolicy/column``, which does not need them.
    package var history: KeyHistory<Cell> { KeyHistory(changes: changes) }

    /// True when the policy merges whole rows and the present life has concurrent changes.
    package var isContested: Bool { policy != .column && history.hasConflict }

    /// The value of each column's latest change, independent of the policy; nil when no change carries the
    /// column.
    package var latestCells: [Cell?] { winners.map { $0?.cell } }

    /// Returns the row's values by column. A value is nil when no change that counts carries the column, and
    /// for the key.
    ///
    /// - Returns: nil when a function must decide (``MergePolicy/custom(_:)``).
    package func row() -> [Cell?]? {
        guard policy != .column else { return latestCells }
        let history = history
        if case .custom = policy, history.hasConflict { return nil }
        let image = history.latestRow()
        return winners.indices.map { image[$0] }
    }

    /// Returns the write order with which the row holds its values in `columns`: that of its latest change to
    /// one of them. The columns of the key, which are the first ones, were last written by the latest insert.
    ///
    /// - Returns: ``WriteOrder/eldest`` when no change of the present life carries one of the columns.
    package func claim(on columns: ColumnMask) -> WriteOrder {
        var claim = WriteOrder.eldest
        if let insertOrder, key.indices.contains(where: columns.contains) { claim = insertOrder }
        for (column, winner) in winners.enumerated() where columns.contains(column) {
            if let winner { claim = max(claim, winner.order) }
        }
        return claim
    }
}
