import Journal

/// How two concurrent changes of one row conflict.
package enum ConflictKind: String, Sendable, Hashable {
    /// Both wrote different values to the same columns, and at most one of them inserted the row.
    case updateUpdate = "update/update"
    /// One wrote the row; the other deleted it, or deleted it and inserted it again.
    case updateDelete = "update/delete"
    /// Both inserted a row with the same key.
    case insertInsert = "insert/insert"

    /// What the conflict ledger calls it.
    var entryKind: ConflictEntry.Kind {
        switch self {
        case .updateUpdate: .updateUpdate
        case .updateDelete: .updateDelete
        case .insertInsert: .insertInsert
        }
    }
}

/// A change that lost values to concurrent changes of the same row.
package struct Loss: Hashable, Sendable {
    /// The position of the change that lost.
    package let loser: Int
    /// The position of the change to which it lost: of several, the one with the greatest life, and among these
    /// the last in the write order.
    package let winner: Int
    /// What the two did.
    package let kind: ConflictKind
    /// What was lost to any of them: the columns whose values differ, or all columns of the loser when the
    /// lives differ. No key columns.
    package let columns: ColumnMask
}

extension Merge {
    /// A change, and what its writer had merged.
    package struct Participant: Sendable {
        package let write: RowWrite
        package let known: VersionVector

        package init(_ write: RowWrite, known: VersionVector) {
            self.write = write
            self.known = known
        }

        /// True when the writer had merged `other`, or had written it before.
        func knows(_ other: Participant) -> Bool {
            let (origin, version) = (other.write.origin, other.write.version)
            return origin == write.origin ? write.version >= version : known[origin] >= version
        }

        /// True when both know the same changes of third origins and of each other's.
        func isOfRun(of other: Participant) -> Bool { write.origin == other.write.origin && known == other.known }
    }

    /// Finds what the changes of one row lose to each other. Two changes conflict when neither writer had
    /// merged the other's change: a relay can deliver an overwrite before what it overwrote. Two changes that
    /// were both here before have met already.
    ///
    /// What a migration did to a row that it found is nobody's edit, so it loses nothing.
    ///
    /// Each change is compared with the latest ones that may win against it, and only until each of its
    /// columns is found lost. Hence the cost is near to linear in the number of changes where values differ.
    ///
    /// - Parameters:
    ///   - changes: The changes of the row, those that have arrived first.
    ///   - arrived: How many have arrived.
    ///   - keyCount: The number of key columns. They do not differ: two spellings are the same key.
    ///   - losesWhole: True when the loser of two concurrent changes loses all its columns
    ///     (``MergePolicy/row``).
    ///   - value: Returns the value that a change carries for a column that it sets.
    /// - Returns: At most one loss for each change, in the order of `changes`.
    package static func losses(
        among changes: [Participant], arrived: Int, keyCount: Int, losesWhole: Bool = false,
        value: (_ change: Int, _ column: Int) throws -> Value
    ) rethrows -> [Loss] {
        var search = LossSearch(changes, arrived: arrived, losesWhole: losesWhole)
        var losses: [Loss] = []
        for loser in changes.indices where changes[loser].write.isAlive && !changes[loser].write.isMigration {
            if let loss = try search.loss(of: loser, keyCount: keyCount, value: value) { losses.append(loss) }
        }
        return losses
    }
}

/// The search for the changes that win against others of one row.
private struct LossSearch {
    /// The changes that may win values of one column in one life, or the row in any life.
    private struct Ladder {
        struct Step {
            let change: Int
            /// The number of the value that the change carries; nil when it carries none.
            let value: Int?
            /// The nearest lower step of another run, and of another value; -1 when there is none.
            let otherRun: Int
            let otherValue: Int
        }
        /// By life, then by the write order.
        var steps: [Step] = []
    }

    private struct Place: Hashable {
        /// nil for all lives and no column.
        let life: Int64?
        let column: Int
        /// True when only changes that have arrived may win.
        let isArrivedOnly: Bool
    }

    /// A value as far as equality matters. A long one is kept as its digest.
    private enum Content: Hashable {
        case short(Value)
        case long([UInt8])
    }

    private let changes: [Merge.Participant]
    private let arrived: Int
    private let losesWhole: Bool
    /// All changes by life, then by the write order.
    private let order: [Int]
    /// The position of each change in ``order``.
    private var ranks: [Int]
    private var ladders: [Place: Ladder] = [:]
    private var contents: [Int: [Content: Int]] = [:]

    init(_ changes: [Merge.Participant], arrived: Int, losesWhole: Bool) {
        self.changes = changes
        self.arrived = arrived
        self.losesWhole = losesWhole
        order = changes.indices.sorted {
            let (a, b) = (changes[$0].write, changes[$1].write)
            return a.life == b.life ? a < b : a.life < b.life
        }
        ranks = [Int](repeating: 0, count: changes.count)
        for (rank, change) in order.enumerated() { ranks[change] = rank }
    }

