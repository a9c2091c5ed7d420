/// Derives the values that triggers do not store in local entries: the stamp and the life. It visits the
/// entries in journal order.
///
/// Both are functions of the journal's content alone, so every reader at every time gets the same answer:
/// - stamp = max(stamp of the entry before + 1, milliseconds of the capture << 16). Remote entries are in the
///   same journal, so a local stamp is greater than every stamp that was merged before it. When a clock steps
///   back, only the counter advances (Kulkarni, Demirbas et al., "Logical Physical Clocks", 2014).
/// - life: absent means 1. A delete of a living key gives the next even number, and an insert on a dead key
///   the next odd one (causal length: Yu and Rostad, "A Low-Cost Set CRDT Based on Causal Lengths", 2020). So
///   does an update on a dead key: when a row that refers to itself takes a dead key, the action of its
///   foreign key precedes the insert.
struct LocalFold {
    private(set) var stamp: Stamp
    /// The lives that differ from `_journal_lives`; they take precedence over the table.
    private(set) var lives: [TableKey: Int64] = [:]

    init(after stamp: Stamp) { self.stamp = stamp }

    /// Returns the stamp of the next local entry.
    ///
    /// - Parameter julianDay: The time of the capture as the trigger stored it.
    mutating func stamp(capturedAt julianDay: Double) -> Stamp {
        stamp = Stamp.next(after: stamp, now: Stamp(julianDay: julianDay))
        return stamp
    }

    /// Goes on from the stored stamp of a local entry (``FrozenStamps``), and returns it.
    mutating func take(_ stored: Stamp) -> Stamp {
        stamp = stored
        return stamp
    }

    /// Returns the life of a key after a local operation on it.
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
    /// Creates the stamp of a time that SQLite's `julianday('now')` returned. A day number has a precision of
    /// 40 µs in this century.
    init(julianDay: Double) {
        let milliseconds = ((julianDay - 2_440_587.5) * 86_400_000).rounded()
        self.init(milliseconds: Int64(exactly: milliseconds) ?? 0)
    }
}
