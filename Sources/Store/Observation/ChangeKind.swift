/// The kind of a row's change by one commit, from the state before the commit to the state after it.
public enum ChangeKind: CaseIterable, Hashable, Sendable {
    /// The row did not exist before, and exists after.
    case inserted
    /// The row existed before and after: columns differ, or it was deleted and inserted again.
    case updated
    /// The row existed before, and does not exist after.
    case deleted

    /// Every kind.
    public static var all: Set<ChangeKind> { Set(allCases) }
}