    mutating func loss(of loser: Int, keyCount: Int, value: (Int, Int) throws -> Value) rethrows -> Loss? {
        let write = changes[loser].write
        var columns = write.columns
        for column in 0..<keyCount { columns.remove(column) }
        if let winner = winnerOfLaterLife(than: loser) {
            return Loss(loser: loser, winner: winner, kind: .updateDelete, columns: columns)
        }
        var lost = ColumnMask()
        var greatest: Int?
        try columns.forEach { column in
            guard let winner = try winner(of: column, from: loser, value) else { return }
            lost.insert(column)
            if greatest.map({ ranks[$0] < ranks[winner] }) ?? true { greatest = winner }
        }
        guard let greatest else { return nil }
        let bothInsert = write.operation == .insert && changes[greatest].write.operation == .insert
        return Loss(
            loser: loser, winner: greatest, kind: bothInsert ? .insertInsert : .updateUpdate, columns: lost)
    }

    /// A delete loses nothing against a later life: the row was deleted, and then inserted again.
    private mutating func winnerOfLaterLife(than loser: Int) -> Int? {
        let life = changes[loser].write.life
        guard let last = order.last, changes[last].write.life > life else { return nil }
        let place = Place(life: nil, column: -1, isArrivedOnly: loser >= arrived)
        let ladder =
            ladders[place] ?? ladder(of: order.filter { !place.isArrivedOnly || $0 < arrived }.map { ($0, nil) })
        ladders[place] = ladder
        return winner(from: loser, in: ladder, value: nil) { changes[$0].write.life > life }
    }

    private mutating func winner(
        of column: Int, from loser: Int, _ value: (Int, Int) throws -> Value
    ) rethrows -> Int? {
        let life = changes[loser].write.life
        let place = Place(life: life, column: column, isArrivedOnly: loser >= arrived)
        var ladder = ladders[place]
        if ladder == nil {
            let rivals = order.filter {
                let write = changes[$0].write
                return write.life == life && (losesWhole || write.columns.contains(column))
                    && (!place.isArrivedOnly || $0 < arrived)
            }
            // Most changes are the latest of their columns: no value needs to be read.
            guard let last = rivals.last, ranks[last] > ranks[loser] else { return nil }
            ladder = try self.ladder(
                of: rivals.map {
                    guard changes[$0].write.columns.contains(column) else { return ($0, nil) }
                    return try ($0, number(of: value($0, column), in: column))
                })
            ladders[place] = ladder
        }
        guard let ladder, let last = ladder.steps.last, ranks[last.change] > ranks[loser] else { return nil }
        let own = try number(of: value(loser, column), in: column)
        return winner(from: loser, in: ladder, value: own) { _ in true }
    }

    /// The latest change of the ladder that wins against `loser`.
    ///
    /// - Parameter value: The number of the loser's value; a change with the same one takes nothing away.
    private func winner(from loser: Int, in ladder: Ladder, value: Int?, _ isWinner: (Int) -> Bool) -> Int? {
        var position = ladder.steps.count - 1
        while position >= 0 {
            let step = ladder.steps[position]
            guard ranks[step.change] > ranks[loser], isWinner(step.change) else { return nil }
            if let value, step.value == value {
                position = step.otherValue
            } else if changes[step.change].knows(changes[loser]) {
                // So do the changes of the same run, or the loser's own writer wrote both.
                position = step.otherRun
            } else if changes[loser].knows(changes[step.change]) {
                position -= 1
            } else {
                return step.change
            }
        }
        return nil
    }

    private func ladder(of rivals: [(change: Int, value: Int?)]) -> Ladder {
        var ladder = Ladder()
        ladder.steps.reserveCapacity(rivals.count)
        for (index, rival) in rivals.enumerated() {
            let below = ladder.steps.last
            let isOfRun = below.map { changes[$0.change].isOfRun(of: changes[rival.change]) } ?? false
            let isEqual = rival.value != nil && below?.value == rival.value
            ladder.steps.append(
                .init(
                    change: rival.change, value: rival.value, otherRun: isOfRun ? below?.otherRun ?? -1 : index - 1,
                    otherValue: isEqual ? below?.otherValue ?? -1 : index - 1))
        }
        return ladder
    }

    /// Numbers the values of a column, so that equal ones have one number.
    private mutating func number(of value: Value, in column: Int) -> Int {
        let content: Content =
            switch value {
            case .text(let bytes) where bytes.count > 64: .long([1] + SHA256.digest(of: Array(bytes)))
            case .blob(let bytes) where bytes.count > 64: .long([2] + SHA256.digest(of: Array(bytes)))
            default: .short(value)
            }
        if let known = contents[column]?[content] { return known }
        let number = contents[column]?.count ?? 0
        contents[column, default: [:]][content] = number
        return number
    }
}
