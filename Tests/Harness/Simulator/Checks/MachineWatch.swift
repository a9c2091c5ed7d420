import Journal
import MergeModel

/// The checks of one machine after each event that changed its file.
struct MachineWatch {
    /// Transactions whose tokens were once in the file, or whose commit was acknowledged. They must stay
    /// (P3).
    private(set) var kept: Set<Int> = []
    private(set) var vector = VersionVector()
    private(set) var origin: OriginID?
    private(set) var registers = RegisterHistory()
    private var isHolding = false
    private var setAside = 0
    private var promised = VersionVector()
    /// What the file held before a crash left an unsynced commit in it.
    private var certain: (kept: Set<Int>, vector: VersionVector, origin: OriginID?)?

    mutating func acknowledge(_ transaction: Int) { kept.insert(transaction) }

    /// Notes that the file may show a commit from here on that a loss of power takes.
    mutating func remember() { certain = (kept, vector, origin) }

    /// Notes that a peer was told that the file has this (P4).
    mutating func promise(_ vector: VersionVector) { promised.merge(vector) }

    /// Notes that the power failed before another commit made the unsynced one durable.
    mutating func fallBack() {
        guard let certain else { return }
        // The commit that is lost may have given the file its origin.
        (kept, vector, origin) = certain
        self.certain = nil
        registers.beginAnew()
    }

    /// Notes that the power failed, and that the last unsynced commits may be lost.
    ///
    /// - Parameters:
    ///   - hadShownUnsynced: True when the file showed a commit that a crash had left there; see
    ///     ``remember()``.
    ///   - keepsOthers: True when changes of others were nevertheless synced with each commit.
    mutating func loseTail(hadShownUnsynced: Bool, keepsOthers: Bool) {
        if hadShownUnsynced, let certain {
            // Under an origin that the file has replaced since, less may be known.
            let replaced = certain.origin == origin ? nil : certain.origin
            vector = VersionVector(certain.vector.entries.filter { $0.origin != replaced })
        }
        let (known, said, own) = (vector, promised, origin)
        forget()
        guard keepsOthers else { return }
        // The daemon took its origin in a commit of its own.
        origin = own
        vector = VersionVector(known.entries.filter { $0.origin != own })
        promised = VersionVector(said.entries.filter { $0.origin != own })
    }

    /// Notes that another file replaced this one, and may hold less.
    mutating func forget() {
        kept = []
        setAside = 0
        vector = VersionVector()
        promised = VersionVector()
        certain = nil
        origin = nil
        registers.beginAnew()
    }

    /// - Parameters:
    ///   - written: The transactions that any program has begun.
    ///   - mayReturn: True when the content of another replica may have taken the place of the file's: what only this
    ///     one knew is written again under the new identity.
    ///   - isCopied: Tells whether a return wrote the register of a transaction again, without its tokens.
    /// - Returns: What the file knows.
    mutating func check(
        _ view: FileView, written: Set<Int>, mayReturn: Bool, isCopied: (Int) -> Bool, _ counts: inout Counts
    ) throws -> VersionVector {
        let name = "machine \(view.machine.index)"
        let known = try view.vector()
        let origin = try view.origin
        if origin != self.origin {
            // After a new identity, less may be known of the old origin; peers bring it back.
            vector = VersionVector(vector.entries.filter { $0.origin != self.origin && !mayReturn })
            promised = VersionVector(promised.entries.filter { $0.origin != self.origin && !mayReturn })
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
            if let cut = Set(values.values).subtracting(present).filter({ !isCopied($0) }).min() {
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
