/// One overlay that was set, and how to take it back.
protocol UndoStep {
    /// Puts back what stood there before.
    ///
    /// - Returns: The object, when it is not known what its row looks like outside of the transaction.
    func undo(_ epoch: Int) -> (any Refreshable)?
    func publish(_ epoch: Int, asOf position: Int64)
}

struct OverlayUndo<M: Model>: UndoStep {
    let object: M
    let previous: Overlay<M.Fields>?

    func undo(_ epoch: Int) -> (any Refreshable)? {
        let isUnknown = object._withState { state in
            guard state.overlays.first?.epoch == epoch else { return false }
            state.overlays = previous.map { [$0] } ?? []
            return state.overlays.isEmpty && state.status == .unknown
        }
        return isUnknown ? Row<M>(object: object) : nil
    }

    func publish(_ epoch: Int, asOf position: Int64) {
        object._withState { state in
            guard let overlay = state.overlays.first, overlay.epoch == epoch else { return }
            state.overlays = []
            guard position >= state.asOf || state.status == .unknown else { return }
            state.fields = overlay.fields
            state.status = overlay.status
            state.asOf = max(state.asOf, position)
            state.isStale = false
            state.refreshError = nil
        }
    }
}
