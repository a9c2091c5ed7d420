/// Which rows of a commit a listener wants to hear of.
struct ChangeFilter<M: Model>: Sendable {
    /// Updates must touch one of these; nil for any column.
    var columns: Set<String>?
    /// Updates must touch a column besides these.
    var ignored: Set<String> = []
    /// nil for any row.
    var ids: Set<ExactKey>?

    /// What is left of `change`; nil when nothing is.
    func apply(_ change: ModelChange<M>) -> ModelChange<M>? {
        if columns == nil, ignored.isEmpty, ids == nil { return change }
        var filtered = change
        filtered.changes = change.changes.filter(passes)
        return filtered.changes.isEmpty && filtered.isComplete ? nil : filtered
    }

    private func passes(_ change: RowChange<M>) -> Bool {
        if let ids, !ids.contains(change.id.exact) { return false }
        guard change.kind == .updated else { return true }
        if let columns, columns.isDisjoint(with: change.columns) { return false }
        return !change.columns.isSubset(of: ignored)
    }
}
