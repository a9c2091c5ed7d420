/// Derives what the triggers leave out of local entries: the stamp and the life, entry after entry in journal order.
///
/// Both are functions of the journal's content alone, so every reader at every time gets the same answer:
/// - stamp = max(stamp of the entry before + 1, milliseconds of the capture << 16). Because remote entries stand in the same
///   journal, a local stamp is greater than every stamp that was merged before it, and a clock that steps back only makes the
///   counter run (Kulkarni, Demirbas et al., "Logical Physical Clocks", 2014).
/// - life: absent means 1. A delete of a living key makes the next even number, an insert on a dead key the next odd one. So does
///   an update: when a row that refers to itself takes a dead key, the action of its foreign key stands before the insert.
struct LocalFold {
    private(set) var stamp: Stamp
    /// Lives that changed since the journal's `_journal_lives` was written; the value wins over the table's.
    private(set) var lives: [TableKey: Int64] = [:]

    init(after stamp: Stamp) { self.stamp = stamp }

    struct TableKey: Hashable {
        let table: Int64
        let key: Key
    }

    /// - Parameter julianDay: The capture moment as the trigger stored it.
    mutating func stamp(capturedAt julianDay: Double) -> Stamp {
        stamp = Stamp.next(after: stamp, now: Stamp(julianDay: julianDay))
        return stamp
    }

    /// The life of a key after a local operation on it.
    ///
    /// - Parameter written: The life in `_journal_lives`, 1 when there is none.
    mutating func life(after operation: Operation, on key: TableKey, written: Int64) -> Int64 {
        let current = lives[key] ?? written
        let isAlive = current % 2 == 1
        let next =
            switch operation {
            case .delete: isAlive ? current + 1 : current
            case .insert, .update: isAlive ? current : current + 1
            }
        if next != current { lives[key] = next }
        return next
    }
}

extension Stamp {
    /// The stamp of a moment that SQLite's `julianday('now')` gave. A day number keeps 40 µs of precision in this century.
    init(julianDay: Double) {
        let milliseconds = ((julianDay - 2_440_587.5) * 86_400_000).rounded()
        self.init(milliseconds: Int64(exactly: milliseconds) ?? 0)
    }
}
