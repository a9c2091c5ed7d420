/// Where the row of a live object stands, as far as the calling thread can see.
public enum RowState: Sendable {
    /// Made in memory, and not saved; or saved in a transaction of another thread that has not committed.
    case new
    /// The row is in the file.
    case persisted
    /// The row was deleted, by whomever.
    case deleted
}

extension Model {
    /// Where the row stands: ``RowState/new``, ``RowState/persisted`` or ``RowState/deleted``.
    public var rowState: RowState {
        _observeState()
        return _withState { state in
            switch state.visible.status {
            case .unknown, .new: .new
            case .present: .persisted
            case .deleted: .deleted
            }
        }
    }

    /// True for an object that was never saved.
    public var isNew: Bool { rowState == .new }
}

extension Model {
    /// A snapshot of the values, as the calling thread sees them: a Sendable struct that follows nothing.
    public var values: Fields { _withState { $0.visible.fields } }
}
