import Synchronization

extension WriteContext {
    /// Stops a debug build when one of the invariants does not hold. A release build does nothing.
    ///
    /// - Parameter checkingUndo: True at the end of the transaction, where ``undo`` is checked too.
    func checkInvariants(checkingUndo: Bool = false) {
        assert(invariantViolation(checkingUndo: checkingUndo) == nil, invariantViolation() ?? "")
    }

    /// Returns the first of the numbered invariants that does not hold, in words; nil when all of them hold.
    ///
    /// - Parameter checkingUndo: True checks ``undo`` too, which takes time for each of its elements.
    func invariantViolation(checkingUndo: Bool = true) -> String? {
        let clock = database.pipeline.clock
        let (newest, writer) = (
            clock.epoch.load(ordering: .sequentiallyConsistent), clock.writer.load(ordering: .sequentiallyConsistent)
        )
        if isFinished {
            if !undo.isEmpty { return "12: \(undo.count) undo steps are left at the end" }
            return writer == epoch ? "12: write \(epoch) is over, and the clock says that it runs" : nil
        }
        if owner != .current { return "1: another thread uses the transaction" }
        if newest != epoch || writer != epoch {
            return "2: write \(epoch) runs, and the clock has writer \(writer) of \(newest) writes"
        }
        if position < 0 || unconfirmed < 0 { return "3: \(unconfirmed) unconfirmed entries after \(position)" }
        if let violation = savepointViolation { return violation }
        if checkingUndo, let violation = undoViolation { return violation }
        if changedSchema == (tail === database.pipeline.tail) {
            return "8: the schema has \(changedSchema ? "" : "not ")changed, and the tail is the wrong one"
        }
        if let lastLog, !follower.allLogs.contains(where: { $0 === lastLog.log }) {
            return "9: the last log is not one of the follower"
        }
        if let notices, notices.id < 1 { return "10: the newest notice is \(notices.id)" }
        return publication == nil ? nil : "11: there are notifications before the commit"
    }

    private var savepointViolation: String? {
        let begun = lazySavepoints.prefix { $0 != nil }
        if lazySavepoints.dropFirst(begun.count).contains(where: { $0 != nil }) {
            return "5: a lazy savepoint has begun before one that encloses it"
        }
        if begun.count > savepointDepth { return "6: \(begun.count) of \(savepointDepth) savepoints are lazy ones" }
        var outer = (position: Int64(0), undo: 0, hooks: 0)
        let marks = begun.compactMap { $0 }.map { (position: $0.position, undo: $0.undo, hooks: $0.hooks) }
        for inner in marks + [(position, undo.count, afterCommit.count)] {
            if inner.position < outer.position || inner.undo < outer.undo || inner.hooks < outer.hooks {
                return "7: \(inner) is inside a savepoint of \(outer)"
            }
            outer = inner
        }
        return nil
    }

    private var undoViolation: String? {
        guard undo.count <= WriteContext.checkedUndoSteps else { return nil }
        var seen: Set<ObjectIdentifier> = []
        for step in undo {
            guard let object = step.target else { continue }
            if seen.insert(object).inserted, step.restoresOverlay {
                return "4: the first undo step of an object restores an overlay"
            }
        }
        return nil
    }

    /// The number of undo steps up to which a debug build checks them: a check of many would slow down large
    /// transactions.
    private static let checkedUndoSteps = 1_000
}
