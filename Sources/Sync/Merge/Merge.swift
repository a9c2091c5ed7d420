import Journal

/// One change of one row as merging sees it: a value, with its columns as positions in the table's common column space.
public struct RowWrite: Hashable, Sendable {
    /// The replica that wrote the change.
    public let origin: OriginID
    /// The change's number among those of ``origin``, 1 or more. Not part of the claim.
    public let version: Int64
    /// When it was written, by its writer's hybrid clock: the claim, together with ``origin``.
    public let stamp: Stamp
    /// The life of the key after the change, 1 or more: odd alive, even dead.
    public let life: Int64
    /// What the change did. Whether the row is alive ``life`` alone tells.
    public let operation: Journal.Operation
    /// What the change decides; the key columns too where an insert decides how the key is spelled.
    public let columns: ColumnMask

    /// - Parameters:
    ///   - origin: The replica that wrote the change.
    ///   - version: Its number among those of `origin`, 1 or more.
    ///   - stamp: When it was written, by its writer's hybrid clock.
    ///   - life: Of the key after the change, 1 or more.
    ///   - operation: What it did.
    ///   - columns: What it decides, in the numbering that all contenders of the row share.
    public init(
        origin: OriginID, version: Int64, stamp: Stamp, life: Int64, operation: Journal.Operation, columns: ColumnMask
    ) {
        self.origin = origin
        self.version = version
        self.stamp = stamp
        self.life = life
        self.operation = operation
        self.columns = columns
    }

    var isAlive: Bool { life % 2 == 1 }

    /// The order of claims: later stamps are greater, ties go to the greater origin. Total over different origins.
    static func < (a: RowWrite, b: RowWrite) -> Bool {
        (a.stamp, a.origin) < (b.stamp, b.origin)
    }
}

/// Why a change and another that had not seen it could not both stay.
public enum ConflictKind: String, Sendable, Hashable {
    /// Both wrote the same columns with other values, and at least one of them did not make the row.
    case updateUpdate = "update/update"
    /// One wrote the row, the other deleted it, or deleted it and made it anew.
    case updateDelete = "update/delete"
    /// Both made a row with the same key.
    case insertInsert = "insert/insert"
}

/// What merging one change into a row means.
public struct Resolution: Hashable, Sendable {
    /// What becomes of the row in its table.
    public enum Effect: Hashable, Sendable {
        /// The row stays as it is.
        case none
        /// The row goes.
        case delete
        /// These columns of the change are written; a row that is not there is made.
        case write(ColumnMask)
    }

    /// A pair of changes of which one lost something against the other.
    public struct Conflict: Hashable, Sendable {
        /// What the two changes did.
        public let kind: ConflictKind
        /// The position of the other change among the unseenWrites.
        public let unseenWrite: Int
        /// True when the change that is merged has lost; false when the unseenWrite has.
        public let incomingLost: Bool
        /// What was lost: the columns whose values differ; all of the loser's when a life decided.
        public let columns: ColumnMask
    }

    /// What becomes of the row in its table.
    public var effect: Effect
    /// What was lost, in the order of the unseenWrites, one entry for each at most; empty when nothing was.
    public var conflicts: [Conflict] = []
}

/// The rules of `docs/CONFLICTS.md` for one key, as a pure function.
///
/// Correct because of what the unseenWrites are: all changes of the key that are here and that the incoming change's writer
/// had not merged. Everything else here was merged by that writer before it wrote, so the incoming stamp is greater and its
/// life at least as great (see ``Stamp/next(after:now:)`` and ``LocalFold``), and the incoming change wins against it without a
/// look. Hence the outcome depends on the set of changes only, and the cost on the concurrent ones only.
public enum Merge {
    /// - Parameters:
    ///   - unseenWrites: As above; in any order.
    ///   - isConcurrent: True when the writer of that unseenWrite had not seen the incoming change either. Only then is a loss
    ///     a conflict; a relay can bring an overwrite before what it overwrote.
    ///   - losesWhole: True when of two changes that had not seen each other one stays whole (``MergePolicy/row``), so that the other
    ///     loses all its columns.
    ///   - differs: True when the two changes carry different values for a column that both have.
    public static func resolve(
        _ incoming: RowWrite, against unseenWrites: [RowWrite], losesWhole: Bool = false,
        isConcurrent: (Int) throws -> Bool, differs: (_ column: Int, _ unseenWrite: Int) throws -> Bool
    ) rethrows -> Resolution {
        let greatestLife = unseenWrites.reduce(0) { max($0, $1.life) }
        var resolution = Resolution(effect: .none)
        if incoming.life > greatestLife || (incoming.life == greatestLife && incoming.isAlive) {
            resolution.effect = incoming.isAlive ? .write(winningColumns(incoming, unseenWrites)) : .delete
        }
        for (index, unseenWrite) in unseenWrites.enumerated() {
            if let conflict = try conflict(
                incoming, unseenWrite, index: index, losesWhole: losesWhole, isConcurrent: isConcurrent,
                differs: differs
            ) {
                resolution.conflicts.append(conflict)
            }
        }
        return resolution
    }

    /// The columns for which no unseenWrite of the same life has a greater claim.
    private static func winningColumns(_ incoming: RowWrite, _ unseenWrites: [RowWrite]) -> ColumnMask {
        var columns = incoming.columns
        for unseenWrite in unseenWrites where unseenWrite.life == incoming.life && incoming < unseenWrite {
            columns.subtract(unseenWrite.columns)
        }
        return columns
    }

    private static func conflict(
        _ incoming: RowWrite, _ unseenWrite: RowWrite, index: Int, losesWhole: Bool,
        isConcurrent: (Int) throws -> Bool, differs: (Int, Int) throws -> Bool
    ) rethrows -> Resolution.Conflict? {
        if incoming.life != unseenWrite.life {
            let incomingLost = incoming.life < unseenWrite.life
            let loser = incomingLost ? incoming : unseenWrite
            // A delete that meets a later life lost nothing: the row was deleted, and somebody made it anew.
            guard loser.isAlive, try isConcurrent(index) else { return nil }
            return Resolution.Conflict(
                kind: .updateDelete, unseenWrite: index, incomingLost: incomingLost, columns: loser.columns)
        }
        guard incoming.isAlive else { return nil }
        let shared = incoming.columns.intersection(unseenWrite.columns)
        guard !shared.isEmpty || losesWhole, try isConcurrent(index) else { return nil }
        var columns = losesWhole ? (incoming < unseenWrite ? incoming : unseenWrite).columns : shared
        try shared.forEach { column in
            if try !differs(column, index) { columns.remove(column) }
        }
        guard !columns.isEmpty else { return nil }
        let bothInsert = incoming.operation == .insert && unseenWrite.operation == .insert
        return Resolution.Conflict(
            kind: bothInsert ? .insertInsert : .updateUpdate, unseenWrite: index, incomingLost: incoming < unseenWrite,
            columns: columns)
    }
}
