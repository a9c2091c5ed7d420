/// The state of a live object's row, as seen by the calling thread.
public enum RowState: Sendable {
    /// The object was made in memory and not saved, or was saved in another thread's transaction that has not
    /// committed.
    case new
    /// The row exists in the file.
    case persisted
    /// The row was deleted by any writer.
    case deleted
}

extension Model {
    /// The state of the row: ``RowState/new``, ``RowState/persisted`` or ``RowState/deleted``.
    public var rowState: RowState {
        _observeState()
        return switch seen.status {
        case .unknown, .new: .new
        case .present: .persisted
        case .deleted: .deleted
        }
    }

    /// True for an object that was never saved.
    public var isNew: Bool { rowState == .new }
}
