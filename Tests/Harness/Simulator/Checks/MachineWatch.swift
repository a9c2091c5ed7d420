import Journal
import MergeModel

/// What is checked of one machine after each event that changed its file.
struct MachineWatch {
    /// Transactions whose tokens stood in the file once, or whose commit was acknowledged: they stay for ever (P3).
    private(set) var kept: Set<Int> = []
    private(set) var vector = VersionVector()
    private(set) var origin: OriginID?
    private(set) var registers = RegisterHistory()
    private var isHolding = false
    private var setAside = 0
    private var promised = VersionVector()
    /// What the file held before a crash left it a commit that was not synced.
    private var certain: (kept: Set<Int>, vector: VersionVector)?

    mutating func acknowledge(_ transaction: Int) { kept.insert(transaction) }

    /// From now on the file may show a commit that a loss of power takes.
    mutating func remember() { certain = (kept, vector) }

    /// Somebody was told that the file has this (P4).
    mutating func promise(_ vector: VersionVector) { promised.merge(vector) }

    /// The power went before another commit made that one durable.
    mutating func fallBack() {
        guard let certain else { return }
        (kept, vector) = certain
        self.certain = nil
        registers.beginAnew()
    }

    /// The power went, and with it may have gone what was committed last, and not synced.
    ///
    /// - Parameters:
    ///   - hadShownUnsynced: Whether the file showed a commit that a crash had left there, as ``remember()`` says.
    ///   - keepsOthers: Whether what came from others was synced with each commit all the same.
    mutating func loseTail(hadShownUnsynced: Bool, keepsOthers: Bool) {
        if hadShownUnsynced, let certain { vector = certain.vector }
        let (known, said, own) = (vector, promised, origin)
        forget()
        guard keepsOthers else { return }
        // The daemon took its name with a commit of its own.
        origin = own
        vector = VersionVector(known.entries.filter { $0.origin != own })
        promised = VersionVector(said.entries.filter { $0.origin != own })
    }

    /// The file was replaced by another one, which may hold less.
    mutating func forget() {
        kept = []
        setAside = 0
        vector = VersionVector()
        promised = VersionVector()
        certain = nil
        origin = nil
        registers.beginAnew()
    }

    /// - Parameter written: The transactions that any program has begun.
    /// - Returns: What the file knows.
    mutating func check(_ view: FileView, written: Set<Int>, _ counts: inout Counts) throws -> VersionVector {
        let name = "machine \(view.machine.index)"
        let known = try view.vector()
        let origin = try view.origin
        if origin != self.origin {
            // Under a new name less may be known of the old one; it comes back from others.
            vector = VersionVector(vector.entries.filter { $0.origin != self.origin })
            promised = VersionVector(promised.entries.filter { $0.origin != self.origin })
            self.origin = origin
            registers.beginAnew()
        }
        guard known.covers(promised) else {
            throw Violation("P4", "\(name) said to have \(promised) and now knows \(known)")
        }
        guard known.covers(vector) else {
            throw Violation("P12", "\(name) knew \(vector) and now knows \(known)")
        }
        vector = known
        var present: Set<Int> = []
        for row in try view.machine.rows("SELECT txn, min(size), count(*) FROM token GROUP BY txn") {
            guard case .integer(let transaction) = row[0], row[1] == row[2] else {
                throw Violation(
                    "P8", "\(name) shows a part of transaction \(row[0].plain): \(row[2].plain) of \(row[1].plain) rows"
                )
            }
            present.insert(Int(transaction))
        }
        if let lost = kept.subtracting(present).min() {
            throw Violation("P3", "\(name) has lost transaction \(lost)")
        }
        if let invented = present.subtracting(written).min() {
            throw Violation("P5", "\(name) shows transaction \(invented), which nobody wrote")
        }
        kept = present
        if view.machine.hasRegisters {
            let values = try RegisterTable.values(view.machine)
            if let cut = Set(values.values).subtracting(present).min() {
                throw Violation("P8", "\(name) shows the register of transaction \(cut), and not its tokens")
            }
            registers.note(values)
        }
        try mark(view, &counts)
        return known
    }

    private mutating func mark(_ view: FileView, _ counts: inout Counts) throws {
        let wasHolding = isHolding
        isHolding = try view.number("SELECT count(*) FROM _journal_clocks WHERE first_version IS NOT NULL") > 0
        if isHolding, !wasHolding { counts.note(.heldByClock) }
        if wasHolding, !isHolding { counts.note(.releasedByClock) }
        if try !view.staged().isEmpty { counts.note(.stagedInFile) }
        let before = setAside
        setAside = try view.number("SELECT count(*) FROM _journal_held WHERE shown = 0")
        if setAside > before { counts.note(.rowSetAside) }
        if setAside < before { counts.note(.rowReturned) }
    }
}
