/// The filter of a listener: selects the rows of a commit that it is sent.
struct ChangeFilter<M: Model>: Sendable {
    /// The kinds of change that pass.
    var kinds = ChangeKind.all
    /// Updates must touch one of these; nil for any column.
    var columns: Set<String>?
    /// Updates must touch a column besides these.
    var ignored: Set<String> = []
    /// nil for any row.
    var ids: Set<ExactKey>?

    /// Returns the part of `change` that passes; nil when nothing does.
    func apply(_ change: ModelChange<M>) -> ModelChange<M>? {
        if columns == nil, ignored.isEmpty, ids == nil, kinds.count == ChangeKind.allCases.count { return change }
        var filtered = change
        filtered.changes = change.changes.filter(passes)
        return filtered.changes.isEmpty && filtered.isComplete ? nil : filtered
    }

    private func passes(_ change: RowChange<M>) -> Bool {
        guard kinds.contains(change.kind) else { return false }
        if let ids, !ids.contains(M.Fields._exact(change.id)) { return false }
        guard change.kind == .updated else { return true }
        if let columns, columns.isDisjoint(with: change.columns) { return false }
        return !change.columns.isSubset(of: ignored)
    }
}
