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

/// An overlay that replaced another one of the same transaction.
struct OverlayRestoring<M: Model>: UndoStep {
    let object: M
    let previous: Overlay<M.Fields>

    var target: ObjectIdentifier? { ObjectIdentifier(object) }
    var restoresOverlay: Bool { true }

    func undo(_ epoch: Int) -> (any Refreshable)? { object.replaceOverlay(of: epoch, by: [previous]) }

    func publish(_ epoch: Int, asOf position: Int64, _ publication: Publication) {
        object.publishOverlay(of: epoch, asOf: position, publication)
    }
}

/// The first overlay of an object in a transaction. A step of its own, because most are, and it is as small as a
/// reference.
struct OverlayRemoval<M: Model>: UndoStep {
    let object: M

    var target: ObjectIdentifier? { ObjectIdentifier(object) }
    var restoresOverlay: Bool { false }

    func undo(_ epoch: Int) -> (any Refreshable)? { object.replaceOverlay(of: epoch, by: []) }

    func publish(_ epoch: Int, asOf position: Int64, _ publication: Publication) {
        object.publishOverlay(of: epoch, asOf: position, publication)
    }
}

extension Model {
    /// Undoes the overlay of a transaction.
    ///
    /// - Returns: The object when its row outside the transaction is unknown and must be read; nil otherwise.
    fileprivate func replaceOverlay(of epoch: Int, by overlays: [Overlay<Fields>]) -> (any Refreshable)? {
        let isUnknown = _withState { state in
            guard state.overlays.first?.epoch == epoch else { return false }
            state.overlays = overlays
            state.checkInvariants()
            return state.overlays.isEmpty && state.status == .unknown
        }
        return isUnknown ? RefreshableObject<Self>(object: self) : nil
    }

    /// Makes the overlay of a transaction the object's values for all threads.
    fileprivate func publishOverlay(of epoch: Int, asOf position: Int64, _ publication: Publication) {
        guard publication.wants(self) else {
            _ = _withState { $0.publishOverlay(of: epoch, asOf: position) }
            return
        }
        typealias Values = (fields: Fields, status: RowStatus)
        let change = _withState { state -> (before: Values, after: Values)? in
            let before = (fields: state.fields, status: state.status)
            guard state.publishOverlay(of: epoch, asOf: position) else { return nil }
            return (before, (fields: state.fields, status: state.status))
        }
        guard let change else { return }
        publication.note(self, before: change.before, after: change.after, transients: true)
    }
}

extension ModelState {
    /// Takes over the overlay of a transaction that is committed at `position`.
    ///
    /// - Returns: False when there is none, or when a later row was taken over already.
    fileprivate mutating func publishOverlay(of epoch: Int, asOf position: Int64) -> Bool {
        guard let overlay = overlays.first, overlay.epoch == epoch else { return false }
        overlays = []
        guard position >= asOf || status.isProvisional else { return false }
        // Another write inserted the row of an object that was made in memory, so the object's own values
        // are unsaved ones.
        if status == .new, overlay.status != .new, !overlay.isSaved { unsaved = [fields] }
        fields = overlay.fields
        status = overlay.status
        asOf = max(asOf, position)
        isStale = false
        refreshError = nil
        if overlay.isSaved || overlay.status == .new, !unsaved.isEmpty { unsaved = [] }
        checkInvariants()
        return true
    }
}
