/// One overlay that was set, and the way to undo it.
protocol UndoStep {
    /// Restores the overlay that the object had before.
    ///
    /// - Returns: The object when its row outside the transaction is unknown and must be read; nil otherwise.
    func undo(_ epoch: Int) -> (any Refreshable)?
    /// Makes the overlay's values visible to all threads.
    func publish(_ epoch: Int, asOf position: Int64, _ publication: Publication)
    /// The object whose overlay the step undoes; nil for a step that undoes something else.
    var target: ObjectIdentifier? { get }
    /// True when the step restores an overlay, false when it removes one.
    var restoresOverlay: Bool { get }
}

struct OverlayUndo<M: Model>: UndoStep {
    let object: M
    let previous: Overlay<M.Fields>?

    var target: ObjectIdentifier? { ObjectIdentifier(object) }
    var restoresOverlay: Bool { previous != nil }

    func undo(_ epoch: Int) -> (any Refreshable)? {
        let isUnknown = object._withState { state in
            guard state.overlays.first?.epoch == epoch else { return false }
            state.overlays = previous.map { [$0] } ?? []
            state.checkInvariants()
            return state.overlays.isEmpty && state.status == .unknown
        }
        return isUnknown ? RefreshableObject<M>(object: object) : nil
    }

    func publish(_ epoch: Int, asOf position: Int64, _ publication: Publication) {
        typealias Values = (fields: M.Fields, status: RowStatus)
        let isWanted = publication.wants(object)
        let change = object._withState { state -> (before: Values, after: Values)? in
            guard let overlay = state.overlays.first, overlay.epoch == epoch else { return nil }
            state.overlays = []
            guard position >= state.asOf || state.status.isProvisional else { return nil }
            let before = isWanted ? (fields: state.fields, status: state.status) : nil
            // Another write inserted the row of an object that was made in memory, so the object's own values
            // are unsaved ones.
            if state.status == .new, overlay.status != .new, !overlay.isSaved { state.unsaved = [state.fields] }
            state.fields = overlay.fields
            state.status = overlay.status
            state.asOf = max(state.asOf, position)
            state.isStale = false
            state.refreshError = nil
            if overlay.isSaved || overlay.status == .new, !state.unsaved.isEmpty { state.unsaved = [] }
            state.checkInvariants()
            return before.map { ($0, (fields: overlay.fields, status: overlay.status)) }
        }
        guard let change else { return }
        publication.note(object, before: change.before, after: change.after, transients: true)
    }
}
